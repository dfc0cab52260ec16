package tdigest

import "math"

// centroid stands for samples near to each other. A negative mass marks a cluster of unequal samples; a positive one a
// point: one sample, or several of the very same value.
type centroid struct{ mean, mass float64 }

func (c centroid) weight() float64 { return math.Abs(c.mass) }

// shape is the size rule of clusters. One takes at most mid of the whole weight, which bounds the error of the rank in the
// middle; and at most near of what lies on the side where the gathering began, or far of what lies on the other, which
// bounds it in relation to the rank counted from the nearer end. By these the first and the last few samples stay points.
// floor is what one may always take.
//
// Dunning's scale functions give like sizes by an arcsine or a logarithm a sample; this takes three products a cluster, and
// fewer clusters for the same error.
type shape struct{ mid, near, far, floor float64 }

// newShape returns the shape of so many clusters in the middle, each at most one in tail of what is outside of it: this
// is for a compression of 100, and made finer or coarser for another.
func newShape(compression, mids, tail float64) shape {
	part := compression / DefaultCompression
	tail = max(2, tail*part)
	return shape{mid: 1 / (mids * part), near: 1 / tail, far: 1 / (tail + 1)}
}

// shape returns the rule for the centroids held here: some 270 of them for 100,000 samples. What comes by the wire is
// coarser, and stays so.
func (d *Digest) shape() shape {
	if d.rest.coarse {
		return d.wireShape()
	}
	return newShape(d.wireCompression(), 100, 8)
}

// wireShape returns the rule for the centroids on the wire, about as many as the original's: some 125.
func (d *Digest) wireShape() shape { return newShape(d.wireCompression(), 50, 3) }

func (d *Digest) wireCompression() float64 {
	if d.compression == 0 {
		return DefaultCompression
	}
	return d.compression
}

// cluster gathers ascending centroids into fewer, in place, and returns these; total is the weight of all. It goes
// upwards or downwards: each way pulls the clusters a little to where it came from, and by turns this evens out.
//
// Equal values are always taken together, whatever their weight: a distribution of few values stays exact.
func (s shape) cluster(cs []centroid, total float64, down bool) []centroid {
	i, step := 0, 1
	if down {
		i, step = len(cs)-1, -1
	}
	scale := 1.0 // keeps weight times mean in range
	if widest := max(math.Abs(cs[0].mean), math.Abs(cs[len(cs)-1].mean)); widest*total > math.MaxFloat64/4 {
		scale = 1 / total
	}
	to, end, limit, mid, floor := i, 0.0, 0.0, s.mid*total, s.floor*total
	for left := len(cs); left > 0; {
		first, signs := cs[i].mean, math.Float64bits(cs[i].mass)
		mass := cs[i].weight()
		last, sum := first, first*(mass*scale)
		for i, left = i+step, left-1; left > 0; i, left = i+step, left-1 {
			c := cs[i]
			more := c.weight()
			if mass+more > limit && c.mean != first {
				break
			}
			last = c.mean
			signs |= math.Float64bits(c.mass)
			mass += more
			sum += last * (more * scale)
		}
		end += mass
		limit = mid
		if l := end * s.near; l < limit {
			limit = l
		}
		if l := (total - end) * s.far; l < limit {
			limit = l
		}
		if limit < floor {
			limit = floor
		}
		mean := first
		if last != first {
			mean = sum / (mass * scale)
			signs = 1 << 63
			if down {
				mean = within(mean, last, first)
			} else {
				mean = within(mean, first, last)
			}
		}
		cs[to] = centroid{mean, math.Float64frombits(math.Float64bits(mass) | signs&(1<<63))}
		to += step
	}
	if down {
		return cs[to+1:]
	}
	return cs[:to]
}

// squeeze is cluster for any weights: where these are so unequal that the shape would leave too many centroids, or so
// large that their sum is out of range.
func (d *Digest) squeeze(cs []centroid, s shape, total float64, down bool) []centroid {
	const huge, scale = 1e280, 1e-20
	if total > huge {
		total = 0
		for i := range cs {
			cs[i].mass *= scale
			total += cs[i].weight()
		}
		defer func() {
			for i := range cs {
				cs[i].mass = saturate(cs[i].mass / scale)
				if cs[i].mass == 0 { // too light for the scale
					cs[i].mass = math.SmallestNonzeroFloat64
				}
			}
		}()
	}
	cs = s.cluster(cs, total, down)
	if most := maxCentroids(d.wireCompression()); len(cs) > most {
		s.floor = 4 / float64(most) // any two neighbours weigh more than this, so half of most remain
		cs = s.cluster(cs, total, down)
	}
	return cs
}
