//go:build integration

package integration

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// spanSettings is the configuration of a daemon that sends spans to url. more is settings of the sink, delivery of its delivery, both in
// YAML with a line each.
func spanSettings(url, more, delivery string) string {
	return fmt.Sprintf(`
hostname: it
interval: 10s
ssf_listen_addresses: ["tcp://127.0.0.1:0"]
span_sinks:
  - kind: elasticsearch
    name: es
%s
    config:
      urls: [%q]
      proxy: none
%s
`, indent(4, delivery), url, indent(6, more))
}

func indent(n int, lines string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(lines, "\n", "\n"+pad)
}

// explain prints what the daemon said and counted when the test has failed.
func explain(t testing.TB, d *servertest.Daemon) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		t.Logf("the daemon said:\n%s", d.Log)
		for line := range strings.Lines(string(d.Telemetry.AppendText(nil))) {
			if strings.Contains(line, "sink") && !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, " 0\n") {
				t.Log(strings.TrimSpace(line))
			}
		}
	})
}

// sendSpans sends spans over a stream, in order.
func sendSpans(t testing.TB, conn net.Conn, spans []*ssf.SSFSpan) {
	t.Helper()
	w := bufio.NewWriterSize(conn, 64<<10)
	var frame []byte
	for _, s := range spans {
		var err error
		frame, err = protocol.AppendFrame(frame[:0], s)
		require.NoError(t, err)
		_, err = w.Write(frame)
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
}
