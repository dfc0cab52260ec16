package spanmetrics

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// tally is how often each key of a family came, in its group, and what is past the limit.
type tally struct {
	groups         map[string]int
	other, unnamed int // what came of keys, and how many keys, estimated
}

func tallyOf(set *partial.Set, f partial.Family) tally {
	got := tally{groups: map[string]int{}}
	excess := func(e *partial.Excess) {
		if e != nil {
			weight := [...]uint64{e.Sums.OperationDuration.Weight(), e.Sums.Ok + e.Sums.Failed, e.Sums.DependencyWeight}[f]
			got.other += int(weight / loghist.One)
			got.unnamed += int(e.Keys(f))
		}
	}
	for i, s := range set.Services() {
		switch f {
		case partial.Operations:
			for _, o := range s.Operations {
				got.groups[s.Name+" "+o.Name] += int(o.Duration.Weight() / loghist.One)
			}
		case partial.Kinds:
			for _, k := range s.Kinds {
				got.groups[s.Name+" "+k.Kind] += int(k.Ok / loghist.One)
			}
		default:
			for _, d := range s.Dependencies {
				got.groups[s.Name+" "+d.Target+" "+d.Name] += int(d.Weight / loghist.One)
			}
		}
		excess(set.Excess(i))
	}
	overall, _ := set.Overall()
	excess(overall)
	return got
}

// life is a daemon on a directory, or in memory, whose clock is that of the test.
type life struct {
	*Stage
	keeper *Keeper
	lanes  []*Recorder
}

func begin(t *testing.T, c Config, lanes int, now time.Time, open func() (store.Store, error), emit func(*Closed), early ...*ssf.SSFSpan) *life {
	return beginFor(t, []string{"a"}, c, lanes, now, open, emit, early...)
}

// beginFor is begin with sinks of the test.
func beginFor(t *testing.T, sinks []string, c Config, lanes int, now time.Time, open func() (store.Store, error), emit func(*Closed), early ...*ssf.SSFSpan) *life {
	log := logrus.New()
	log.SetLevel(logrus.PanicLevel)
	l := &life{Stage: New(Settings{Config: c, Sinks: sinks, Emit: emit, Telemetry: telemetry.New(), Log: log, Open: open, Now: func() time.Time { return now }})}
	for range lanes {
		l.lanes = append(l.lanes, l.NewRecorder())
	}
	l.keeper = l.Keeper()
	require.NoError(t, l.keeper.Start(t.Context()))
	l.count(early, now) // Run takes its time to begin
	l.begin(now)
	return l
}

// count has each lane count its part of the spans, all at once.
func (l *life) count(spans []*ssf.SSFSpan, now time.Time) {
	var all sync.WaitGroup
	for i, lane := range l.lanes {
		all.Go(func() {
			for j := i; j < len(spans); j += len(l.lanes) {
				lane.Add(spans[j], now.Unix())
			}
		})
	}
	all.Wait()
}

// A key that has a group keeps it for the whole of the bucket, whatever came before it in its second, in whichever lane, and whether the daemon
// was started anew: all that came of it is there, and past the limit is what never had a group. The same holds for the longer bucket.
func TestKnownKeysAlwaysMerge(t *testing.T) {
	operation := func(i int) *ssf.SSFSpan { return requestSpan("web", fmt.Sprint("GET /", i), time.Second) }
	services := func(i int) *ssf.SSFSpan { return requestSpan(fmt.Sprint("web", i), "GET /", time.Second) }
	kinds := func(i int) *ssf.SSFSpan {
		s := requestSpan("web", "GET /", time.Second)
		s.SetTag("span.kind", fmt.Sprint("kind", i))
		return s
	}
	dependencies := func(i int) *ssf.SSFSpan {
		s := requestSpan("web", "call", time.Second)
		s.ParentId, s.Id = 1, 2
		s.SetTag("peer.service", fmt.Sprint("target", i))
		return s
	}
	overall := func(i int) *ssf.SSFSpan {
		return requestSpan(fmt.Sprint("web", i%5), fmt.Sprint("GET /", i), time.Second)
	}
	for _, tt := range []struct {
		name          string
		family        partial.Family
		span          func(i int) *ssf.SSFSpan
		keys, limit   int
		limits        func(*Limits)
		rounds, lanes int // rounds in a second
		disk, restart bool
	}{
		{"one lane", partial.Operations, operation, 250, 200, nil, 9, 1, false, false},
		{"four lanes", partial.Operations, operation, 250, 200, nil, 9, 4, false, false},
		{"one lane, restart", partial.Operations, operation, 250, 200, nil, 2, 1, false, true},
		{"four lanes, restart", partial.Operations, operation, 250, 200, nil, 2, 4, false, true},
		{"four lanes, disk", partial.Operations, operation, 250, 200, nil, 2, 4, true, false},
		{"four lanes, disk, restart", partial.Operations, operation, 250, 200, nil, 2, 4, true, true},
		{"overall", partial.Operations, overall, 250, 200, func(l *Limits) { l.Operations = 200 }, 2, 4, true, true},
		{"services", partial.Operations, services, 250, 200, func(l *Limits) { l.Services = 200 }, 2, 4, true, true},
		{"services by kind", partial.Kinds, services, 250, 200, func(l *Limits) { l.Services = 200 }, 2, 4, false, true},
		{"kinds", partial.Kinds, kinds, 30, 20, nil, 2, 4, true, true},
		{"dependencies, one lane", partial.Dependencies, dependencies, 250, 200, nil, 2, 1, true, false},
		{"dependencies", partial.Dependencies, dependencies, 250, 200, nil, 2, 4, true, true},
		{"many past the limit", partial.Operations, operation, 3000, 200, nil, 1, 4, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const seconds = 20
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			c := testConfig(seconds*time.Second, 2*seconds*time.Second)
			if tt.limits != nil {
				tt.limits(&c.Limits)
			}
			var spans []*ssf.SSFSpan
			for i := range tt.keys {
				spans = append(spans, tt.span(i))
			}
			open := keep(memory(&c))
			if tt.disk {
				c.StorePath, open = t.TempDir(), nil
			}
			var fine, long []tally
			emit := func(b *Closed) {
				if got := tallyOf(b.Set, tt.family); b.Fine {
					fine = append(fine, got)
				} else {
					long = append(long, got)
				}
				b.Taken("a")
			}
			now := time.Unix(1_000_000_000, 0)
			l := begin(t, c, tt.lanes, now, open, emit)
			counted := 0
			for second := range 2 * seconds {
				for ; counted < (second+1)*tt.rounds; counted++ {
					random.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
					l.count(spans, now)
				}
				now = now.Add(time.Second)
				l.tick(now)
				if tt.restart && second%seconds == seconds/2 {
					require.NoError(t, l.keeper.Close())
					random.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
					l = begin(t, c, tt.lanes, now, open, emit, spans...)
					counted++
				}
			}
			l.tick(now.Add(time.Second))
			require.NoError(t, l.keeper.Close())

			require.Len(t, fine, 2)
			require.Len(t, long, 1)
			// In the second short bucket there are, past the limit, those that have a place in the long one.
			assert.Len(t, fine[0].groups, tt.limit)
			assert.GreaterOrEqual(t, len(fine[1].groups), tt.limit)
			assert.LessOrEqual(t, len(fine[1].groups), 2*tt.limit)
			assert.Len(t, long[0].groups, tt.limit)
			for i, got := range append(fine, long[0]) {
				each, past := seconds*tt.rounds, tt.keys-len(got.groups)
				if i == 2 {
					each *= 2
				}
				for key, n := range got.groups {
					assert.Equal(t, each, n, "%d %s", i, key)
				}
				assert.Equal(t, each*past, got.other, i)
				most := 1.03*float64(past) + 0.5
				if i == 2 && tt.family == partial.Dependencies { // one may have lost its name in a short bucket and not in the other
					most += float64(past)
				}
				assert.GreaterOrEqual(t, float64(got.unnamed), 0.97*float64(past)-0.5, i)
				assert.LessOrEqual(t, float64(got.unnamed), most, i)
			}
		})
	}
}

// A key that has its own series in a long interval has it there with all that came, also with what came when a short one had no place for it.
func TestKnownInALongerBucket(t *testing.T) {
	for _, disk := range []bool{false, true} {
		t.Run(fmt.Sprintf("disk %t", disk), func(t *testing.T) {
			c := testConfig(2*time.Second, 10*time.Second)
			c.Limits.Operations = 2
			open := keep(memory(&c))
			if disk {
				c.StorePath, open = t.TempDir(), nil
			}
			got := map[string]tally{}
			emit := func(b *Closed) {
				got[fmt.Sprintf("%d+%d", b.Start-1_000_000_000, b.Interval)] = tallyOf(b.Set, partial.Operations)
				b.Taken("a")
			}
			now := time.Unix(1_000_000_000, 0)
			l := begin(t, c, 1, now, open, emit)
			second := func(names ...string) {
				var spans []*ssf.SSFSpan
				for _, name := range names {
					spans = append(spans, requestSpan("web", name, time.Second))
				}
				l.count(spans, now)
				now = now.Add(time.Second)
				l.tick(now)
			}
			second("a", "b")
			second("c")
			second("c", "d", "a")
			if disk {
				require.NoError(t, l.keeper.Close())
				l = begin(t, c, 1, now, open, emit)
			}
			second("e", "b")
			for range 6 {
				second()
			}
			require.NoError(t, l.keeper.Close())
			assert.Equal(t, tally{map[string]int{"web a": 1, "web b": 1}, 1, 1}, got["0+2"])
			assert.Equal(t, tally{map[string]int{"web a": 1, "web b": 1, "web c": 1, "web d": 1}, 1, 1}, got["2+2"])
			assert.Equal(t, tally{map[string]int{"web a": 2, "web b": 2}, 4, 3}, got["0+10"])
		})
	}
}
