package aggregate

import "slices"

// Release gives an interval back. Its digests and sketches are emptied and used again, and so is the memory of its states; series, points with a
// time, events and checks belong to whoever has them.
func (c *Collector) Release(iv *Interval) {
	for i := range iv.Histograms {
		c.putDigest(iv.Histograms[i].Digest)
	}
	for i := range iv.Sets {
		c.putSketch(iv.Sets[i].Sketch)
	}
	c.digests.into(&c.in.digests)
	c.sketches.into(&c.in.sketches)
	c.spare = &Interval{
		Counters:   emptied(iv.Counters),
		Gauges:     emptied(iv.Gauges),
		Histograms: emptied(iv.Histograms),
		Sets:       emptied(iv.Sets),
	}
	*iv = Interval{}
}

// emptied returns the memory of states for the next interval, unless it was used to less than a quarter.
func emptied[S any](states []S) []S {
	if cap(states) > 1024 && len(states) < cap(states)/4 {
		return nil
	}
	// Piece by piece: while memory with pointers is cleared, the garbage collector cannot stop the goroutine, and would keep all others waiting.
	for piece := range slices.Chunk(states, 4096) {
		clear(piece)
	}
	return states[:0]
}

// sorter sorts by size what an interval is done with, on its way back to a pool.
type sorter[T any] struct {
	small, large []*T
}

func (s *sorter[T]) put(v *T, large bool) {
	if large {
		s.large = append(s.large, v)
		return
	}
	s.small = append(s.small, v)
}

// into makes what was put the content of a pool.
func (s *sorter[T]) into(p *pool[T]) {
	s.small, s.large = p.put(s.small, s.large)
	s.small, s.large = emptied(s.small), emptied(s.large)
}

func (c *Collector) putDigest(d *digest) {
	d.Reset()
	c.digests.put(d, d.Size() >= largeDigest)
}

func (c *Collector) putSketch(s *sketch) {
	s.Reset()
	c.sketches.put(s, s.Size() >= largeSketch)
}
