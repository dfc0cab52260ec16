package aggregate

// Release gives an interval back. Its digests and sketches are emptied and used again, and so is the memory of its states; series, points with a
// time, events and checks belong to whoever has them.
func (c *Collector) Release(iv *Interval) {
	for s := range iv.Histograms.Paced(stepItems, c.step) {
		c.putDigest(s.Digest)
	}
	for s := range iv.Sets.Paced(stepItems, c.step) {
		c.putSketch(s.Sketch)
	}
	c.digests.into(&c.in.digests, c.step)
	c.sketches.into(&c.in.sketches, c.step)
	iv.Counters.reset(c.step)
	iv.Gauges.reset(c.step)
	iv.Histograms.reset(c.step)
	iv.Sets.reset(c.step)
	c.spare = &Interval{Counters: iv.Counters, Gauges: iv.Gauges, Histograms: iv.Histograms, Sets: iv.Sets}
	*iv = Interval{}
}

// sorter sorts by size what an interval is done with, on its way back to a pool.
type sorter[T any] struct {
	small, large List[*T]
}

func (s *sorter[T]) put(v *T, large bool) {
	if large {
		s.large.Push(v)
		return
	}
	s.small.Push(v)
}

// into makes what was put the content of a pool.
func (s *sorter[T]) into(p *pool[T], step func()) {
	s.small, s.large = p.put(s.small, s.large)
	s.small.reset(step)
	s.large.reset(step)
}

func (c *Collector) putDigest(d *digest) {
	d.Reset()
	c.digests.put(d, d.Size() >= largeDigest)
}

func (c *Collector) putSketch(s *sketch) {
	s.Reset()
	c.sketches.put(s, s.Size() >= largeSketch)
}
