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
	step   func() // called between pieces of work, see Pace

	// Of the ids that the last collected generations refer to, by number:
	ids    *ids
	places paged[place]          // of the series' states
	kept   paged[float64]        // the value of each gauge at the end of the last interval that had one
	series paged[*metric.Series] // of those seen of late
	slab   slab                  // that they are made of
	made   int                   // how many of those there are, the forgotten ones included
	flags  paged[nameFlags]      // as far as they were asked for, since flagChanges were as many

	flagChanges uint32
	sinkOnly    bool // there was such a series

	interval   uint32
	seen       []int // how many entries of each table had values in the last interval
	spare      *Interval
	digests    sorter[digest] // empty, on their way back to the pools
	sketches   sorter[sketch]
	events     List[stamped[metric.Event]] // of the interval being collected
	checks     List[stamped[metric.Check]]
	unique     *uniqueCounter
	lastReport time.Time
}

// place is the interval in which a series last had a state, and the index of that among those of its class.
type place struct{ interval, index uint32 }

// NewCollector returns a collector of the given tables, which are those of all lanes.
func NewCollector(in *Interner, tables []*Table) *Collector {
	c := &Collector{in: in, tables: tables, ids: in.ids, seen: make([]int, len(tables)), step: func() {}}
	c.canon = canon{rules: in.rules, seeds: in.seeds}
	if in.config.CountUniqueTimeseries {
		c.unique = newUniqueCounter()
	}
	return c
}

// Pace makes every method of the collector call step again and again, some ten microseconds of work apart and with no lock held. step may sleep.
func (c *Collector) Pace(step func()) { c.step = step }

const (
	stepItems   = 64  // of an interval, from one step to the next
	stepEntries = 256 // of a table; that of a new series takes ten times as long as others. Merges of digests and sketches make steps of their own
)

// Collect returns what the tables held when they were last flipped: every one of them has been, since the last call. Tables may be added
// to meanwhile. The interval goes back by Release.
func (c *Collector) Collect() *Interval {
	c.interval++
	iv := c.spare
	if iv == nil {
		iv = new(Interval)
	}
	c.spare = nil
	c.makeRoom()
	for i, t := range c.tables {
		if g := &t.gens[t.cur^1]; g.pending && g.view.ids == c.ids {
			c.seen[i] = g.active.Len()
			c.gather(iv, g, t.cur^1)
			g.pending = false
		}
	}
	iv.Events, iv.Checks = inOrder(&c.events), inOrder(&c.checks)
	c.finish(iv)
	c.reportOffenders()
	return iv
}

// makeRoom makes room for the places of all series.
func (c *Collector) makeRoom() {
	c.in.mu.Lock()
	used := c.ids.used
	c.in.mu.Unlock()
	for i := uint32(0); i < used; i += pageLen {
		c.places.at(i)
		c.step()
	}
}

// gather adds one generation, which is empty afterwards.
func (c *Collector) gather(iv *Interval, g *generation, half int) {
	for page := range g.active.Pages() {
		for numbers := range slices.Chunk(page, stepEntries) {
			c.addAll(iv, g, numbers, half)
			c.step()
		}
	}
	for p := range g.timed.Paced(stepItems, c.step) {
		iv.Timed.Push(c.timedPoint(&g.view, *p))
	}
	for e := range g.events.Paced(stepItems, c.step) {
		c.in.unreserve(eventBytes(&e.item))
		c.events.Push(*e)
	}
	for s := range g.checks.Paced(stepItems, c.step) {
		c.in.unreserve(checkBytes(&s.item))
		c.checks.Push(*s)
	}
	c.in.timed.Add(-int64(g.timed.Len()))
	c.in.stats.saturated.Add(g.saturated)
	c.in.stats.conflicts.Add(g.conflicts)
	g.saturated, g.conflicts = 0, 0
	g.active.reset(c.step)
	g.digests.reset(c.step)
	g.sketches.reset(c.step)
	g.timed.reset(c.step)
	g.events.reset(c.step)
	g.checks.reset(c.step)
	g.view = view{}
}

// addAll merges entries' values into the states of their series. Counters, which most series are, do not leave the loop.
func (c *Collector) addAll(iv *Interval, g *generation, numbers []uint32, half int) {
	entries, places, interval := g.view.pages, c.places.pages, c.interval
	for _, n := range numbers {
		e := &entries[n/entriesPerPage][n%entriesPerPage]
		p := &places[e.id/pageLen][e.id%pageLen]
		words := &e.words[half&1]
		known := p.interval == interval
		if e.meta.kind() != metric.Counter {
			c.add(iv, g, e, words, p, known)
			continue
		}
		total := counterOf(words)
		var s *CounterState
		if known {
			s = iv.Counters.At(int(p.index))
			total.lo += s.rest
			if total.add(s.Value) {
				c.in.stats.saturated.Inc()
			}
		} else {
			p.interval, p.index = interval, uint32(iv.Counters.Len())
			s = iv.Counters.extend()
			s.id = e.id
			if s.Series = c.series.get(e.id); s.Series == nil {
				s.Series = c.newSeries(&g.view, e)
			}
		}
		if total.lo != 0 {
			total = total.rounded()
		}
		s.Value, s.rest = total.hi, total.lo
	}
}

// add merges one entry that is not a counter's; known says that its series has a state already, at p.
func (c *Collector) add(iv *Interval, g *generation, e *entry, words *[2]uint64, p *place, known bool) {
	i := int(p.index)
	switch e.meta.kind() {
	case metric.Gauge:
		o := gaugeOf(words)
		if known {
			iv.Gauges.At(i).merge(o)
			return
		}
		i = iv.Gauges.Push(GaugeState{
			Series: c.seriesOf(&g.view, e), id: e.id, Value: o.value, Stamp: o.stamp, relative: o.relative,
		})
	case metric.Set:
		o := *g.sketches.At(int(words[0]))
		if known {
			c.mergeSketches(iv.Sets.At(i), o)
			return
		}
		i = iv.Sets.Push(SetState{Series: c.seriesOf(&g.view, e), id: e.id, Sketch: o})
	default:
		o := *g.digests.At(int(words[0]))
		if known {
			c.mergeDigests(iv.Histograms.At(i), o)
			return
		}
		i = iv.Histograms.Push(HistogramState{Series: c.seriesOf(&g.view, e), id: e.id, Digest: o})
	}
	*p = place{c.interval, uint32(i)}
}

func (s *GaugeState) merge(o gauge) {
	g := gauge{s.Value, s.Stamp, s.relative}
	g.merge(o)
	s.Value, s.Stamp, s.relative = g.value, g.stamp, g.relative
}

func (c *Collector) mergeDigests(s *HistogramState, o *digest) {
	s.Digest.Merge(o)
	c.putDigest(o)
	c.step()
}

func (c *Collector) mergeSketches(s *SetState, o *sketch) {
	s.Sketch.Merge(o)
	c.putSketch(o)
	c.step()
}

// finish makes the states what they say.
func (c *Collector) finish(iv *Interval) {
	for s := range iv.Gauges.Paced(stepItems, c.step) {
		kept := c.kept.at(s.id)
		if s.relative {
			s.Value = saturatingAdd(*kept, s.Value)
		}
		*kept = s.Value
	}
	c.markNames(iv)
	iv.ForAll = !c.sinkOnly
	c.countUnique(iv)
}
