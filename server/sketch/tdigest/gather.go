package tdigest

import "math"

// gather moves the waiting values into the centroids.
func (d *Digest) gather() {
	d.settle(true)
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
	case n <= maxRaw+512:
		var scratch [maxRaw + 512]centroid
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
	r.keep(scratch)
}

// keep makes a copy of cs the centroids.
func (r *rest) keep(cs []centroid) {
	if cap(r.centroids) < len(cs) {
		r.centroids = make([]centroid, 0, len(cs)+len(cs)/8) // append would double
	}
	r.centroids = append(r.centroids[:0], cs...)
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
// from both ends at once, since each step waits for the one before, and without branches, since the processor cannot
// foresee which list is next: what is next is read from a table of two, for a condition that chooses what to read is
// made a branch.
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
			from := [2]*centroid{x, y}
			to[n] = *from[second&1]
			j += second
			i += 1 - second

			x, y = &b[l], &a[k]
			second = 0
			if x.mean < y.mean {
				second = 1
			}
			from = [2]*centroid{x, y}
			to[len(to)-1-n] = *from[second&1]
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
