package flush

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// leftBehind returns what was counted as left, by target and reason.
func (f *fixture) leftBehind() map[string]float64 {
	left := map[string]float64{}
	for i := range f.s.Targets {
		for _, reason := range []string{"unfinished", "flush_on_shutdown"} {
			name := f.s.Targets[i].Name
			if n := f.stats.Value("flush.left_behind", "sink:"+name, "reason:"+reason); n > 0 {
				left[name+" "+reason] = n
			}
		}
	}
	return left
}

// count has a Leftovers told to stop.
func (f *fixture) count(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, f.Leftovers().Run(ctx))
}

// A flush that is at work when the daemon ends has offered the interval to some targets; the last interval was not even begun.
func TestWhatAFlushLeavesBehindIsCounted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		atStop bool
		want   map[string]float64
	}{
		{"flushed at a stop", true, map[string]float64{"b unfinished": 3 + 2, "a unfinished": 2}},
		{"not flushed at a stop", false, map[string]float64{"b unfinished": 3, "b flush_on_shutdown": 2, "a flush_on_shutdown": 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, tested(func(c *Config) { c.FlushOnShutdown = tt.atStop }), Target{Name: "a"}, Target{Name: "b"})
				hold := make(chan struct{})
				take := f.s.Targets[0].Offer
				f.s.Targets[0].Offer = func(free, done func(), interval ...*sinks.Batch) {
					<-hold
					take(free, done, interval...)
				}
				ctx, cancel := context.WithCancel(context.Background())
				done := make(chan error)
				go func() { done <- f.Run(ctx) }()
				f.add("c:1|c", "h:1:2|h", "g:1|g|T946684801")
				time.Sleep(10 * time.Second)
				synctest.Wait()
				f.add("c:1|c")
				f.lane.WithLock(func() { f.lane.table.AddEvent(metric.Event{Title: "x"}, 0) })
				cancel()
				f.count(t)
				require.Equal(t, tt.want, f.leftBehind())
				require.Contains(t, f.logged.String(), "did not end in time")

				close(hold)
				require.NoError(t, <-done)
				require.Empty(t, f.got["b"], "what was counted as left does not come")
				require.Len(t, f.got["a"], 1)
			})
		})
	}
}

func TestAFlusherThatEndedLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, tested(nil), Target{Name: "a"})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		f.add("c:1|c")
		time.Sleep(10 * time.Second)
		f.add("c:1|c", "h:1|h")
		synctest.Wait()
		cancel()
		require.NoError(t, <-done)
		f.count(t)
		require.Empty(t, f.leftBehind())
		require.Empty(t, f.logged.String())
	})
}

// The time at a stop is for what is to be sent.
func TestNothingIsForgottenAtAStop(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	stopped := make(chan struct{})
	close(stopped)
	f.pacer.Hurry = stopped
	f.add("idle:1|c")
	for range 10 {
		f.add("c:1|c")
		f.points("a")
	}
	require.Zero(t, f.stats.Value("aggregate.expired"))
	f.pacer.Hurry = nil
	f.points("a")
	require.Equal(t, 1.0, f.stats.Value("aggregate.expired"))
}
