package trace_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/trace"
)

const patience = time.Minute

// newClient returns a client that is closed at the end of the test.
func newClient(t testing.TB, address string, opts ...trace.Option) *trace.Client {
	t.Helper()
	c, err := trace.NewClient(address, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { closeWithin(c, time.Second) })
	return c
}

func closeWithin(c *trace.Client, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return c.Close(ctx)
}

func flush(t testing.TB, c *trace.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, c.Flush(ctx))
}

// fill records until nothing leaves the client any more, although it is flushed again and again: then the socket is full, and the memory of the
// client. On a busy machine the client alone may be full before that, since its sender had no turn.
func fill(t testing.TB, c *trace.Client, record func()) {
	t.Helper()
	still := 0
	eventually(t, "everything to be full", func() bool {
		before := requireLaw(t, c)
		record()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		_ = c.Flush(ctx) // it fails in the end
		after := requireLaw(t, c)
		still++
		if after.Sent != before.Sent || after.Dropped[trace.ReasonFull] == before.Dropped[trace.ReasonFull] {
			still = 0
		}
		return still > 5
	})
}

// requireLaw checks that nothing is unaccounted for.
func requireLaw(t testing.TB, c *trace.Client) trace.Stats {
	t.Helper()
	s := c.Stats()
	require.Equal(t, s.Recorded, s.Sent+s.Lost()+s.Waiting, "%+v", s)
	return s
}

// eventually waits until what is true.
func eventually(t testing.TB, name string, what func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !what() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			require.FailNow(t, "gave up waiting for "+name)
		}
	}
}
