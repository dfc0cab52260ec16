//go:build integration

package integration

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var veneurProgram installed

// buildVeneur builds the daemon and returns its path.
func buildVeneur(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "veneur-integration-")
	if err != nil {
		return "", err
	}
	keeper.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "veneur")
	return path, run(exec.CommandContext(ctx, "go", "build", "-o", path, "../cmd/veneur"))
}

// veneur is a daemon in a process of its own.
type veneur struct {
	backend // its HTTP port
	process *process
}

func startVeneur(t testing.TB, httpAddress, config string) *veneur {
	t.Helper()
	path := filepath.Join(t.TempDir(), "veneur.yaml")
	require.NoError(t, os.WriteFile(path, []byte(config), 0o600))
	v := &veneur{backend{t, "http://" + httpAddress}, start(t, exec.Command(veneurProgram.get(t, buildVeneur), "-f", path))}
	v.process.await("ready", time.Minute, func() bool {
		conn, err := net.Dial("tcp", httpAddress)
		if err != nil {
			return false
		}
		_ = conn.Close()
		status, _ := v.ask("GET", "/ready", "")
		return status == 200
	})
	return v
}

// value returns the sum of a metric's lines on /metrics that match a pattern.
func (v *veneur) value(pattern string) (sum float64) {
	v.t.Helper()
	_, page := v.ask("GET", "/metrics", "")
	for _, line := range regexp.MustCompile(`(?m)^`+pattern+` ([-+.e0-9]+)$`).FindAllStringSubmatch(page, -1) {
		f, err := strconv.ParseFloat(line[1], 64)
		require.NoError(v.t, err)
		sum += f
	}
	return sum
}

// The daemon is killed while its queue is full of what a node that is down did not take. The next one sends all of it, once.
func TestDaemonKilledWithAFullQueue(t *testing.T) {
	node := startOpenSearch(t)
	node.process.kill()
	admin, listen := freeAddress(t), freeAddress(t)
	config := fmt.Sprintf(`
hostname: it
interval: 10s
http_address: %s
ssf_listen_addresses: ["tcp://%s"]
span_sinks:
  - kind: elasticsearch
    name: es
    linger: 100ms
    queue_items: 2000
    retry_max: 1s
    disk_queue: {path: %q}
    config: {urls: [%q], proxy: none, install_templates: true}
`, admin, listen, filepath.Join(t.TempDir(), "queue"), node.url)
	const n = 20_000
	first := startVeneur(t, admin, config)
	conn, err := net.Dial("tcp", listen)
	require.NoError(t, err)
	spans := plainSpans(1, n)
	for i := 0; i < n; i += 500 {
		sendSpans(t, conn, spans[i:i+500])
		until(t, "on disk", time.Minute, func() bool {
			return first.value(`veneur_sink_disk_waiting\{sink="es".*\}`) >= float64(i+500)-2000
		})
	}
	until(t, "all on disk", time.Minute, func() bool { return first.value(`veneur_sink_disk_waiting\{sink="es".*\}`) == n })
	first.process.kill()
	_ = conn.Close()

	node.startAgain()
	second := startVeneur(t, admin, config)
	until(t, "all sent", 2*time.Minute, func() bool { return second.value(`veneur_sink_spans_total\{sink="es",outcome="sent"\}`) == n })
	assert.EqualValues(t, n, second.value(`veneur_sink_disk_replayed_total\{sink="es".*\}`))
	assert.Zero(t, second.value(`veneur_sink_disk_waiting\{sink="es".*\}`))
	assert.Equal(t, n, node.count("traces-veneur.otel-default"))
}

// The daemon is killed in the midst of sending. What it had sent is there already when the next one sends it again.
func TestDaemonKilledWhileItSends(t *testing.T) {
	node := startOpenSearch(t)
	admin, listen := freeAddress(t), freeAddress(t)
	config := fmt.Sprintf(`
hostname: it
interval: 10s
http_address: %s
ssf_listen_addresses: ["tcp://%s"]
span_sinks:
  - kind: elasticsearch
    name: es
    linger: 100ms
    chunk_items: 200
    disk_queue: {path: %q}
    config: {urls: [%q], proxy: none, install_templates: true}
`, admin, listen, filepath.Join(t.TempDir(), "queue"), node.url)
	const n = 20_000
	first := startVeneur(t, admin, config)
	conn, err := net.Dial("tcp", listen)
	require.NoError(t, err)
	sendSpans(t, conn, plainSpans(1, n))
	var sent float64
	until(t, "half sent", 2*time.Minute, func() bool {
		sent = first.value(`veneur_sink_spans_total\{sink="es",outcome="sent"\}`)
		return sent > 1000 && first.value(`veneur_sink_offered_total\{sink="es".*\}`) == n &&
			first.value(`veneur_sink_disk_waiting\{sink="es".*\}`) >= n-sent-400
	})
	first.process.kill()
	_ = conn.Close()

	second := startVeneur(t, admin, config)
	replayed := second.value(`veneur_sink_disk_replayed_total\{sink="es".*\}`)
	until(t, "all sent", 2*time.Minute, func() bool {
		return second.value(`veneur_sink_spans_total\{sink="es",outcome="sent"\}`) == replayed
	})
	t.Logf("%v sent, then killed; %v sent again, %v of them there already", sent, replayed, second.value(`veneur_sink_existing_total\{sink="es".*\}`))
	assert.GreaterOrEqual(t, node.count("traces-veneur.otel-default"), n-400, "more was lost than may be on its way to the disk")
	assert.LessOrEqual(t, node.count("traces-veneur.otel-default"), n, "something is there twice")
}
