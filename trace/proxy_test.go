package trace

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

// A proxy whose daemon is away accepts and closes at once. The client comes back later each time, as if it had not been let in.
func TestPeerThatClosesAtOnceIsNotPressed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	const looked = 7
	accepted := make(chan time.Time, looked)
	go func() {
		defer close(accepted)
		for range looked {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- time.Now()
			_ = conn.Close()
		}
	}()
	c, err := NewClient("tcp://"+listener.Addr().String(), WithFlushInterval(time.Millisecond))
	require.NoError(t, err)
	var times []time.Time
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(times) < looked {
		select {
		case at := <-accepted:
			times = append(times, at)
		case <-tick.C:
			_ = c.Record(&ssf.SSFSpan{Name: "span"}) // dropped and counted when there is no room
		case <-deadline:
			t.Fatalf("%d connections", len(times))
		}
	}
	// The least of pauses that start with 10 ms, double, and are up to a half less by chance.
	require.GreaterOrEqual(t, times[looked-1].Sub(times[0]), 155*time.Millisecond)
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = c.Close(ctx)
	s := c.Stats()
	var dropped uint64
	for _, n := range s.Dropped {
		dropped += n
	}
	require.Equal(t, s.Recorded, s.Sent+dropped+s.Waiting)
}
