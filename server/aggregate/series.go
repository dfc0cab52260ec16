package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// seriesOf returns the series of an entry. It is made when first asked for and stays the same as long as it is seen in every interval, or
// nearly so: a series that is idle costs none.
func (c *Collector) seriesOf(v *view, e *entry) *metric.Series {
	if s := c.series.get(e.id); s != nil {
		return s
	}
	return c.newSeries(v, e)
}

func (c *Collector) newSeries(v *view, e *entry) *metric.Series {
	s := e.sample(v.texts)
	c.canon.read(&s) // which it could before
	series := c.slab.add(&s, &c.canon)
	c.sinkOnly = c.sinkOnly || series.SinkOnly != ""
	*c.series.at(e.id) = series
	c.made++
	return series
}

// seriesIdle is after how many intervals without a state a series is let go. One is not enough: many are sent every other interval.
const seriesIdle = 3

// forgetIdleSeries lets go of the series that were not seen of late; and of all of them, so that the next interval makes anew what it needs, when
// those that are left are few of many that were made: each keeps a whole slab.
func (c *Collector) forgetIdleSeries() {
	left := 0
	for i, page := range c.series.pages {
		if page == nil {
			continue
		}
		used := 0
		for j := range page {
			if page[j] == nil {
				continue
			}
			if c.interval-c.places.get(uint32(i*pageLen+j)).interval >= seriesIdle {
				page[j] = nil
				continue
			}
			used++
		}
		if used == 0 {
			c.series.pages[i] = nil
		}
		left += used
		c.step()
	}
	if c.made > sparse*left+minSparse {
		c.series, c.slab, c.made = paged[*metric.Series]{}, slab{}, 0
	}
}

// Of how many series that were made one must be left, and how many there must be at all, for their slabs to be kept.
const (
	sparse    = 2
	minSparse = 4 << 10
)

func (c *Collector) timedPoint(v *view, p timedPoint) metric.Point {
	e := v.entry(p.entry)
	s := c.seriesOf(v, e)
	typ := metric.GaugePoint
	if s.Kind == metric.Counter {
		typ = metric.CounterPoint
	}
	return metric.Point{Series: s, Name: s.Name, Value: p.value, Type: typ, Time: p.time}
}

// markNames says of each state whether its points can meet others, and whether its name has several scopes. As long as no name of the
// daemon has either, which is the rule, it costs nothing; and after that what was found is kept for as long as it holds.
func (c *Collector) markNames(iv *Interval) {
	iv.scoped = false
	some, changes := c.in.nameFlags(c.ids)
	if !some {
		return
	}
	if changes != c.flagChanges {
		c.flags, c.flagChanges = paged[nameFlags]{}, changes
	}
	mark := func(id uint32, s *metric.Series, contested, scoped *bool) {
		f := c.flags.at(id)
		if *f == 0 {
			*f = c.flagsOf(s)
		}
		*contested, *scoped = *f&flagContested != 0, *f&flagScoped != 0
		iv.scoped = iv.scoped || *scoped
	}
	for s := range iv.Counters.Paced(stepItems, c.step) {
		mark(s.id, s.Series, &s.Contested, &s.scoped)
	}
	for s := range iv.Gauges.Paced(stepItems, c.step) {
		mark(s.id, s.Series, &s.Contested, &s.scoped)
	}
	for s := range iv.Histograms.Paced(stepItems, c.step) {
		mark(s.id, s.Series, &s.Contested, &s.scoped)
	}
	for s := range iv.Sets.Paced(stepItems, c.step) {
		mark(s.id, s.Series, &s.Contested, &s.scoped)
	}
}

// nameFlags are what markNames knows of a series.
type nameFlags uint8

const (
	flagKnown nameFlags = 1 << iota
	flagContested
	flagScoped
)

func (c *Collector) flagsOf(s *metric.Series) nameFlags {
	f := flagKnown
	contested, scoped := c.in.nameFlag(c.ids, s)
	if contested {
		f |= flagContested
	}
	if scoped {
		f |= flagScoped
	}
	return f
}
