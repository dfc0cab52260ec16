package trace

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
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
