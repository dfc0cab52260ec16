package aggregate

import (
	"slices"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
)

// Collector reads the generations that tables have finished and merges them by series. It belongs to the flusher's goroutine, which also
// flips the tables.
type Collector struct {
	in     *Interner
	tables []*Table
	canon  canon

	// Of the ids that the last collected generations refer to, by number:
	ids    *ids
	places paged[place]          // of the series' states
	kept   paged[float64]        // the value of each gauge at the end of the last interval that had one
	series paged[*metric.Series] // of those seen of late
	name   string                // of the series made last: the next one's is the same more often than not

	interval   uint32
	spare      *Interval
	digests    sorter[digest] // empty, on their way back to the pools
	sketches   sorter[sketch]
	events     []stamped[metric.Event] // of the interval being collected
	checks     []stamped[metric.Check]
	unique     *uniqueCounter
	lastReport time.Time
}

// place is the interval in which a series last had a state, and the index of that among those of its class.
type place struct{ interval, index uint32 }

// NewCollector returns a collector of the given tables, which are those of all lanes.
func NewCollector(in *Interner, tables []*Table) *Collector {
	c := &Collector{in: in, tables: tables, ids: in.ids}
	c.canon = canon{rules: in.rules, seeds: in.seeds}
	if in.config.CountUniqueTimeseries {
		c.unique = newUniqueCounter()
	}
	return c
}

// Collect returns what the tables held when they were last flipped: every one of them has been, since the last call. Tables may be added
// to meanwhile. The interval goes back by Release.
func (c *Collector) Collect() *Interval {
	c.interval++
	iv := c.spare
	if iv == nil {
		iv = new(Interval)
	}
	c.spare = nil
	c.makeRoom(iv)
	for _, t := range c.tables {
		if g := &t.gens[t.cur^1]; g.pending && g.view.ids == c.ids {
			c.gather(iv, g, t.cur^1)
			g.pending = false
		}
	}
	iv.Events, iv.Checks = inOrder(&c.events), inOrder(&c.checks)
	c.finish(iv)
	c.reportOffenders()
	return iv
}

// makeRoom makes room for the states of an interval, so that none has to be moved, and for the places of all series. There are no more states
// of a class than entries were begun, and no more than there are series.
func (c *Collector) makeRoom(iv *Interval) {
	var n [classes]int
	for _, t := range c.tables {
		for class, begun := range t.gens[t.cur^1].begun {
			n[class] += begun
		}
	}
	c.in.mu.Lock()
	used, live := c.ids.used, c.ids.classes
	c.in.mu.Unlock()
	for i := uint32(0); i < used; i += pageLen {
		c.places.at(i)
	}
	iv.Counters = withRoom(iv.Counters, min(n[metric.Counter], live[metric.Counter]))
	iv.Gauges = withRoom(iv.Gauges, min(n[metric.Gauge], live[metric.Gauge]))
	iv.Histograms = withRoom(iv.Histograms, min(n[metric.Histogram], live[metric.Histogram]))
	iv.Sets = withRoom(iv.Sets, min(n[metric.Set], live[metric.Set]))
}

// withRoom returns empty memory for n states, and some more, since there will be: that given, if it is enough.
func withRoom[S any](states []S, n int) []S {
	if cap(states) >= n {
		return states
	}
	return make([]S, 0, n+n/8)
}

// gather adds one generation, which is empty afterwards.
func (c *Collector) gather(iv *Interval, g *generation, half int) {
	g.active.filled(func(numbers []uint32) { c.addAll(iv, g, numbers, half) })
	g.timed.filled(func(points []timedPoint) {
		for _, p := range points {
			iv.Timed = append(iv.Timed, c.timedPoint(&g.view, p))
		}
	})
	g.events.filled(func(events []stamped[metric.Event]) {
		for i := range events {
			c.in.unreserve(eventBytes(&events[i].item))
		}
		c.events = append(c.events, events...)
	})
	g.checks.filled(func(checks []stamped[metric.Check]) {
		for i := range checks {
			c.in.unreserve(checkBytes(&checks[i].item))
		}
		c.checks = append(c.checks, checks...)
	})
	c.in.timed.Add(-int64(g.timed.n))
	c.in.stats.saturated.Add(g.saturated)
	c.in.stats.conflicts.Add(g.conflicts)
	g.saturated, g.conflicts, g.begun = 0, 0, [classes]int{}
	g.active.reset()
	g.digests.reset()
	g.sketches.reset()
	g.timed.reset()
	g.events.reset()
	g.checks.reset()
	g.view = view{}
}

// addAll merges entries' values into the states of their series. Counters, which most series are, do not leave the loop.
func (c *Collector) addAll(iv *Interval, g *generation, numbers []uint32, half int) {
	places := c.places.pages
	counters := slices.Grow(iv.Counters, len(numbers)) // Collect has made the room, so that nothing is copied
	for _, n := range numbers {
		e := g.view.entry(n)
		p := &places[e.id/pageLen][e.id%pageLen]
		words := &e.words[half&1]
		known := p.interval == c.interval
		if e.meta.kind() != metric.Counter {
			c.add(iv, g, e, words, p, known)
			continue
		}
		total := counterOf(words)
		var s *CounterState
		if known {
			s = &counters[p.index]
			total.lo += s.rest
			if total.add(s.Value) {
				c.in.stats.saturated.Inc()
			}
		} else {
			i := len(counters)
			p.interval, p.index = c.interval, uint32(i)
			counters = counters[:i+1]
			s = &counters[i]
			s.id = e.id
			if s.Series = c.series.get(e.id); s.Series == nil {
				s.Series = c.newSeries(&g.view, e)
			}
		}
		total = total.rounded()
		s.Value, s.rest = total.hi, total.lo
	}
	iv.Counters = counters
}

// add merges one entry that is not a counter's; known says that its series has a state already, at p.
func (c *Collector) add(iv *Interval, g *generation, e *entry, words *[2]uint64, p *place, known bool) {
	i := p.index
	switch e.meta.kind() {
	case metric.Gauge:
		o := gaugeOf(words)
		if known {
			iv.Gauges[i].merge(o)
			return
		}
		i = uint32(len(iv.Gauges))
		iv.Gauges = append(iv.Gauges, GaugeState{
			Series: c.seriesOf(&g.view, e), id: e.id, Value: o.value, Stamp: o.stamp, relative: o.relative,
		})
	case metric.Set:
		o := g.sketches.at(int(words[0]))
		if known {
			c.mergeSketches(&iv.Sets[i], o)
			return
		}
		i = uint32(len(iv.Sets))
		iv.Sets = append(iv.Sets, SetState{Series: c.seriesOf(&g.view, e), id: e.id, Sketch: o})
	default:
		o := g.digests.at(int(words[0]))
		if known {
			c.mergeDigests(&iv.Histograms[i], o)
			return
		}
		i = uint32(len(iv.Histograms))
		iv.Histograms = append(iv.Histograms, HistogramState{Series: c.seriesOf(&g.view, e), id: e.id, Digest: o})
	}
	*p = place{c.interval, i}
}

func (s *GaugeState) merge(o gauge) {
	g := gauge{s.Value, s.Stamp, s.relative}
	g.merge(o)
	s.Value, s.Stamp, s.relative = g.value, g.stamp, g.relative
}

func (c *Collector) mergeDigests(s *HistogramState, o *digest) {
	s.Digest.Merge(o)
	c.putDigest(o)
}

func (c *Collector) mergeSketches(s *SetState, o *sketch) {
	s.Sketch.Merge(o)
	c.putSketch(o)
}

// finish makes the states what they say.
func (c *Collector) finish(iv *Interval) {
	for i := range iv.Gauges {
		s := &iv.Gauges[i]
		kept := c.kept.at(s.id)
		if s.relative {
			s.Value = saturatingAdd(*kept, s.Value)
		}
		*kept = s.Value
	}
	c.markNames(iv)
	c.countUnique(iv)
}
