package trace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

// B076: whatever chance does, the client tries again so soon that a daemon is found within a second.
func TestB076Backoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sender{Client: &Client{options: defaults()}}
		s.pause = s.options.backoff
		for i := range 200 {
			usual := min(10*time.Millisecond<<min(i, 10), 500*time.Millisecond)
			start := time.Now()
			s.wait(t.Context())
			took := time.Since(start)
			require.GreaterOrEqual(t, took, usual/2, "%d", i)
			require.LessOrEqual(t, took, usual*3/2, "%d", i)
			require.Less(t, took, time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		s.wait(ctx)
		require.Equal(t, start, time.Now(), "a client that is closed does not wait")
	})
}

// Who flushes again and again during an outage, and each time gives up, leaves nothing behind.
func TestAbandonedFlushesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := NewBackendClient(away{})
		require.NoError(t, err)
		require.NoError(t, c.Record(&ssf.SSFSpan{Name: "span"}))
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, c.Flush(ctx), context.DeadlineExceeded)
			cancel()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Empty(t, c.takeFlushers())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, c.Flush(ctx), context.Canceled)
		require.Error(t, c.Close(ctx), "and does not wait")
		require.Error(t, c.Close(t.Context()))
		require.EqualValues(t, 1, c.Stats().Dropped[ReasonShutdown])
	})
}

// Nor does who does so while the daemon hangs, when the client's goroutine looks at nothing, or after the end.
func TestAbandonedFlushesAreForgottenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := NewBackendClient(hanging{})
		require.NoError(t, err)
		require.NoError(t, c.Record(&ssf.SSFSpan{Name: "span"}))
		time.Sleep(time.Second)
		for range 100 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, c.Flush(ctx), context.DeadlineExceeded)
			cancel()
		}
		require.Empty(t, c.takeFlushers())
		require.Error(t, c.Close(t.Context()))
		for range 100 {
			require.ErrorIs(t, c.Flush(t.Context()), ReasonClosed)
		}
		require.Empty(t, c.takeFlushers())
	})
}

// hanging is a backend that takes packets and does not return.
type hanging struct{ away }

func (hanging) SendPackets(ctx context.Context, _ [][]byte, errs []error) {
	<-ctx.Done()
	for i := range errs {
		errs[i] = ctx.Err()
	}
}

// away is a backend that nothing reaches.
type away struct{}

func (away) SendSync(context.Context, *ssf.SSFSpan) error { return nil }
func (away) Close() error                                 { return nil }
func (away) SendPackets(_ context.Context, packets [][]byte, errs []error) {
	for i := range packets {
		errs[i] = errors.New("away")
	}
}
