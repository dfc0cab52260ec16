package aggregate

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/sketch/hll"
)

// uniqueCounter estimates how many series the intervals have, told apart as the original Veneur does it: by name, type and tags.
type uniqueCounter struct {
	sketch  hll.Sketch
	scratch []byte
}

func newUniqueCounter() *uniqueCounter { return new(uniqueCounter) }

// countUnique sets the metric of how many series an interval has, if it is asked for.
func (c *Collector) countUnique(iv *Interval) {
	u := c.unique
	if u == nil {
		return
	}
	u.sketch.Reset()
	insert := func(s *metric.Series) {
		u.scratch = appendScopeless(append(u.scratch[:0], byte(s.Kind.Class())), s)
		u.sketch.Insert(u.scratch)
	}
	for s := range iv.Counters.Paced(stepItems, c.step) {
		insert(s.Series)
	}
	for s := range iv.Gauges.Paced(stepItems, c.step) {
		insert(s.Series)
	}
	for s := range iv.Histograms.Paced(stepItems, c.step) {
		insert(s.Series)
	}
	for s := range iv.Sets.Paced(stepItems, c.step) {
		insert(s.Series)
	}
	for p := range iv.Timed.Paced(stepItems, c.step) {
		insert(p.Series)
	}
	c.in.stats.unique.Set(float64(u.sketch.Estimate()))
}
