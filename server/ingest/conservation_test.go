package ingest

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// Whatever is sent at once over every transport is either counted or counted as dropped by the kernel, and the sums are exact.
func TestConservationUnderLoad(t *testing.T) {
	dir := t.TempDir()
	c := configured(func(c *Config) {
		c.NumReaders = 4
		c.StatsdListenAddresses = []Listener{
			NewListener(loopback), NewListener("unixgram://" + filepath.Join(dir, "d.sock")), NewListener(tcp),
			NewListener("unix://" + filepath.Join(dir, "s.sock")),
		}
		c.SSFListenAddresses = []Listener{NewListener(loopback), NewListener(tcp)}
		c.GRPCListenAddresses = []Listener{NewListener("127.0.0.1:0")}
	})
	r := start(t, c)
	const (
		udpSockets = 16
		rounds     = 300 // of each sender
	)
	lines := []byte("sum:1|c|#t:a\nbad\nsum:2|c|@0.5|#t:a\nhist:1:2|h\n_sc|check|0\nworse|c\n_e{1,1}:t|x\n")
	const (
		linesInRound   = 7
		samplesInRound = 4
		sumInRound     = 5
	)
	carrier := &ssf.SSFSpan{TraceId: 1, Id: 2, StartTimestamp: 1, EndTimestamp: 2, Name: "x", Metrics: []ssf.SSFSample{
		ssf.Count("spansum", 2, nil, ssf.SampleRate(0.5)), ssf.Count("", 1, nil),
	}}
	var framed bytes.Buffer
	_, err := protocol.WriteSSF(&framed, carrier)
	require.NoError(t, err)

	var senders sync.WaitGroup
	send := func(w io.Writer, b []byte) {
		senders.Go(func() {
			for range rounds {
				if _, err := w.Write(b); err != nil {
					t.Errorf("send: %v", err)
					return
				}
			}
		})
	}
	for range udpSockets {
		send(r.dial(0), lines)
	}
	var streams []net.Conn
	for n := 1; n <= 3; n++ {
		for range 2 {
			streams = append(streams, r.dial(n))
			send(streams[len(streams)-1], lines)
		}
	}
	send(r.dial(4), ssf.AppendSpan(nil, carrier))
	for range 2 {
		send(r.dial(5), framed.Bytes())
	}
	grpcConn := r.client(6, insecure.NewCredentials())
	senders.Go(func() {
		for range rounds {
			if err := call(t, grpcConn, sendPacket, packetMessage("sum:5|c|#t:a")); err != nil {
				t.Errorf("call: %v", err)
				return
			}
		}
	})
	senders.Wait()
	for _, conn := range streams {
		require.NoError(t, conn.Close())
	}
	v := r.reg.Value
	arrived := func(listener string) float64 { return v("ingest.packets", "listener:"+listener) }
	dropped := func(listener string) float64 { return v("ingest.kernel_drops", "listener:"+listener) }
	eventually(t, func() bool {
		return arrived(loopback)+dropped(loopback) >= udpSockets*rounds && arrived(loopback+"#2")+dropped(loopback+"#2") >= rounds &&
			v("ingest.lines") >= linesInRound*(arrived(loopback)+6*rounds)+rounds && v("ingest.spans") >= arrived(loopback+"#2")+2*rounds
	}, "neither arrived nor dropped")
	r.stop()

	udp := arrived(loopback)
	require.EqualValues(t, udpSockets*rounds, udp+dropped(loopback), "statsd over udp")
	spanPackets := arrived(loopback + "#2")
	require.EqualValues(t, rounds, spanPackets+dropped(loopback+"#2"), "SSF over udp")
	spanPackets += 2 * rounds // streams lose nothing

	batches := udp + 6*rounds
	r.requireValue(batches*linesInRound+rounds, "ingest.lines")
	r.requireValue(batches*samplesInRound+rounds, "ingest.samples")
	r.requireValue(batches, "ingest.checks")
	r.requireValue(batches, "ingest.events")
	r.requireValue(batches*2, "ingest.refused", "protocol:dogstatsd")
	r.requireValue(spanPackets, "ingest.spans")
	r.requireValue(spanPackets, "ingest.span_samples")
	r.requireValue(spanPackets, "ingest.refused", "protocol:ssf")
	r.requireLaws()

	got := r.flush()
	require.Equal(t, map[string]float64{"sum{t:a}": batches*sumInRound + rounds*5, "spansum": spanPackets * 4}, got.values)
	require.Equal(t, map[string]float64{"hist": batches * 2}, got.counts)
	require.Len(t, got.events, int(batches))
	require.Len(t, got.checks, int(batches))
	require.Len(t, r.spans.spans(), int(spanPackets))
	t.Logf("%v datagrams received, %v dropped", udp+spanPackets, v("ingest.kernel_drops"))
}
