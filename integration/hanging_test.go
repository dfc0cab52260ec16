//go:build integration && !windows

package integration

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// A node that hangs holds up nobody else: another sink gets every span at once, and what waits for the node is bounded and counted.
func TestNodeHangs(t *testing.T) {
	node := startOpenSearch(t)
	d := servertest.Start(t, spanSettings(node.url, "install_templates: true", "linger: 100ms\ntimeout: 2s\nretry_max: 1s\nqueue_items: 5000\nqueue_bytes: 4000000")+`
  - kind: localfile
    name: file
    linger: 100ms
    config: {path: '${DIR}/spans.ndjson'}
`)
	explain(t, d)
	conn := d.Dial("SSF", "tcp")
	sendSpans(t, conn, plainSpans(1, 100))
	settled(t, d, 100, time.Minute)
	require.Equal(t, 100, node.count("traces-veneur.otel-default"))

	require.NoError(t, node.process.cmd.Process.Signal(syscall.SIGSTOP))
	const n = 30_000
	begun := time.Now()
	paced(t, d, plainSpans(101, n), 5000)
	// It hangs until it is told to go on, which is after this.
	until(t, "in the other sink", 10*time.Second, func() bool { return d.Value("sink.spans", "sink:file", "outcome:sent") == n+100 })
	t.Logf("the other sink had all after %s", time.Since(begun).Round(time.Millisecond))
	until(t, "failing", 10*time.Second, func() bool { return d.Value("sink.failing", "sink:es") == 1 })
	assert.LessOrEqual(t, d.Value("sink.waiting", "sink:es"), 5000.0)
	assert.LessOrEqual(t, d.Value("sink.waiting_bytes", "sink:es"), 4e6)
	assert.Zero(t, d.Value("sink.failing", "sink:file"))

	require.NoError(t, node.process.cmd.Process.Signal(syscall.SIGCONT))
	settled(t, d, n+100, 2*time.Minute)
	sent := d.Value("sink.spans", "sink:es", "outcome:sent")
	overflow := d.Value("sink.spans", "sink:es", "outcome:overflow")
	t.Logf("sent %v, overflow %v", sent, overflow)
	assert.EqualValues(t, n+100, sent+overflow+d.Value("sink.spans", "sink:es", "outcome:expired"))
	assert.EqualValues(t, sent, node.count("traces-veneur.otel-default"), "lost is what is counted")
}
