// Package tdigest summarises weighted samples so that any quantile can be read back, in bounded memory.
//
// A [Digest] is filled by Add and Merge, then read by Quantile and the exact aggregates (Count, Sum, Min, Max,
// ReciprocalSum, HMean), and travels between tiers by AppendBinary and Decode, whose bytes are the original Veneur's
// MergingDigestData message. Up to 512 samples are kept as they came, so small series have exact order statistics;
// beyond that the samples are gathered in centroids after Ted Dunning's merging t-digest ("Computing Extremely Accurate
// Quantiles Using t-Digests", arXiv:1902.04023), finer towards both ends.
//
// # Which value a quantile is
//
// The weighted nearest rank: the least sample x such that the samples up to x carry at least q of the whole weight.
// Nothing is interpolated between samples that are known, so a quantile of a small series is always a value that was
// sent; the median of an even number of equal weights is the lower one of the two in the middle. Only inside a centroid
// of unequal samples is the value interpolated.
//
// # Concurrency
//
// A Digest has one owner at a time. After Freeze, and until the next change, any number of goroutines may read it
// at once.
//
// The package does no I/O, keeps no state of its own, and gives equal bytes for equal calls in equal order.
package tdigest

import "math"

// The bounds of a digest's compression. The paper's useful range; the wire refuses what is outside.
const (
	MinCompression     = 20
	MaxCompression     = 1000
	DefaultCompression = 100
)

// maxRaw is how many samples stay as they came before they are gathered in centroids. It is also how many wait in
// front of the centroids after that: sorting pays by the batch.
const maxRaw = 512

// maxKept bounds the centroids for which Reset keeps the memory. A digest of the default compression stays below it.
const maxKept = 1024

// Digest is a sketch of the distribution of weighted samples. The zero value is an empty digest of the default
// compression. One sample costs 112 B, 512 of them 4 KiB, a series without end some 10 KiB.
//
// It must not be copied by value after its first use: see CopyFrom and Clone.
type Digest struct {
	// values wait here, in the order of their coming or, when frozen, ascending. While there are no centroids they
	// are all the samples there are.
	values []float64
	// weight is the weight of each of values. When they differ it is NaN, which no weight equals, and rest.weights has
	// them.
	weight float64
	// rest holds what most digests never need: unequal weights and centroids.
	rest *rest

	totals      totals
	compression float64
	frozen      bool
	saturated   bool // a sum or a count did not fit a float64
	zero        bool // a sample was 0, so the reciprocal sum is without bound
}

// rest is the part of a digest that a series with few equal-weight samples does without.
type rest struct {
	// weights are the weights of values when they differ, else empty.
	weights []float64
	// centroids are ascending.
	centroids []centroid
	// base sums up what is in the centroids.
	base base
	// down is the way the last gathering went.
	down bool
	// coarse says that centroids have come by the wire: then there is no use in finer ones here.
	coarse bool
	// pause is how many gatherings go by before values are settled again, lastPause how many the last time, and settled how
	// many settlings there were since the last gathering.
	pause, lastPause, settled uint8
}

// New returns an empty digest. The compression is the one written on the wire, and says how fine the centroids are: a
// quantile near the middle is found within about 1/compression of the weight at worst. It is put within
// [MinCompression, MaxCompression].
func New(compression float64) *Digest {
	return &Digest{compression: clampCompression(compression)}
}

func clampCompression(c float64) float64 {
	if !(c >= MinCompression) {
		return MinCompression
	}
	return min(c, MaxCompression)
}

// Add takes a sample of the given weight. Both must be finite and the weight positive: anything else has been refused,
// and counted, by the parser, and is left out here.
//
// The cost is that of an append; each 512th call, or so, settles or gathers what waits.
func (d *Digest) Add(value, weight float64) {
	n := len(d.values)
	if weight != d.weight || n == cap(d.values) || n == 0 || !finite(value) { // without values no weight is known
		d.addSlowly(value, weight)
		return
	}
	d.values = d.values[:n+1]
	d.values[n] = value + 0 // -0 + 0 is 0: there is one zero only
	d.frozen = false
}

// addSlowly is Add where something has to be made first: room, or a weight known.
func (d *Digest) addSlowly(value, weight float64) {
	if !(weight > 0 && weight <= math.MaxFloat64) || !finite(value) {
		return
	}
	if len(d.values) == cap(d.values) {
		d.makeRoom()
	}
	if weight != d.weight {
		d.setWeight(weight)
	}
	d.values = append(d.values, value+0)
	d.frozen = false
}

// makeRoom gives values place for one more, by growing or by gathering.
func (d *Digest) makeRoom() {
	if len(d.values) >= maxRaw {
		if !d.settle(false) {
			d.gather()
		}
		return
	}
	grown := make([]float64, len(d.values), min(max(2, 4*cap(d.values)), maxRaw))
	copy(grown, d.values)
	d.values = grown
}

// mixed says whether the waiting values have a weight each.
func (d *Digest) mixed() bool {
	return math.IsNaN(d.weight)
}

// setWeight makes the next value's weight known, and gives every value a weight of its own from the first that differs.
func (d *Digest) setWeight(weight float64) {
	if len(d.values) == 0 {
		d.weight = weight
		return
	}
	r := d.needRest()
	if !d.mixed() {
		for range d.values {
			r.weights = append(r.weights, d.weight)
		}
		d.weight = math.NaN()
	}
	r.weights = append(r.weights, weight)
}

func (d *Digest) needRest() *rest {
	if d.rest == nil {
		d.rest = new(rest)
	}
	return d.rest
}

// raw says whether the samples are all still there as they came.
func (d *Digest) raw() bool {
	return d.rest == nil || len(d.rest.centroids) == 0
}

// Freeze brings the digest in the form in which it is read. Until the next Add, Merge, Decode, CopyFrom or Reset all
// methods that do not change it may run at once. Without Freeze the first of them does this work, and then only one
// goroutine may read.
func (d *Digest) Freeze() {
	if d.frozen {
		return
	}
	if d.raw() {
		d.sortValues()
		d.totals = d.total(new(base))
	} else {
		d.gather()
		d.totals = d.rest.base.totals()
	}
	d.frozen = true
}

// Reset empties the digest and keeps its memory, so that the next interval of a series like this one allocates nothing.
// What a huge digest from elsewhere has taken is let go.
func (d *Digest) Reset() {
	d.clearValues()
	if r := d.rest; r != nil {
		if cap(r.centroids) > maxKept {
			r.centroids = nil
		}
		*r = rest{weights: r.weights[:0], centroids: r.centroids[:0]}
	}
	d.totals = totals{}
	d.frozen, d.saturated, d.zero = false, false, false
}

func (d *Digest) clearValues() {
	d.values, d.weight = d.values[:0], 0
	if d.rest != nil {
		d.rest.weights = d.rest.weights[:0]
	}
}

// CopyFrom makes d equal to o, in d's own memory.
func (d *Digest) CopyFrom(o *Digest) {
	if d == o {
		return
	}
	values, r := d.values[:0], d.rest
	if cap(values) < len(o.values) {
		values = make([]float64, 0, cap(o.values))
	}
	values = append(values, o.values...)
	if o.rest != nil {
		if r == nil {
			r = new(rest)
		}
		weights, centroids := append(r.weights[:0], o.rest.weights...), append(r.centroids[:0], o.rest.centroids...)
		*r = *o.rest
		r.weights, r.centroids = weights, centroids
	} else if r != nil {
		*r = rest{weights: r.weights[:0], centroids: r.centroids[:0]}
	}
	*d = *o
	d.values, d.rest = values, r
}

// Clone returns a copy of d that shares nothing with it.
func (d *Digest) Clone() *Digest {
	c := new(Digest)
	c.CopyFrom(d)
	return c
}

// Size returns the bytes of memory the digest holds, for pools that let the large ones go.
func (d *Digest) Size() int {
	const header, restHeader = 96, 120
	n := header + 8*cap(d.values)
	if r := d.rest; r != nil {
		n += restHeader + 8*cap(r.weights) + 16*cap(r.centroids)
	}
	return n
}
