package spanmetrics

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// Other intervals after a restart, forty seconds into a minute: each interval is emitted once, and whole where it was and is configured, or goes on.
func TestIntervalsChangeOverARestart(t *testing.T) {
	const m = time.Minute
	for _, tt := range []struct {
		name          string
		before, after []time.Duration
		want          []string
	}{
		{"the same", []time.Duration{m, 2 * m}, []time.Duration{m, 2 * m}, []string{"1m from 60s: 6", "2m from 0s: 7"}},
		{"the shortest is gone, and the next is the shortest", []time.Duration{m, 2 * m}, []time.Duration{2 * m}, []string{"1m from 60s: 2", "2m from 0s: 7"}},
		{
			"the shortest is gone, and there is a longer one",
			[]time.Duration{m, 2 * m},
			[]time.Duration{2 * m, 4 * m},
			[]string{"1m from 60s: 2", "2m from 0s: 7", "4m from 0s: 6"},
		},
		{
			"a shorter one",
			[]time.Duration{m, 2 * m},
			[]time.Duration{m / 2, m, 2 * m},
			[]string{"30s from 90s: 4", "1m from 60s: 6", "2m from 0s: 7"},
		},
		{
			"a shorter one for the shortest, which goes on to its end",
			[]time.Duration{m, 2 * m},
			[]time.Duration{m / 2, 2 * m},
			[]string{"30s from 90s: 4", "1m from 60s: 6", "2m from 0s: 7"},
		},
		{"a longer one", []time.Duration{m}, []time.Duration{m, 2 * m}, []string{"1m from 60s: 6", "2m from 0s: 6"}},
		{"the longest is gone, and goes on to its end", []time.Duration{m, 2 * m}, []time.Duration{m}, []string{"1m from 60s: 6", "2m from 0s: 7"}},
		{"one between", []time.Duration{m, 4 * m}, []time.Duration{m, 2 * m, 4 * m}, []string{"1m from 60s: 6", "2m from 0s: 6", "4m from 0s: 7"}},
		{"another that fits in", []time.Duration{m}, []time.Duration{40 * time.Second}, []string{"40s from 80s: 4", "1m from 60s: 6"}},
		{"another that does not", []time.Duration{m}, []time.Duration{50 * time.Second}, []string{"1m from 60s: 2", "50s from 100s: 4"}},
	} {
		for _, disk := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, ", disk ", disk), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := testConfig(tt.before...)
					open := keep(memory(&c))
					if disk {
						c.StorePath, open = t.TempDir(), nil
					}
					r := start(t, c, open, nil)
					r.requests(1)
					time.Sleep(m)
					r.requests(2)
					time.Sleep(40 * time.Second)
					r.stop()
					require.Equal(t, "1m from 0s: 1", r.emitted()[0])
					c.Intervals = tt.after
					r = start(t, c, open, nil)
					r.requests(4)
					time.Sleep(4 * m)
					assert.Equal(t, tt.want, r.emitted())
					for b := range r.added() {
						assert.LessOrEqual(t, b.End(), time.Now().Unix())
					}
					assert.EqualValues(t, 0, r.registry.Value("span_metrics.undelivered_buckets"))
				})
			})
		}
	}
}

// A key that has a place in an interval keeps it when that becomes the shortest.
func TestKnownKeysWhenAnIntervalBecomesTheShortest(t *testing.T) {
	c := testConfig(time.Second, 10*time.Second)
	c.Limits.OperationsPerService = 10
	open := keep(memory(&c))
	now := time.Unix(1_000_000_000, 0)
	var got []tally
	emit := func(b *Closed) {
		if b.Interval == 10 {
			got = append(got, tallyOf(b.Set, partial.Operations))
		}
		b.Taken("a")
	}
	l := begin(t, c, 1, now, open, emit)
	spans := func(from, to int) (spans []*ssf.SSFSpan) {
		for i := from; i < to; i++ {
			spans = append(spans, requestSpan("web", fmt.Sprint("GET /", i), time.Second))
		}
		return spans
	}
	l.count(spans(0, 8), now)
	now = now.Add(time.Second)
	l.tick(now)
	require.NoError(t, l.keeper.Close())
	c.Intervals = []time.Duration{10 * time.Second}
	l = begin(t, c, 1, now, open, emit, spans(6, 20)...)
	now = now.Add(time.Second)
	l.tick(now)
	l.count(slices.Concat(spans(15, 25), spans(0, 10)), now)
	l.tick(now.Add(10 * time.Second))
	require.Len(t, got, 1)
	assert.Len(t, got[0].groups, 10)
	for i := range 8 {
		assert.Equal(t, []int{2, 2, 2, 2, 2, 2, 3, 3}[i], got[0].groups[fmt.Sprint("web GET /", i)])
	}
	assert.Equal(t, 2, got[0].groups["web GET /8"])
	assert.Equal(t, 2, got[0].groups["web GET /9"])
	assert.Equal(t, 10+10, got[0].other)
}

// A bucket of an interval that is not the shortest any more, which cannot be read at the start, is waited for by those that it is a part of.
func TestForeignBucketsCanBeReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		disk := &unreadable{Memory: memory(&c), only: store.At(60, time.Now().Unix(), true)}
		r := start(t, c, keep(disk), nil)
		r.requests(1)
		time.Sleep(40 * time.Second)
		r.stop()
		c.Intervals = []time.Duration{2 * time.Minute, 4 * time.Minute}
		disk.fails.Store(true)
		r = start(t, c, keep(disk), nil)
		r.requests(2)
		time.Sleep(2 * time.Minute)
		assert.Empty(t, r.emitted())
		disk.fails.Store(false)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"1m from 0s: 1", "2m from 0s: 3", "4m from 0s: 3"}, r.emitted())
	})
}

// history is lives of a daemon with random intervals, and a span for each of some random times.
type history struct {
	lives []part
	spans []struct{ unix, life int }
}

// part is one life: from the second in which it begins to its last tick.
type part struct {
	intervals   []int // seconds
	first, last int
}

// count returns how many spans there are in a stretch of time, from a life on.
func (h *history) count(from, to, life int) (n int) {
	for _, s := range h.spans {
		if from <= s.unix && s.unix < to && s.life >= life {
			n++
		}
	}
	return n
}

// seen returns the first time, from one on, that a daemon sees, and which that is.
func (h *history) seen(unix int) (at, life int) {
	for i, l := range h.lives {
		if unix <= l.last {
			return max(unix, l.first), i
		}
	}
	panic("nobody lives to see that")
}

// least returns how many spans an interval has to have by the rule of docs/spanmetrics.md: all since it is configured, or goes on.
func (h *history) least(interval, start int) int {
	_, closes := h.seen(start + interval)
	since, begun := -1, false
	for i, l := range h.lives[:closes+1] {
		configured := slices.Contains(l.intervals, interval)
		switch {
		case configured && since < 0:
			since = i
		case !configured && (!begun || interval%l.intervals[0] != 0):
			since = -1
		}
		if configured && i > 0 && h.lives[i-1].intervals[0] != l.intervals[0] && slices.Contains(h.lives[i-1].intervals, interval) &&
			h.count(start, start+interval, i-1) > h.count(start, start+interval, i) {
			begun = true // by what the life before left open
		}
		for _, s := range h.spans {
			shortest := l.intervals[0]
			if s.life == i && start <= s.unix && s.unix < start+interval && configured &&
				(shortest == interval || s.unix/shortest*shortest+shortest <= l.last) {
				begun = true
			}
		}
	}
	if since < 0 {
		return 0
	}
	return h.count(start, start+interval, since)
}

func randomHistory(random *rand.Rand, begin int) *history {
	h := &history{}
	now := begin
	intervals := randomIntervals(random, []int{1, 2, 3, 5, 6, 10}[random.IntN(6)])
	for life := range 2 + random.IntN(4) {
		if life > 0 {
			intervals = changed(random, intervals)
		}
		l := part{intervals: intervals, first: now}
		for range random.IntN(60) {
			for range random.IntN(3) {
				h.spans = append(h.spans, struct{ unix, life int }{now, life})
			}
			now++
		}
		l.last = now
		h.lives = append(h.lives, l)
		if random.IntN(2) == 0 {
			now += random.IntN(40)
		}
	}
	h.lives[len(h.lives)-1].last = now + 1000
	return h
}

func randomIntervals(random *rand.Rand, shortest int) []int {
	intervals := []int{shortest}
	for _, times := range []int{2, 3, 4, 6, 10} {
		if random.IntN(3) == 0 {
			intervals = append(intervals, shortest*times)
		}
	}
	return intervals
}

// changed returns intervals of which one was added, removed or none, or others.
func changed(random *rand.Rand, intervals []int) []int {
	longest := intervals[len(intervals)-1]
	switch random.IntN(6) {
	case 0:
		if len(intervals) > 1 {
			rest := slices.Clone(intervals[1:])
			return slices.DeleteFunc(rest, func(i int) bool { return i%rest[0] != 0 })
		}
	case 1:
		if len(intervals) > 1 {
			return intervals[:len(intervals)-1]
		}
	case 2:
		for _, parts := range []int{2, 3, 5} {
			if intervals[0]%parts == 0 && len(intervals) < maxIntervals {
				return append([]int{intervals[0] / parts}, intervals...)
			}
		}
	case 3:
		if len(intervals) < maxIntervals && longest < 400 {
			return append(slices.Clone(intervals), longest*2)
		}
	case 4:
		return randomIntervals(random, []int{1, 2, 3, 5, 6, 7, 10}[random.IntN(7)])
	}
	return intervals
}

// emission is what a sink got of a bucket, and when it was first offered that.
type emission struct{ n, at, done int }

// live lives through a history, with two sinks of which the second may hang for a life, and returns what each of them got. A daemon is stopped, or killed
// right after a commit where that is allowed.
func (h *history) live(t *testing.T, random *rand.Rand, c Config, open func() (store.Store, error), mayKill bool) (got [2]map[store.Bucket]*emission) {
	sinks := []string{"a", "b"}
	got = [2]map[store.Bucket]*emission{{}, {}}
	span := requestSpan("web", "GET /", time.Second)
	var now time.Time
	hangs := false
	var undone []func()
	emit := func(b *Closed) {
		n := int(sumsOf(b.Set).requests)
		for i, sink := range sinks {
			e := got[i][whole(b.Bucket)]
			if e == nil {
				e = &emission{n: n, at: int(now.Unix())}
				got[i][whole(b.Bucket)] = e
			}
			if slices.Contains(b.Had, sink) {
				require.Equal(t, 1, e.done)
				continue
			}
			require.Equal(t, n, e.n, "the same again")
			done := func() {
				e.done++
				b.Taken(sink)
			}
			if sink == "a" || !hangs && random.IntN(2) == 0 {
				done()
			} else {
				undone = append(undone, done)
			}
		}
	}
	for i, l := range h.lives {
		c.Intervals = nil
		for _, seconds := range l.intervals {
			c.Intervals = append(c.Intervals, time.Duration(seconds)*time.Second)
		}
		require.NoError(t, c.Validate())
		now = time.Unix(int64(l.first), 0)
		hangs, undone = i < len(h.lives)-1 && random.IntN(3) == 0, nil
		d := beginFor(t, sinks, c, 2, now, open, emit)
		for {
			for _, s := range h.spans {
				if s.life == i && s.unix == int(now.Unix()) {
					d.lanes[random.IntN(2)].Add(span, now.Unix())
				}
			}
			if int(now.Unix()) >= l.last {
				break
			}
			now = now.Add(time.Second)
			for !hangs && len(undone) > 0 && (int(now.Unix()) >= l.last-1 || random.IntN(3) == 0) {
				undone[0]()
				undone = undone[1:]
			}
			d.tick(now)
		}
		if !mayKill || l.last == l.first || random.IntN(2) == 0 {
			require.NoError(t, d.keeper.Close())
		}
	}
	return got
}

// Whatever intervals the daemons of a store have, one after another, and whatever comes, and be it that a sink hangs over a stop: each interval is
// emitted at most once to each sink, when a daemon first sees its end, with no more than what came in its time, and with all that came since it is
// configured or goes on.
func TestIntervalsMayChangeAnyHow(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 150 {
		h := randomHistory(random, 1_000_000_000+random.IntN(1000))
		c := testConfig()
		kept := memory(&c)
		open, disk := keep(kept), round%50 == 0
		if disk {
			c.StorePath, open = t.TempDir(), nil
		}
		got := h.live(t, random, c, open, !disk)
		states, err := kept.Buckets()
		require.NoError(t, err)
		require.Empty(t, states)
		var intervals []int
		for _, l := range h.lives {
			intervals = append(intervals, l.intervals...)
		}
		slices.Sort(intervals)
		checked := 0
		for _, interval := range slices.Compact(intervals) {
			for start := h.lives[0].first / interval * interval; start < h.lives[len(h.lives)-1].last-900; start += interval {
				bucket := store.At(int64(interval), int64(start), false)
				a, b := got[0][bucket], got[1][bucket]
				require.Equal(t, a, b)
				least, most := h.least(interval, start), h.count(start, start+interval, 0)
				if a == nil && least == 0 {
					continue
				}
				at, _ := h.seen(start + interval)
				if a == nil || a.n < least || a.n > most || a.at != at || a.done != 1 {
					require.Fail(t, "wrong", "%ds from %d: %+v, want %d to %d at %d\n%+v", interval, start, a, least, most, at, h.lives)
				}
				checked++
			}
		}
		require.Len(t, got[0], checked)
	}
}
