package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/server"
	"github.com/veneurd/veneur/server/servertest"
)

// What a sink could not deliver is on disk when the daemon ends, /ready says so, and the next daemon sends it.
func TestDiskQueueThroughADaemon(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	yaml := `
interval: 20ms
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks:
  - {kind: localfile, name: out, config: {path: ` + out + `}, disk_queue: {path: ` + filepath.Join(dir, "queue") + `}}`
	waits := regexp.MustCompile(`\nmetric sink out: \d items in \d records wait on disk, \d+ bytes, the oldest for \d+s`)
	d := servertest.Start(t, yaml)
	require.NoError(t, os.RemoveAll(out))
	require.NoError(t, os.Mkdir(out, 0o755)) // which is no file to write to
	d.Send("udp", "c:1|c")
	d.Send("udp", "c:2|c")
	d.Eventually("both on disk", func() bool {
		return d.Value("ingest.lines") == 2 && d.Value("sink.disk_waiting") > 0 && d.Value("sink.disk_waiting") == d.Value("sink.offered")
	})
	d.Eventually("told by /ready", func() bool { // the attempt that fails comes after the record
		ok, body := d.Server.Ready()
		return ok && strings.Contains(body, "\nmetric sink out: for ") && waits.MatchString(body)
	})
	require.NoError(t, d.Stop())

	require.NoError(t, os.Remove(out))
	d = servertest.Start(t, yaml)
	d.Eventually("all sent", func() bool { return d.Value("sink.disk_waiting") == 0 && d.Value("sink.points", "outcome:sent") > 0 })
	require.NoError(t, d.Stop())
	require.Equal(t, 3.0, servertest.Totals(servertest.Records(t, out))["c"])
}

func TestDiskQueuesShareNoDirectory(t *testing.T) {
	doc, err := config.Parse("test.yaml", []byte(`
metric_sinks:
  - {kind: debug, name: a, disk_queue: {path: /var/lib/veneur/a}}
  - {kind: debug, name: b, disk_queue: {path: /var/lib/veneur/a/}}
span_sinks:
  - {kind: debug, disk_queue: {path: /var/lib/veneur/a}}`))
	require.NoError(t, err)
	c := server.DefaultConfig()
	require.NoError(t, doc.Decode(&c))
	err = c.Validate()
	require.ErrorContains(t, err, `metric_sinks[1].disk_queue.path: "/var/lib/veneur/a/" is that of metric_sinks[0] already`)
	require.ErrorContains(t, err, `span_sinks[0].disk_queue.path: "/var/lib/veneur/a" is that of metric_sinks[0] already`)
}
