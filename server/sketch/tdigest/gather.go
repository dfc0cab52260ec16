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

// wireShape returns the rule for the centroids on the wire, about as many as the original sends: some 150.
func (d *Digest) wireShape() shape { return newShape(d.wireCompression(), 60, 4) }

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

// gather moves the waiting values into the centroids.
func (d *Digest) gather() {
	if len(d.values) == 0 {
		return
	}
	d.sortValues()
	d.total(&d.needRest().base)
	var cs [maxRaw]centroid
	points := d.points(&cs, true)
	d.absorb(points, 2*len(points) < len(d.values))
	d.clearValues()
}

// points puts the sorted waiting values into cs, and equal ones together: all, or only those that are the least or the
// greatest of all values.
func (d *Digest) points(cs *[maxRaw]centroid, all bool) []centroid {
	var weights []float64
	if d.mixed() {
		weights = d.rest.weights
	}
	n := 0
	for i, v := range d.values {
		weight := d.weight
		if len(weights) > 0 {
			weight = weights[i]
		}
		if n > 0 && cs[(n-1)&mask].mean == v && (all || v == d.totals.min || v == d.totals.max) {
			last := &cs[(n-1)&mask]
			last.mass = min(last.mass+weight, math.MaxFloat64)
			continue
		}
		cs[n&mask] = centroid{v, weight}
		n++
	}
	return cs[:n]
}

// absorb merges ascending centroids into those of d; base already counts them. few says that the values repeat
// themselves, so that it may be worth while to put equals together and leave it at that.
func (d *Digest) absorb(cs []centroid, few bool) {
	n := len(d.rest.centroids) + len(cs)
	switch {
	case n <= 384:
		var scratch [384]centroid
		d.absorbBy(scratch[:n], cs, few)
	case n <= 1024:
		var scratch [1024]centroid
		d.absorbBy(scratch[:n], cs, few)
	default: // digests of a high compression only
		d.absorbBy(make([]centroid, n), cs, few)
	}
}

func (d *Digest) absorbBy(scratch, cs []centroid, few bool) {
	r := d.rest
	mergeSorted(scratch, r.centroids, cs)
	if few {
		scratch = joinEqual(scratch)
	}
	if len(scratch) > d.enough() {
		r.down = !r.down
		scratch = d.squeeze(scratch, d.shape(), r.base.count.value(), r.down)
	}
	r.centroids = append(r.centroids[:0], scratch...)
}

// enough is the number of centroids up to which they are left as they are, here and on the wire.
func (d *Digest) enough() int { return int(2 * d.wireCompression()) }

// joinEqual puts neighbours of one value together, in place.
func joinEqual(cs []centroid) []centroid {
	n := 0
	for _, c := range cs[1:] {
		last := &cs[n]
		if c.mean != last.mean {
			n++
			cs[n] = c
			continue
		}
		mass := min(last.weight()+c.weight(), math.MaxFloat64)
		if last.mass < 0 || c.mass < 0 {
			mass = -mass
		}
		last.mass = mass
	}
	return cs[:n+1]
}

// mergeSorted merges two ascending lists into to, which has their length; of equals, those of a come first. It works
// from both ends at once, since each step waits for the one before, and by conditional moves, since the processor cannot
// foresee which list is next.
func mergeSorted(to, a, b []centroid) {
	for {
		steps := min(len(a), len(b)) / 2
		if steps == 0 {
			break
		}
		i, j, k, l := 0, 0, len(a)-1, len(b)-1
		for n := range steps {
			x, y := &a[i], &b[j]
			second := 0
			if y.mean < x.mean {
				second = 1
			}
			if second != 0 {
				x = y
			}
			to[n] = *x
			j += second
			i += 1 - second

			x, y = &b[l], &a[k]
			second = 0
			if x.mean < y.mean {
				second = 1
			}
			if second != 0 {
				x = y
			}
			to[len(to)-1-n] = *x
			k -= second
			l -= 1 - second
		}
		to, a, b = to[steps:len(to)-steps], a[i:k+1], b[j:l+1]
	}
	for len(a) > 0 && len(b) > 0 {
		if b[0].mean < a[0].mean {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to, a)
	copy(to, b)
}
