package tdigest

import (
	"math"
	"slices"
)

// totals are the aggregates as they are read.
type totals struct {
	count, sum, reciprocal, min, max float64
}

// base adds up samples. Each sum is a pair: what rounding took off the first part is kept in the second (Neumaier's
// compensated summation), so the order of the samples shows in the last bit at most.
type base struct {
	count, sum, reciprocal pair
	min, max               float64 // meaningful when count is not zero
}

// totals rounds the sums.
func (b *base) totals() totals {
	if b.count.hi == 0 {
		return totals{}
	}
	return totals{b.count.value(), b.sum.value(), b.reciprocal.value(), b.min, b.max}
}

// add puts o into b, and says whether a count or a sum went out of range.
func (b *base) add(o *base) (saturated bool) {
	if b.count.hi == 0 {
		*b = *o
		return false
	}
	b.min, b.max = min(b.min, o.min), max(b.max, o.max)
	b.reciprocal.addPair(o.reciprocal)
	count := b.count.addPair(o.count)
	sum := b.sum.addPair(o.sum)
	return count || sum
}

// pair is a sum and its rounding error.
type pair struct{ hi, lo float64 }

func (p *pair) add(x float64) { p.hi, p.lo = addTo(p.hi, p.lo, x) }

func addTo(hi, lo, x float64) (newHi, newLo float64) {
	s := hi + x
	t := s - hi
	return s, lo + ((hi - (s - t)) + (x - t))
}

// addPair adds q and keeps the result finite; it says whether that was needed.
func (p *pair) addPair(q pair) (saturated bool) {
	was := p.hi
	p.add(q.hi)
	p.lo += q.lo
	if p.finite() {
		return false
	}
	*p = pair{hi: saturate(was + q.hi)}
	return true
}

func (p pair) finite() bool { return finite(p.hi + p.lo) }

func (p pair) value() float64 { return saturate(p.hi + p.lo) }

func finite(x float64) bool { return x-x == 0 }

// saturate puts x within ±MaxFloat64.
func saturate(x float64) float64 {
	return max(-math.MaxFloat64, min(x, math.MaxFloat64))
}

// sumUp adds up ascending values, each of the given weight or, if there are weights, of its own. A value of 0 has no
// part in the reciprocal sum: it is told apart.
func sumUp(values, weights []float64, weight float64) (b base, saturated, zero bool) {
	if len(values) == 0 {
		return base{}, false, false
	}
	if values[0] <= 0 && values[len(values)-1] >= 0 {
		_, zero = slices.BinarySearch(values, 0)
	}
	b, saturated = sumAny(values, weights, weight, zero)
	b.min, b.max = values[0], values[len(values)-1]
	return b, saturated, zero
}

// sumAny is sumUp for values in any order, of which none or, by zero, some are 0. It leaves min and max to the caller.
func sumAny(values, weights []float64, weight float64, zero bool) (b base, saturated bool) {
	if len(weights) > 0 || zero {
		b = sumWeighted(values, weights, weight)
	} else {
		b = sumEqual(values, weight)
	}
	if b.count.finite() && b.sum.finite() && b.reciprocal.finite() {
		return b, false
	}
	saturated = b.rescale(values, weights, weight)
	return b, saturated
}

// sumEqual is the hot path. It adds the reciprocals in two plain sums: over a few hundred values they lose nothing that
// a harmonic mean shows.
func sumEqual(values []float64, weight float64) (b base) {
	b.count.hi = weight * float64(len(values))
	var hi, lo, r0, r1 float64
	for ; len(values) >= 2; values = values[2:] {
		hi, lo = addTo(hi, lo, values[0])
		r0 += 1 / values[0]
		hi, lo = addTo(hi, lo, values[1])
		r1 += 1 / values[1]
	}
	for _, v := range values {
		hi, lo = addTo(hi, lo, v)
		r0 += 1 / v
	}
	b.sum = pair{hi * weight, lo * weight}
	b.reciprocal.hi = (r0 + r1) * weight
	return b
}

func sumWeighted(values, weights []float64, weight float64) (b base) {
	for i, v := range values {
		w := weight
		if len(weights) > 0 {
			w = weights[i]
		}
		b.count.add(w)
		b.sum.add(w * v)
		if v != 0 {
			b.reciprocal.add(w / v)
		}
	}
	return b
}

// rescale repeats the sums that overflowed on the way, everything a power of two smaller, so that only a total out of
// range is cut off: then it is ±MaxFloat64. It says whether the count or the sum was.
func (b *base) rescale(values, weights []float64, weight float64) (saturated bool) {
	const down = 1.0 / (1 << 32)
	var count, sum, reciprocal pair
	for i, v := range values {
		w := weight
		if len(weights) > 0 {
			w = weights[i]
		}
		count.add(w * down)
		sum.add(saturate(v * down * w))
		if v != 0 {
			reciprocal.add(saturate(down / v * w))
		}
	}
	replace := func(p *pair, scaled pair) bool {
		if p.finite() {
			return false
		}
		*p = pair{scaled.hi / down, scaled.lo / down}
		if p.finite() {
			return false
		}
		*p = pair{hi: saturate(p.hi)}
		return true
	}
	replace(&b.reciprocal, reciprocal)
	counted := replace(&b.count, count)
	return replace(&b.sum, sum) || counted
}

// total sums up what waits in values, which are sorted, and what is in b.
func (d *Digest) total(b *base) totals {
	var weights []float64
	if d.mixed() {
		weights = d.rest.weights
	}
	batch, saturated, zero := sumUp(d.values, weights, d.weight)
	d.zero = d.zero || zero
	if len(d.values) > 0 && b.add(&batch) {
		saturated = true
	}
	d.saturated = d.saturated || saturated
	return b.totals()
}

// Count returns the weight of all samples, 0 when there are none.
func (d *Digest) Count() float64 { d.Freeze(); return d.totals.count }

// Sum returns the sum of value times weight, correct to the last bits, or ±MaxFloat64 when it is out of range; see
// Saturated.
func (d *Digest) Sum() float64 { d.Freeze(); return d.totals.sum }

// Min returns the least sample, or NaN when there is none.
func (d *Digest) Min() float64 {
	d.Freeze()
	if d.totals.count == 0 {
		return math.NaN()
	}
	return d.totals.min
}

// Max returns the greatest sample, or NaN when there is none.
func (d *Digest) Max() float64 {
	d.Freeze()
	if d.totals.count == 0 {
		return math.NaN()
	}
	return d.totals.max
}

// ReciprocalSum returns the sum of weight divided by value: the count divided by it is the harmonic mean. When a sample
// was 0 it is MaxFloat64.
func (d *Digest) ReciprocalSum() float64 {
	d.Freeze()
	if d.zero {
		return math.MaxFloat64
	}
	return d.totals.reciprocal
}

// Mean returns the weighted mean, or NaN when there is no sample. It lies between Min and Max even when the sum does not
// fit a float64.
func (d *Digest) Mean() float64 {
	d.Freeze()
	t := &d.totals
	if t.count == 0 {
		return math.NaN()
	}
	mean := t.sum / t.count
	if d.saturated {
		mean = 0
		d.EachCentroid(func(m, w float64) bool {
			mean += m * (w / t.count)
			return true
		})
	}
	return within(mean, t.min, t.max)
}

// HMean returns the harmonic mean. It is not defined, and ok is false, without samples, with a sample of 0, with
// samples of both signs, or when the reciprocals do not fit a float64.
func (d *Digest) HMean() (v float64, ok bool) {
	d.Freeze()
	t := &d.totals
	if t.count == 0 || t.min <= 0 && t.max >= 0 || t.reciprocal == 0 || math.Abs(t.reciprocal) == math.MaxFloat64 {
		return 0, false
	}
	return within(t.count/t.reciprocal, t.min, t.max), true
}

// Saturated says whether the count or the sum went past what a float64 holds and was cut to ±MaxFloat64.
func (d *Digest) Saturated() bool { d.Freeze(); return d.saturated }

// within puts x in [lo, hi]; NaN becomes lo.
func within(x, lo, hi float64) float64 {
	if !(x >= lo) {
		return lo
	}
	return min(x, hi)
}
