package server_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// What one writer of a kind sends.
const (
	udpSockets   = 16
	packets      = 400 // of each sender
	linesPerPack = 10
	spansPerConn = 2000
)

// payload is one packet: a counter, a gauge, a timer of two values at rate 0.5, a set member, a bad line and more counters. Every sender
// gives its counter a name of its own and adds to a common one.
func payload(sender string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "own.%s:1|c\n", sender)
	fmt.Fprintf(&b, "level:%d|g|#sender:%s\n", n, sender)
	b.WriteString("took:1:3|ms|@0.5\n")
	fmt.Fprintf(&b, "members:%s.%d|s\n", sender, n%100)
	b.WriteString("bad:x|c\n")
	for range linesPerPack - 5 {
		b.WriteString("common:1|c|#b:2,a:1\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Known totals arrive over every transport at once, from more sockets than there are readers. Every line is accounted for, every sum is
// exact, and what the kernel dropped is counted.
func TestConservationUnderLoad(t *testing.T) {
	for _, readers := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d readers", readers), func(t *testing.T) {
			testConservation(t, readers)
		})
	}
}

func testConservation(t *testing.T, readers int) {
	out := filepath.Join(t.TempDir(), "out.ndjson")
	d := servertest.Start(t, fmt.Sprintf(`
interval: 50ms
num_readers: %d
statsd_listen_addresses:
  - udp://127.0.0.1:0
  - tcp://127.0.0.1:0
  - unixgram://${DIR}/statsd.sock
ssf_listen_addresses:
  - udp://127.0.0.1:0
  - unix://${DIR}/ssf.sock
aggregates: [count, sum, min, max]
metric_sinks: [{kind: localfile, name: out, config: {path: %s}}]`, readers, out))

	var senders sync.WaitGroup
	send := func(protocol, network, name string, write func(t *testing.T, conn net.Conn, name string)) {
		conn := d.Dial(protocol, network)
		senders.Go(func() {
			write(t, conn, name)
			conn.Close()
		})
	}
	for i := range udpSockets {
		send("DogStatsD", "udp", fmt.Sprintf("udp%d", i), sendPackets(""))
	}
	send("DogStatsD", "unixgram", "unixgram", sendPackets(""))
	send("DogStatsD", "tcp", "tcp", sendPackets("\n"))
	send("SSF", "unix", "ssf", sendSpans)
	senders.Wait()

	// Datagrams on unix sockets and streams do not get lost; on UDP the kernel says how many did.
	const sent = (udpSockets + 2) * packets
	statsdUDP := "listener:udp://127.0.0.1:0"
	d.Eventually("every packet to be read or dropped", func() bool {
		read := d.Value("ingest.packets", statsdUDP)
		return read+d.Value("ingest.kernel_drops", statsdUDP) == udpSockets*packets &&
			d.Value("ingest.refused") == read+2*packets && // each packet has one bad line
			d.Value("ingest.spans") == spansPerConn
	})
	require.NoError(t, d.Stop())

	lost := d.Value("ingest.kernel_drops", statsdUDP)
	received := sent - lost
	require.Equal(t, received*linesPerPack, d.Value("ingest.lines"), "lines, %v datagrams dropped by the kernel", lost)
	require.Equal(t, received, d.Value("ingest.refused", "protocol:dogstatsd", "reason:value"))
	require.Equal(t, received, d.Value("ingest.refused"))
	// A packet has nine good lines; one of them carries two values.
	require.Equal(t, received*(linesPerPack-1+1), d.Value("ingest.samples"))
	require.Equal(t, float64(3*spansPerConn), d.Value("ingest.span_samples"))

	totals := servertest.Totals(servertest.Records(t, out))
	require.Equal(t, received*(linesPerPack-5), totals["common|a:1,b:2"])
	require.Equal(t, received*4, totals["took.count"], "two values at rate 0.5")
	own := 0.0
	for name, total := range totals {
		if strings.HasPrefix(name, "own.") && strings.HasSuffix(name, "|") {
			own += total
		}
	}
	require.Equal(t, received, own)
	require.Equal(t, float64(packets), totals["own.tcp"])
	require.Equal(t, float64(packets), totals["own.unixgram"])
	require.Equal(t, float64(packets-1), totals["level|sender:tcp"], "the last value of a gauge")
	require.Equal(t, float64(spansPerConn), totals["span.count"])
	require.Equal(t, float64(2*spansPerConn), totals["span.twice"], "two samples of one span")

	require.Equal(t, d.Value("flush.points"), d.Value("flush.somewhere_routed")+d.Value("flush.no_sink"))
	offered := d.Value("sink.offered", "sink:out")
	require.Equal(t, offered, d.Value("sink.points", "sink:out")+d.Value("sink.waiting", "sink:out"))
	require.Equal(t, offered, d.Value("sink.points", "sink:out", "outcome:sent"))
}

func sendPackets(end string) func(*testing.T, net.Conn, string) {
	return func(t *testing.T, conn net.Conn, name string) {
		for n := range packets {
			if _, err := io.WriteString(conn, payload(name, n)+end); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
		}
	}
}

func sendSpans(t *testing.T, conn net.Conn, name string) {
	span := &ssf.SSFSpan{
		TraceId: 1, Id: 2, StartTimestamp: 1, EndTimestamp: 2, Name: "op", Service: name,
		Metrics: []ssf.SSFSample{ssf.Count("span.count", 1, nil), ssf.Count("span.twice", 1, nil), ssf.Count("span.twice", 1, nil)},
	}
	for range spansPerConn {
		if _, err := protocol.WriteSSF(conn, span); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
	}
}
