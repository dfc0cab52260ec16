package spanmetrics

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/spanmetrics/pebblestore"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

func sinks(names ...string) func(*Settings) {
	return func(s *Settings) { s.Sinks = names }
}

// A stop while one of two sinks hangs: the next start has each bucket for that sink only, and those that were not closed for both.
func TestEachSinkHasABucketOnce(t *testing.T) {
	for _, disk := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := testConfig(time.Minute, 2*time.Minute)
			open := keep(memory(&c))
			if disk {
				c.StorePath, open = t.TempDir(), nil
			}
			r := start(t, c, open, sinks("a", "b"))
			r.takeNothing("b")
			for i := range 3 {
				r.requests(1 << i)
				time.Sleep(time.Minute)
			}
			r.requests(8)
			time.Sleep(2 * time.Second)
			first := []string{"1m from 0s: 1", "1m from 60s: 2", "2m from 0s: 3", "1m from 120s: 4"}
			assert.Equal(t, first, r.emittedTo("a"))
			assert.EqualValues(t, 4, r.registry.Value("span_metrics.undelivered_buckets"))
			r.stop()

			r = start(t, c, open, sinks("a", "b"))
			late := []string{"1m from 0s late: 1", "1m from 60s late: 2", "1m from 120s late: 4", "2m from 0s late: 3"}
			assert.Empty(t, r.emittedTo("a"))
			assert.Equal(t, late, r.emittedTo("b"))
			time.Sleep(time.Minute)
			last := []string{"1m from 180s: 8", "2m from 120s: 12"}
			assert.Equal(t, last, r.emittedTo("a"))
			assert.Equal(t, append(late, last...), r.emittedTo("b"))
			time.Sleep(2 * time.Second)
			assert.EqualValues(t, 0, r.registry.Value("span_metrics.undelivered_buckets"))
			r.stop()
			r = start(t, c, open, sinks("a", "b"))
			time.Sleep(2 * time.Minute)
			assert.Empty(t, r.emitted())
		})
	}
}

// What a sink delivers after everything else has stopped is remembered as long as the store is open.
func TestDeliveryWhileTheDaemonStops(t *testing.T) {
	c := testConfig(time.Minute)
	s := memory(&c)
	now := time.Unix(1_000_000_000, 0)
	var undone []func()
	emit := func(b *Closed) {
		for _, sink := range []string{"a", "b"} {
			undone = append(undone, func() { b.Taken(sink) })
		}
	}
	l := beginFor(t, []string{"a", "b"}, c, 1, now, keep(s), emit)
	l.count([]*ssf.SSFSpan{requestSpan("web", "GET /", time.Second)}, now)
	l.tick(now)
	l.tick(now.Add(time.Minute))
	require.Len(t, undone, 2)
	undone[1]()
	require.NoError(t, l.keeper.Close())
	states, err := s.Buckets()
	require.NoError(t, err)
	require.Len(t, states, 1)
	assert.Equal(t, []string{"b"}, states[0].Taken)
}

// A crash between delivery and the next commit repeats a bucket for the sink that had just got it, and for no other.
func TestCrashBeforeItIsKnownWhoHasABucket(t *testing.T) {
	c := testConfig(time.Minute)
	s := memory(&c)
	now := time.Unix(1_000_000_000, 0)
	had := [][]string{}
	var undone []func()
	emit := func(b *Closed) {
		had = append(had, b.Had)
		undone = nil
		for _, sink := range []string{"a", "b", "c"} {
			undone = append(undone, func() { b.Taken(sink) })
		}
	}
	three := []string{"a", "b", "c"}
	l := beginFor(t, three, c, 1, now, keep(s), emit)
	l.count([]*ssf.SSFSpan{requestSpan("web", "GET /", time.Second)}, now)
	l.tick(now)
	now = now.Add(time.Minute)
	l.tick(now)
	undone[0]()
	l.tick(now.Add(time.Second))
	undone[1]() // and then it dies
	l = beginFor(t, three, c, 1, now, keep(s), emit)
	assert.Equal(t, [][]string{nil, {"a"}}, had)
	undone[1]()
	undone[2]()
	l.tick(now.Add(2 * time.Second))
	states, err := s.Buckets()
	require.NoError(t, err)
	assert.Empty(t, states)
}

// Sinks are known by name: one that is new gets what is there, one that is there no more is not waited for, and one that comes back does not get again
// what it had.
func TestSinksChangeOverARestart(t *testing.T) {
	for _, tt := range []struct {
		name          string
		before, after []string
		left          []string // what it emits to whom
	}{
		{"the same", []string{"fast", "stuck"}, []string{"fast", "stuck"}, []string{"stuck"}},
		{"in another order", []string{"fast", "stuck"}, []string{"stuck", "fast"}, []string{"stuck"}},
		{"a new one", []string{"fast", "stuck"}, []string{"fast", "stuck", "new"}, []string{"stuck", "new"}},
		{"one has vanished that had it", []string{"fast", "stuck"}, []string{"stuck"}, []string{"stuck"}},
		{"one has vanished that had it not", []string{"fast", "stuck"}, []string{"fast"}, nil},
		{"another name", []string{"fast", "stuck"}, []string{"faster", "stuck"}, []string{"faster", "stuck"}},
		{"the first", []string{}, []string{"fast"}, nil},
		{"none any more", []string{"fast", "stuck"}, []string{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testConfig(time.Minute)
				s := memory(&c)
				r := start(t, c, keep(s), sinks(tt.before...))
				r.takeNothing("stuck")
				r.requests(3)
				time.Sleep(62 * time.Second)
				require.Equal(t, []string{"1m from 0s: 3"}, r.emitted(), "also where nobody gets it")
				r.stop()
				r = start(t, c, keep(s), sinks(tt.after...))
				for _, sink := range append(tt.before, tt.after...) {
					want := []string{}
					for _, left := range tt.left {
						if left == sink {
							want = []string{"1m from 0s late: 3"}
						}
					}
					assert.Equal(t, want, r.emittedTo(sink), sink)
				}
				time.Sleep(2 * time.Second)
				r.stop()
				states, err := s.Buckets()
				require.NoError(t, err)
				assert.Empty(t, states)
			})
		})
	}
}

// On a full disk it is known in memory who has a bucket, and on the disk as soon as that has room, at the latest when the store is closed.
func TestDiskIsFullWhenABucketIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute)
		disk := &fullDisk{Memory: memory(&c)}
		open := func() (store.Store, error) { return store.NewFallback(kept{disk}, c.heldLimits()), nil }
		r := start(t, c, open, sinks("a", "b"))
		r.takeNothing("b")
		r.requests(1)
		time.Sleep(30 * time.Second)
		disk.fail(pebblestore.ErrFull)
		time.Sleep(40 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 1"}, r.emittedTo("a"))
		disk.fail(nil)
		r.stop()
		r = start(t, c, open, sinks("a", "b"))
		assert.Empty(t, r.emittedTo("a"))
		assert.Equal(t, []string{"1m from 0s late: 1"}, r.emittedTo("b"))
	})
}
