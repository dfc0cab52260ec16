package tdigest

import "math"

// slack is how far, relative to the whole weight, a rank may be off by rounding: 0.07 of 100 samples is the 7th,
// although 0.07*100 is more than 7.
const slack = 1e-12

// Quantile returns the value at q of the weight, by the rule in the package comment: Min for q <= 0, Max for q >= 1, NaN
// when there are no samples or q is NaN. It never is outside of [Min, Max].
func (d *Digest) Quantile(q float64) float64 {
	d.Freeze()
	t := &d.totals
	switch {
	case t.count == 0 || math.IsNaN(q):
		return math.NaN()
	case q <= 0:
		return t.min
	case q >= 1:
		return t.max
	}
	rank := t.count * q
	rank -= t.count * slack
	if !d.raw() {
		return d.rest.at(rank, t)
	}
	if d.mixed() {
		below := 0.0
		for i, w := range d.rest.weights {
			if below += w; below >= rank {
				return d.values[i]
			}
		}
		return t.max
	}
	i := int(math.Ceil(rank/d.weight)) - 1
	return d.values[max(0, min(i, len(d.values)-1))]
}

// at returns the value at a rank among the centroids. A point owns its whole weight. A cluster's mean stands in its
// middle; from there to either side the value runs straight to the next cluster's middle, or to the near edge of a
// point.
func (r *rest) at(rank float64, t *totals) float64 {
	below, i, last := 0.0, 0, len(r.centroids)-1
	for ; i < last; i++ {
		end := below + r.centroids[i].weight()
		if end >= rank {
			break
		}
		below = end
	}
	c := r.centroids[i]
	if c.mass > 0 {
		return c.mean
	}
	end := below + c.weight()
	middle := below + c.weight()/2
	if rank < middle {
		from, x := below, t.min
		if i > 0 {
			x = r.centroids[i-1].mean
			from -= max(0, -r.centroids[i-1].mass/2)
		}
		return between(x, c.mean, (rank-from)/(middle-from))
	}
	x := t.max
	if i < last {
		x = r.centroids[i+1].mean
		end += max(0, -r.centroids[i+1].mass/2)
	}
	return between(c.mean, x, (rank-middle)/(end-middle))
}

// between returns the value at fraction f from x to y. It grows with f to the last bit, and does not overflow.
func between(x, y, f float64) float64 {
	if finite(y - x) {
		return within(x+(y-x)*f, x, y)
	}
	return within(2*(x/2+(y/2-x/2)*f), x, y)
}

// EachCentroid calls f for each centroid, ascending, until f returns false. A small digest's centroids are its samples,
// equal neighbours taken together.
func (d *Digest) EachCentroid(f func(mean, weight float64) bool) {
	d.Freeze()
	if !d.raw() {
		for _, c := range d.rest.centroids {
			if !f(c.mean, c.weight()) {
				return
			}
		}
		return
	}
	for i := 0; i < len(d.values); {
		v, weight := d.values[i], 0.0
		for ; i < len(d.values) && d.values[i] == v; i++ {
			if d.mixed() {
				weight += d.rest.weights[i]
			} else {
				weight += d.weight
			}
		}
		if !f(v, min(weight, math.MaxFloat64)) {
			return
		}
	}
}
