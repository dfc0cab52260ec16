package aggregate

import (
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
	at     paged[uint32]         // the series' state, marked by collecting; else the interval in which it last had one
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

// collecting marks the numbers in Collector.at that are indexes of states.
const collecting = 1 << 31

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

// gather adds one generation, which is empty afterwards.
func (c *Collector) gather(iv *Interval, g *generation, half int) {
	g.active.filled(func(numbers []uint32) {
		for _, n := range numbers {
			e := g.view.entry(n)
			c.add(iv, g, e, &e.words[half])
		}
	})
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
	g.saturated, g.conflicts = 0, 0
	g.active.reset()
	g.digests.reset()
	g.sketches.reset()
	g.timed.reset()
	g.events.reset()
	g.checks.reset()
	g.view = view{}
}

// add merges one entry's values into the state of its series.
func (c *Collector) add(iv *Interval, g *generation, e *entry, words *[2]uint64) {
	at := c.at.at(e.id)
	i := int(*at &^ collecting)
	known := *at&collecting != 0
	var n int
	switch e.meta.kind() {
	case metric.Counter:
		if known {
			c.addCounter(&iv.Counters[i], counterOf(words))
			return
		}
		n = len(iv.Counters)
		iv.Counters = append(iv.Counters, CounterState{Series: c.seriesOf(&g.view, e), mark: mark{id: e.id}, total: counterOf(words)})
	case metric.Gauge:
		o := gaugeOf(words)
		if known {
			iv.Gauges[i].merge(o)
			return
		}
		n = len(iv.Gauges)
		iv.Gauges = append(iv.Gauges, GaugeState{
			Series: c.seriesOf(&g.view, e), mark: mark{id: e.id}, Value: o.value, Stamp: o.stamp, relative: o.relative,
		})
	case metric.Set:
		o := g.sketches.at(int(words[0]))
		if known {
			c.mergeSketches(&iv.Sets[i], o)
			return
		}
		n = len(iv.Sets)
		iv.Sets = append(iv.Sets, SetState{Series: c.seriesOf(&g.view, e), mark: mark{id: e.id}, Sketch: o})
	default:
		o := g.digests.at(int(words[0]))
		if known {
			c.mergeDigests(&iv.Histograms[i], o)
			return
		}
		n = len(iv.Histograms)
		iv.Histograms = append(iv.Histograms, HistogramState{Series: c.seriesOf(&g.view, e), mark: mark{id: e.id}, Digest: o})
	}
	*at = uint32(n) | collecting
}

func (c *Collector) addCounter(s *CounterState, o sum) {
	if s.total.addSum(o) {
		c.in.stats.saturated.Inc()
	}
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

// finish makes the states what they say, and clears the marks of collecting.
func (c *Collector) finish(iv *Interval) {
	for i := range iv.Counters {
		s := &iv.Counters[i]
		s.Value = s.total.value()
		c.finishMark(&s.mark)
	}
	for i := range iv.Gauges {
		s := &iv.Gauges[i]
		kept := c.kept.at(s.id)
		if s.relative {
			s.Value = saturatingAdd(*kept, s.Value)
		}
		*kept = s.Value
		c.finishMark(&s.mark)
	}
	for i := range iv.Histograms {
		c.finishMark(&iv.Histograms[i].mark)
	}
	for i := range iv.Sets {
		c.finishMark(&iv.Sets[i].mark)
	}
	c.markNames(iv)
	c.countUnique(iv)
}
