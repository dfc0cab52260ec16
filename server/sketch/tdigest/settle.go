package tdigest

import (
	"math"
	"slices"
)

const (
	// crowded is how many values may wait on after a settling: with more the next one would come too soon.
	crowded = maxRaw / 2
	// worthwhile is how many settlings between two gatherings pay for themselves. After fewer the next gatherings do without,
	// twice as many each time, up to maxPause: sorted or drifting input is not to pay for attempts in vain.
	worthwhile = 2
	maxPause   = 32
)

// settle puts waiting values into the centroids that cover them and have room, and says whether there are enough free
// places then. Those beyond the ends, between points, or past what the shape lets a cluster hold now wait on.
//
// While a distribution stays as it is, a cluster's limit grows with the total as fast as its mass does, and nearly all
// values find room. Sorting, merging and clustering are chains of steps that wait for each other, with branches that the
// processor cannot foresee; here no value waits for another. In a series of 65,536 samples a gathering comes nine
// times rather than 128, and since a cluster takes what is within its borders, the ranks are nearer than by sorting.
//
// A gathering begins with a last settling. In that a cluster takes a little more than it may, and is halved then: the values
// that one full cluster has refused all lie to one side of its border to the next, and as a centroid of their own would
// shift the ranks around by a quarter of the cluster.
func (d *Digest) settle(last bool) (free bool) {
	r := d.rest
	if len(d.values) == 0 || d.raw() || d.mixed() {
		return false
	}
	if r.pause > 0 {
		if !last {
			r.pause--
		}
		return false
	}
	cs := r.centroids
	held := r.base.count.value()
	total := held + d.weight*float64(len(d.values))
	if d.mostBeyond() {
		r.giveUp()
		return false
	}
	// Sums of products must stay in range.
	if widest := max(math.Abs(cs[0].mean), math.Abs(cs[len(cs)-1].mean)); !(widest*max(total, 2*maxRaw) < math.MaxFloat64/4) ||
		total > math.MaxFloat64/4 || d.weight < 1/math.MaxFloat64 {
		return false
	}
	var s slots
	if !s.open(cs, d.shape(), held, total, d.weight, last) || !s.index() {
		r.giveUp()
		return false
	}
	var at [maxRaw]uint16
	var settled [maxRaw]float64
	s.find(&at, d.values)
	n, waiting := s.fill(&at, &settled, d.values)
	d.values = d.values[:waiting]
	if n > 0 {
		s.close(cs, d.weight)
		d.count(settled[:n])
	}
	if last {
		if n > 0 {
			d.halve(&s, total)
		}
		return false
	}
	if waiting <= crowded {
		if r.settled++; r.settled >= worthwhile {
			r.settled, r.lastPause = worthwhile, 0
		}
		return true
	}
	r.giveUp()
	return false
}

// giveUp ends a run of settlings.
func (r *rest) giveUp() {
	if r.settled < worthwhile {
		r.lastPause = min(2*r.lastPause+1, maxPause)
		r.pause = r.lastPause
	}
	r.settled = 0
}

// mostBeyond says whether most waiting values are beyond the ends, by looking at a few.
func (d *Digest) mostBeyond() bool {
	cs := d.rest.centroids
	least, most := cs[0].mean, cs[len(cs)-1].mean
	beyond, seen := 0, 0
	for i := 0; i < len(d.values); i += maxRaw / 16 {
		if v := d.values[i]; v < least || v > most {
			beyond++
		}
		seen++
	}
	return 2*beyond > seen
}

// count adds settled values to base. They are within the ends, which stay.
func (d *Digest) count(settled []float64) {
	b := &d.rest.base
	zero := b.min <= 0 && b.max >= 0 && slices.Contains(settled, 0)
	batch, saturated := sumAny(settled, nil, d.weight, zero)
	batch.min, batch.max = b.min, b.max
	if b.add(&batch) || saturated {
		d.saturated = true
	}
	d.zero = d.zero || zero
}

// halve makes two of each cluster that the last settling took past its limit, as if its samples were spread evenly.
func (d *Digest) halve(s *slots, total float64) {
	var scratch [maxSlots + maxSlots/2]centroid
	cs, shape := d.rest.centroids, d.shape()
	n, done, below := 0, 0, 0.0
	for i := 1; i < s.n; i++ {
		of := &s.of[i&slotMask]
		if of.took == 0 {
			continue
		}
		c := cs[of.centroid]
		for _, before := range cs[done:of.centroid] {
			below += before.weight()
		}
		mass := c.weight()
		limit := min(shape.mid*total, min(below, total-below-mass)*shape.near)
		spare := len(scratch) - (n + len(cs) - done)
		n += copy(scratch[n:], cs[done:of.centroid])
		done = int(of.centroid)
		if c.mass > 0 || mass <= limit || mass < 8*d.weight || spare < 1 { // a light one might pass for a sample on the wire
			continue
		}
		low, high := fromSortKey(s.from[i&fromMask]), fromSortKey(s.from[(i+1)&fromMask])
		off := max(0, min(c.mean-low, high-c.mean)) / 2
		scratch[n] = centroid{c.mean - off, c.mass / 2}
		scratch[n+1] = centroid{c.mean + off, c.mass / 2}
		n += 2
		below += mass
		done++
	}
	n += copy(scratch[n:], cs[done:])
	d.rest.keep(scratch[:n])
}
