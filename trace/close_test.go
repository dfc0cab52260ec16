package trace_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestCloseSendsWhatWaits(t *testing.T) {
	collector := tracetest.Listen(t, "unix")
	c := newClient(t, collector.Address(), trace.WithFlushInterval(time.Hour), trace.WithMetricsInterval(time.Hour))
	counter := c.Counter("counter", nil)
	counter.Add(3)
	c.StartTrace("span").Finish()
	require.EqualValues(t, 1, requireLaw(t, c).Waiting)
	require.NoError(t, c.Close(context.Background()))
	collector.Wait(2)
	collector.HasSpans("span")
	collector.HasCount("counter", 3)
	require.NoError(t, c.Close(context.Background()), "a second time")
	require.ErrorIs(t, c.Record(&ssf.SSFSpan{}), trace.ReasonClosed)
	require.ErrorIs(t, c.Flush(context.Background()), trace.ReasonClosed)
	require.Zero(t, requireLaw(t, c).Waiting)
}

// Whatever the daemon does, Close returns by its deadline and what is left is counted.
func TestCloseReturnsByItsDeadline(t *testing.T) {
	const deadline = 300 * time.Millisecond
	for _, network := range []string{"unixgram", "unix", "tcp"} {
		for _, state := range []string{"hangs", "is away", "was never there"} {
			t.Run(network+" "+state, func(t *testing.T) {
				collector := tracetest.Listen(t, network)
				if state == "was never there" {
					collector.Stop()
				}
				c := newClient(t, collector.Address(), trace.WithMemory(1<<20))
				if state != "was never there" {
					threeTags(c)
					flush(t, c)
				}
				collector.Pause()
				if state == "is away" {
					collector.Stop()
				}
				fill(t, c, func() { recordFrom8(c, 800) })
				c.Counter("counter", nil).Inc()
				start := time.Now()
				err := closeWithin(c, deadline)
				took := time.Since(start)
				require.Error(t, err)
				require.ErrorContains(t, closeWithin(c, patience), "packets were not sent in time")
				require.Less(t, took, deadline+20*time.Second) // the machine may be busy
				stats := requireLaw(t, c)
				require.NotZero(t, stats.Dropped[trace.ReasonShutdown])
				require.Zero(t, stats.Waiting)
				collector.Resume()
			})
		}
	}
}

// stuck is a backend that returns only when it is told to.
type stuck struct {
	discard
	release chan struct{}
	inside  chan struct{}
}

func (s *stuck) SendPackets(context.Context, [][]byte, []error) {
	s.inside <- struct{}{}
	<-s.release
}

func TestCloseDoesNotWaitForABackendThatHangs(t *testing.T) {
	backend := &stuck{release: make(chan struct{}), inside: make(chan struct{}, 10)}
	c, err := trace.NewBackendClient(backend, trace.WithFlushInterval(time.Millisecond))
	require.NoError(t, err)
	threeTags(c)
	<-backend.inside
	require.ErrorIs(t, closeWithin(c, 50*time.Millisecond), context.DeadlineExceeded)
	close(backend.release)
	require.NoError(t, closeWithin(c, patience), "once it has returned")
	require.EqualValues(t, 1, requireLaw(t, c).Sent)
}

func TestFlush(t *testing.T) {
	t.Run("gives up with its context", func(t *testing.T) {
		collector := tracetest.Listen(t, "unix")
		collector.Stop()
		c := newClient(t, collector.Address())
		threeTags(c)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, c.Flush(ctx), context.DeadlineExceeded)
		collector.Start()
		flush(t, c)
		require.EqualValues(t, 1, requireLaw(t, c).Sent)
	})
	t.Run("ends with the client", func(t *testing.T) {
		collector := tracetest.Listen(t, "unix")
		collector.Stop()
		c := newClient(t, collector.Address())
		threeTags(c)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := c.Flush(context.Background()); err == nil {
				t.Error("flushed to nobody")
			}
		})
		_ = closeWithin(c, 50*time.Millisecond)
		wg.Wait()
	})
	t.Run("of nothing", func(t *testing.T) {
		flush(t, newClient(t, "udp://127.0.0.1:1"))
		var none *trace.Client
		require.NoError(t, none.Flush(t.Context()))
		require.NoError(t, none.Close(t.Context()))
	})
	t.Run("by many at once", func(t *testing.T) {
		c, recorder := tracetest.New(t, trace.WithFlushInterval(time.Hour))
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				c.StartTrace("span").Finish()
				flush(t, c)
			})
		}
		wg.Wait()
		require.Len(t, recorder.Spans(), 20)
	})
}
