package aggregate

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdleSeriesAreForgotten(t *testing.T) {
	d := newDaemon(t, 2, func(c *Config) { c.SeriesIdleIntervals = 3 })
	d.addTo(0, "x:1|c|#a,b\nx:1|c|#b,a\ny:1|c\nt:1|c|T1600000000")
	d.addTo(1, "x:1|c|#b,a")
	for range 3 { // of which two intervals are without
		d.end()
		d.addTo(1, "x:1|c|#b,a")
		require.EqualValues(t, 3, d.telemetry.Value("series"))
	}
	for range 3 {
		d.end()
		d.addTo(1, "x:1|c|#b,a")
	}
	require.EqualValues(t, 1, d.telemetry.Value("series"), "one lane still has x")
	require.EqualValues(t, 2, d.telemetry.Value("aggregate.expired"))
	require.Zero(t, d.tables[0].store.live)
	require.Equal(t, 1, d.tables[1].store.live)
	require.Equal(t, Applied, d.addTo(0, "z:1|c"))
	require.Equal(t, map[string]float64{"x|c|#a,b": 1, "z|c": 1}, d.flush(), "numbers are used again")
	require.Equal(t, 1, d.tables[0].store.live)
}

func TestAliasOutlivesNothing(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.SeriesIdleIntervals = 2 })
	d.add("x:1|c|#a,b\nx:1|c|#b,a")
	table := d.tables[0]
	own, n := table.store.entry(1), uint32(1)
	require.Zero(t, own.meta&metaAlias)
	// The alias's own entry goes first, and its place is taken by another series.
	d.end()
	d.c.expire(table, own, n)
	require.Equal(t, Applied, d.add("other:5|c"))
	require.EqualValues(t, "other", own.sample(table.store.texts.pages).Name)
	require.Equal(t, Applied, d.add("x:2|c|#b,a"))
	require.Equal(t, map[string]float64{"x|c|#a,b": 2, "other|c": 5}, d.flush())
	require.Zero(t, table.store.aliases)
}

func TestFreshStartKeepsWhatLives(t *testing.T) {
	d := newDaemon(t, 3, func(c *Config) { c.SeriesIdleIntervals = 2 })
	d.parser.GaugeDeltas = true
	every := "x:1|c|#a,b\nx:1|c|#b,a\ng:+1|g\nt:1|h\nt:1|ms"
	interval := func(flood bool) map[string]float64 {
		for lane := range d.tables {
			d.addTo(lane, every)
			d.addTo(lane, fmt.Sprintf("lane%d:1|c", lane))
		}
		if flood {
			for i := range 30_000 {
				d.addTo(i%3, fmt.Sprintf("f:1|c|#id:%d,z,a", i))
				if i%1000 == 0 {
					// Some that live come in the middle.
					d.addTo(i%3, fmt.Sprintf("live:1|c|#id:%d", i))
				}
			}
		}
		for i := 0; i < 30_000; i += 1000 {
			d.addTo(i%3, fmt.Sprintf("live:1|c|#id:%d", i))
		}
		return d.flush()
	}
	before := heap()
	require.Equal(t, 4+2+3+30_000+30, len(interval(true)))
	grown := heap()
	require.Greater(t, grown-before, int64(3<<20))
	for i := range 12 {
		got := interval(false)
		require.Len(t, got, 4+2+3+30)
		require.EqualValues(t, 6, got["x|c|#a,b"])
		require.EqualValues(t, 3*(i+2), got["g|g"], "a gauge keeps its value through a fresh start")
		require.EqualValues(t, 6, got["t.count|h"])
	}
	require.EqualValues(t, 1, d.telemetry.Value("aggregate.fresh_starts"))
	require.EqualValues(t, 3+3+30, d.telemetry.Value("series"))
	require.EqualValues(t, 36, d.telemetry.Value("aggregate.interned")-d.telemetry.Value("aggregate.expired"))
	require.LessOrEqual(t, heap()-before, int64(1<<20))
	require.LessOrEqual(t, d.telemetry.Value("aggregate.memory"), float64(1<<20))
	for range 10 {
		d.end()
	}
	require.Zero(t, d.telemetry.Value("series"))
	runtime.KeepAlive(d)
}

// Whoever sends many series once gets no more than a few intervals of memory for them, whatever series_idle_intervals says of others.
func TestFloodIsGivenBackWithinTenIntervals(t *testing.T) {
	const usual, flood, lanes = 2000, 30_000, 2
	d := newDaemon(t, lanes)
	interval := func() {
		for i := range usual {
			d.addTo(i%lanes, fmt.Sprintf("usual:1|c|#env:production,id:%d\nusual.time:1|ms|#id:%d", i, i))
		}
		d.end()
	}
	empty := heap()
	for range 3 {
		interval()
	}
	before, tables := heap()-empty, d.telemetry.Value("aggregate.memory")
	for i := range flood {
		d.addTo(i%lanes, fmt.Sprintf("once:1|c|#env:production,id:%d\nonce.time:1|ms|#id:%d", i, i))
	}
	require.Greater(t, heap()-empty, 4*before)
	for range 10 {
		interval()
	}
	require.LessOrEqual(t, heap()-empty, before+before/5)
	require.LessOrEqual(t, d.telemetry.Value("aggregate.memory"), 1.2*tables)
	require.EqualValues(t, 2*usual, d.telemetry.Value("series"))
	runtime.KeepAlive(d)
}

func TestSeriesOfOneIntervalIsForgottenEarly(t *testing.T) {
	d := newDaemon(t, 1)
	d.parser.GaugeDeltas = true
	d.add("often:1|c\nonce:1|c\ng:5|g")
	d.end()
	d.add("often:1|c")
	for range onceIdle + 2 {
		d.end()
	}
	require.EqualValues(t, 2, d.telemetry.Value("series"))
	d.add("g:+1|g")
	require.Equal(t, map[string]float64{"g|g": 6}, d.flush(), "a gauge keeps its value")
}

// Lanes add while the flusher flips, collects, forgets and starts afresh: nothing is lost, nothing counts twice. The race detector sees
// that the collector reads nothing that a lane writes.
func TestConcurrentTotals(t *testing.T) {
	const lanes = 4
	d := newDaemon(t, lanes, func(c *Config) {
		c.SeriesIdleIntervals = 2
		c.MaxSeries, c.MaxSeriesPerName = 30_000, 10_000
	})
	var locks [lanes]sync.Mutex
	var adding sync.WaitGroup
	rounds := 60
	if raceEnabled {
		rounds = 25
	}
	for lane := range lanes {
		adding.Go(func() {
			r := rand.New(rand.NewPCG(uint64(lane), 1))
			own := &daemon{tb: t, tables: d.tables}
			for round := range rounds {
				ids := 10
				if round%10 == 0 {
					ids = 5000
				}
				for range 2000 {
					lines := fmt.Sprintf("c:1|c|#x,id:%d\nc:1|c|#id:%d,x\nt:1|ms|#id:%d\ns:m%d|s\ng:%d|g", r.IntN(ids), r.IntN(ids), r.IntN(ids), r.IntN(100), round)
					locks[lane].Lock()
					own.addAt(lane, int64(round), lines)
					locks[lane].Unlock()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		adding.Wait()
		close(done)
	}()
	counters, timers, gauge, most := 0.0, 0.0, 0.0, 0.0
	flush := func() {
		for i, table := range d.tables {
			locks[i].Lock()
			table.Flip()
			locks[i].Unlock()
		}
		iv := d.c.Collect()
		for s := range iv.Counters.All() {
			counters += s.Value
		}
		for s := range iv.Histograms.All() {
			timers += s.Digest.Count()
		}
		for s := range iv.Sets.All() {
			most = max(most, float64(s.Sketch.Estimate()))
		}
		for s := range iv.Gauges.All() {
			gauge = s.Value
		}
		d.c.Release(iv)
		d.c.Expire(func(table int, f func()) {
			locks[table].Lock()
			defer locks[table].Unlock()
			f()
		})
	}
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(5 * time.Millisecond):
		}
		flush()
	}
	want := float64(lanes * rounds * 2000)
	require.Equal(t, 2*want, counters)
	require.Equal(t, want, timers)
	require.EqualValues(t, rounds-1, gauge)
	require.InDelta(t, 100, most, 3)
	t.Logf("%v fresh starts", d.telemetry.Value("aggregate.fresh_starts"))
	for range 10 {
		flush()
	}
	require.Zero(t, d.telemetry.Value("series"))
}

// A reader waits for no more than some ten microseconds, be it that all that is looked at has to go.
func TestStepsOfExpiryAreShort(t *testing.T) {
	const flood = 20_000
	d := newDaemon(t, 1)
	for i := range flood {
		d.add(fmt.Sprintf("once%d:1|c", i))
	}
	steps, rests := 0, 0
	d.c.Pace(func() { rests++ })
	store := &d.tables[0].store
	for range 20 {
		d.c.Release(d.collect())
		d.c.Expire(func(_ int, f func()) {
			before := store.live
			f()
			steps++
			require.LessOrEqual(t, before-store.live, expireStep)
		})
	}
	require.Less(t, store.live, 1000, "they are gone")
	require.GreaterOrEqual(t, rests, steps/2)
}
