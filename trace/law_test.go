package trace_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

// recordFrom8 records n spans by 8 goroutines.
func recordFrom8(c *trace.Client, n int) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range n / 8 {
				threeTags(c)
			}
		})
	}
	wg.Wait()
}

var networks = []string{"udp", "unixgram", "unix", "tcp"}

func TestEverySpanArrives(t *testing.T) {
	for _, network := range []string{"unixgram", "unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			collector := tracetest.Listen(t, network)
			c := newClient(t, collector.Address())
			recordFrom8(c, 8000)
			flush(t, c)
			stats := requireLaw(t, c)
			require.EqualValues(t, 8000, stats.Sent)
			require.Zero(t, stats.Waiting)
			require.Zero(t, stats.Reconnects)
			ids := map[int64]bool{}
			for _, span := range collector.Wait(8000) {
				ids[span.Id] = true
			}
			require.Len(t, ids, 8000)
			require.NoError(t, closeWithin(c, patience))
		})
	}
}

// UDP may lose what the kernel took, so only some are sent.
func TestSpansArriveOverUDP(t *testing.T) {
	collector := tracetest.Listen(t, "udp")
	c := newClient(t, collector.Address())
	recordFrom8(c, 80)
	flush(t, c)
	require.EqualValues(t, 80, requireLaw(t, c).Sent)
	collector.Wait(80)
}

// B128 and B153: recording neither blocks nor loses count, whatever the daemon does, and B078: while it only hangs the client keeps its socket.
func TestB128ConservationWhateverTheDaemonDoes(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			collector := tracetest.Listen(t, network)
			c := newClient(t, collector.Address(), trace.WithMemory(256<<10), trace.WithFlushInterval(5*time.Millisecond))
			// The law holds at every moment, not only in the end.
			stop := make(chan struct{})
			var watcher sync.WaitGroup
			watcher.Go(func() {
				ticker := time.NewTicker(time.Millisecond)
				defer ticker.Stop()
				for {
					select {
					case <-stop:
						return
					case <-ticker.C:
						s := c.Stats()
						if s.Recorded != s.Sent+s.Lost()+s.Waiting {
							t.Errorf("%+v", s)
							return
						}
					}
				}
			})
			recordFrom8(c, 4000)

			collector.Pause()
			hung := uint64(16000)
			recordFrom8(c, 16000)
			if network != "udp" { // where the kernel takes and loses everything
				fill(t, c, func() {
					recordFrom8(c, 800)
					hung += 800
				})
				require.Zero(t, c.Stats().Reconnects, "B078")
			}
			requireLaw(t, c)
			collector.Resume()
			flush(t, c)

			collector.Stop()
			recordFrom8(c, 16000)
			requireLaw(t, c)
			collector.Start()
			flush(t, c)
			recordFrom8(c, 4000)
			flush(t, c)
			close(stop)
			watcher.Wait()

			stats := requireLaw(t, c)
			require.EqualValues(t, 4000+hung+16000+4000, stats.Recorded)
			require.Zero(t, stats.Waiting)
			require.NoError(t, closeWithin(c, patience))
			threeTags(c)
			stats = requireLaw(t, c)
			require.EqualValues(t, 1, stats.Dropped[trace.ReasonClosed])
			require.Zero(t, stats.Dropped[trace.ReasonShutdown])
		})
	}
}

// B153: a burst as fast as one goroutine can make it is not dropped.
func TestB153TightLoop(t *testing.T) {
	collector := tracetest.Listen(t, "unix")
	c := newClient(t, collector.Address())
	const n = 50_000
	for range n {
		threeTags(c)
	}
	flush(t, c)
	stats := requireLaw(t, c)
	require.EqualValues(t, n, stats.Sent)
	require.Less(t, stats.Flushes, uint64(n/20), "packed into few writes")
	collector.Wait(n)
}

// B076: after a restart the client finds the daemon at its new socket, within a second, and loses nothing that it still held.
func TestB076ReconnectsAfterARestart(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			collector := tracetest.Listen(t, network)
			c := newClient(t, collector.Address(), trace.WithFlushInterval(time.Millisecond))
			name := func(n int) string { return fmt.Sprint("span ", n) }
			c.StartTrace(name(0)).Finish()
			collector.Wait(1)
			for n := 1; n <= 3; n++ {
				collector.Stop()
				// A datagram over UDP is lost for good when nobody listens; what the client cannot send waits.
				lost := c.StartTrace("during the outage")
				lost.Finish()
				eventually(t, "the span to be tried", func() bool {
					s := c.Stats()
					return (network == "udp" || network == "tcp") && s.Waiting == 0 || s.Waiting == 1
				})
				collector.Start()
				restarted := time.Now()
				eventually(t, "nothing to wait", func() bool { return c.Stats().Waiting == 0 })
				c.StartTrace(name(n)).Finish()
				found := func() bool {
					for _, span := range collector.Spans() {
						if span.Name == name(n) {
							return true
						}
					}
					return false
				}
				eventually(t, "the client to be back", found)
				require.Less(t, time.Since(restarted), 20*time.Second) // a second, and what a busy machine needs
			}
			stats := requireLaw(t, c)
			require.Zero(t, stats.Lost())
			if network == "unix" || network == "unixgram" { // TCP loses what is written before it is known that the peer has gone
				require.EqualValues(t, 3, stats.Reconnects)
				require.Len(t, collector.Spans(), 1+2*3, "what waited during the outage arrived")
			}
		})
	}
}

// B127: a span that is too large for a datagram is dropped alone, and counted; samples are split.
func TestB127DatagramLimits(t *testing.T) {
	for _, tt := range []struct {
		network string
		opts    []trace.Option
		limit   int
	}{
		{"udp", nil, 1432},
		{"unixgram", nil, 8192},
		{"udp", []trace.Option{trace.WithMaxSpan(9000)}, 9000},
		{"unix", nil, 1 << 20},
		{"tcp", []trace.Option{trace.WithMaxSpan(2 << 20)}, 2 << 20},
	} {
		t.Run(fmt.Sprint(tt.network, tt.limit), func(t *testing.T) {
			collector := tracetest.Listen(t, tt.network)
			c := newClient(t, collector.Address(), tt.opts...)
			long := func(n int) {
				span := c.StartTrace("long")
				span.SetTag("long", string(make([]byte, n)))
				span.Finish()
			}
			c.StartTrace("before").Finish()
			long(tt.limit) // with its other fields it is larger
			long(tt.limit - 200)
			c.StartTrace("after").Finish()
			flush(t, c)
			collector.Wait(3)
			collector.HasSpans("before", "long", "after")
			stats := requireLaw(t, c)
			require.EqualValues(t, 1, stats.Dropped[trace.ReasonTooLarge])
			require.EqualValues(t, 3, stats.Sent)
		})
	}
}
