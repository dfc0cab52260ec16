package tdigest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rankError says how far q is from the ranks that v has among sorted values.
func rankError(sorted []float64, v, q float64) float64 {
	from, _ := slices.BinarySearch(sorted, v)
	to := from
	for to < len(sorted) && sorted[to] == v {
		to++
	}
	n := float64(len(sorted))
	return max(0, float64(from)/n-q, q-float64(to)/n)
}

func TestAccuracy(t *testing.T) {
	const n = 100_000
	for seed := range uint64(5) {
		values := lognormal(rand.New(rand.NewPCG(seed, 9)), n)
		d := New(DefaultCompression)
		for _, v := range values {
			d.Add(v, 1)
		}
		slices.Sort(values)
		assert.LessOrEqual(t, rankError(values, d.Quantile(0.5), 0.5), 4e-4, "p50, seed %d", seed)
		assert.LessOrEqual(t, rankError(values, d.Quantile(0.99), 0.99), 1e-4, "p99, seed %d", seed)
		assert.InEpsilon(t, values[n*999/1000-1], d.Quantile(0.999), 0.02, "p999, seed %d", seed)

		w := decoded(t, d.AppendBinary(nil))
		assert.LessOrEqual(t, rankError(values, w.Quantile(0.5), 0.5), 8e-4, "p50 by wire, seed %d", seed)
		assert.LessOrEqual(t, rankError(values, w.Quantile(0.99), 0.99), 4e-4, "p99 by wire, seed %d", seed)
		assert.InEpsilon(t, values[n*999/1000-1], w.Quantile(0.999), 0.03, "p999 by wire, seed %d", seed)
	}
}

// shapes of input that are hard for some sketch or other.
var shapes = []struct {
	name string
	next func(r *rand.Rand, i int) float64
}{
	{"uniform", func(r *rand.Rand, _ int) float64 { return r.Float64() }},
	{"ascending", func(_ *rand.Rand, i int) float64 { return float64(i) }},
	{"descending", func(_ *rand.Rand, i int) float64 { return -float64(i) }},
	{"both signs", func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
	{"heavy tail", func(r *rand.Rand, _ int) float64 { return math.Pow(r.Float64(), -2) }},
	{"whole milliseconds", func(r *rand.Rand, _ int) float64 { return math.Floor(100 * r.ExpFloat64()) }},
	{"two hills", func(r *rand.Rand, _ int) float64 { return r.NormFloat64() + float64(r.IntN(2))*1000 }},
	{"half of them zero", func(r *rand.Rand, _ int) float64 { return math.Max(0, r.NormFloat64()) }},
	{"tiny and huge", func(r *rand.Rand, _ int) float64 { return math.Ldexp(r.Float64(), r.IntN(1800)-900) }},
	{"in order, then shuffled", func(r *rand.Rand, i int) float64 {
		if i < 10_000 {
			return float64(i)
		}
		return float64(r.IntN(20_000))
	}},
}

// However the same samples are spread over digests and these are merged, and whether or not they go by the wire, the
// totals are the same and the ranks near.
func TestShardingDoesNotMatter(t *testing.T) {
	r := newRand(t)
	const n = 20_000
	for _, shape := range shapes {
		values := make([]float64, n)
		exact := new(big.Float).SetPrec(2000)
		for i := range values {
			values[i] = shape.next(r, i)
			exact.Add(exact, big.NewFloat(values[i]))
		}
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		sum, _ := exact.Float64()
		scale := math.Abs(sorted[0]) + math.Abs(sorted[n-1])
		for _, parts := range []int{1, 2, 16, 200, 10_000} {
			for _, wire := range []bool{false, true} {
				d := New(DefaultCompression)
				shards := make([]*Digest, parts)
				for i := range shards {
					shards[i] = New(DefaultCompression)
				}
				for i, v := range values {
					shards[i%parts].Add(v, 1)
				}
				for _, o := range shards {
					if wire {
						o = decoded(t, o.AppendBinary(nil))
					}
					d.Merge(o)
				}
				require.EqualValues(t, n, d.Count(), "%s, %d parts", shape.name, parts)
				require.Equal(t, sorted[0], d.Min(), "%s, %d parts", shape.name, parts)
				require.Equal(t, sorted[n-1], d.Max(), "%s, %d parts", shape.name, parts)
				rounding := 1e-15 * scale
				if wire { // the sum of means is another one
					rounding = 1e-12 * scale * n
				}
				require.InDelta(t, sum, d.Sum(), rounding, "%s, %d parts", shape.name, parts)
				before := sorted[0]
				for _, q := range []float64{0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999} {
					v := d.Quantile(q)
					require.GreaterOrEqual(t, v, before, "%s, %d parts, q %v", shape.name, parts, q)
					before = v
					bound := 0.0006 + 0.06*min(q, 1-q)
					switch {
					case shape.name == "half of them zero" && wire: // half of the largest cluster there may be
						bound = 0.0006 + min(q, 1-q)/6
					case shape.name == "tiny and huge": // a mean says little of its cluster there
						bound = 0.15
					case shape.name == "whole milliseconds" && wire: // one value is one percent of all
						bound += 0.01
					}
					require.LessOrEqual(t, rankError(sorted, v, q), bound, "%s, %d parts, wire %v, q %v", shape.name, parts, wire, q)
				}
			}
		}
	}
}

func TestB062ManyOnePointDigests(t *testing.T) {
	r := newRand(t)
	for _, wire := range []bool{false, true} {
		d := New(DefaultCompression)
		for _, i := range r.Perm(10_000) {
			o := digestOf(plain(float64(i + 1))...)
			if wire {
				o = decoded(t, o.AppendBinary(nil))
			}
			d.Merge(o)
		}
		assert.EqualValues(t, 10_000, d.Count())
		assert.EqualValues(t, 10_000*10_001/2, d.Sum())
		assert.InDelta(t, 5000, d.Quantile(0.5), 20)
		d.EachCentroid(func(m, w float64) bool {
			require.True(t, w > 0 && m >= 1 && m <= 10_000, "%v of %v", w, m)
			return true
		})
	}
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b []sample
	}{
		{"raw and raw", upTo(10), upTo(20)},
		{"raw and raw, too many to stay", upTo(300), upTo(300)},
		{"raw and weighted", upTo(10), weighted(1, 2, 3, 4)},
		{"weighted and raw", weighted(1, 2, 3, 4), upTo(400)},
		{"weighted and many weighted", weighted(slices.Repeat([]float64{2, 3, 4, 5}, 200)...), weighted(slices.Repeat([]float64{1, 3, 4, 7}, 200)...)},
		{"empty and gathered", nil, upTo(3000)},
		{"raw and gathered", upTo(300), upTo(3000)},
		{"gathered and few", upTo(3000), upTo(5)},
		{"gathered and raw", upTo(3000), upTo(400)},
		{"gathered and gathered", upTo(3000), upTo(2000)},
		{"zeros", plain(0, 0), plain(-1, 4)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := digestOf(tt.a...), digestOf(tt.b...)
			before := b.AppendBinary(nil)
			a.Merge(b)
			want := digestOf(append(slices.Clone(tt.a), tt.b...)...)
			assert.Equal(t, want.Count(), a.Count())
			assert.Equal(t, want.Sum(), a.Sum())
			assert.Equal(t, want.Min(), a.Min())
			assert.Equal(t, want.Max(), a.Max())
			assert.InEpsilon(t, want.ReciprocalSum(), a.ReciprocalSum(), 1e-14)
			assert.Equal(t, before, b.AppendBinary(nil), "b is as it was")
			count, sum := a.Count(), a.Sum()
			a.Merge(a)
			assert.Equal(t, 2*count, a.Count(), "with itself")
			assert.InEpsilon(t, 2*sum, a.Sum(), 1e-15, "with itself")
		})
	}
}

// Random digests of wild values: nothing is ever NaN, infinite, out of order or out of range.
func TestWildValues(t *testing.T) {
	r := newRand(t)
	wild := func() float64 {
		switch r.IntN(6) {
		case 0:
			return 0
		case 1:
			return math.MaxFloat64 * (2*r.Float64() - 1)
		case 2:
			return math.SmallestNonzeroFloat64 * float64(r.IntN(9)-4)
		case 3:
			return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000)
		}
		return math.Floor(r.NormFloat64() * 10)
	}
	weight := func() float64 {
		switch r.IntN(20) {
		case 0:
			return math.Ldexp(1+r.Float64(), r.IntN(2000)-1000)
		case 1:
			return math.MaxFloat64
		}
		return float64(1 + r.IntN(3))
	}
	for range 100 {
		d := New(float64(r.IntN(1200)))
		for range r.IntN(5) {
			o := New(float64(r.IntN(1200)))
			for range []int{1, 10, 600, 3000}[r.IntN(4)] {
				o.Add(wild(), weight())
			}
			if r.IntN(2) == 0 {
				o = decoded(t, o.AppendBinary(nil))
			}
			d.Merge(o)
			d.Add(wild(), weight())
		}
		if d.Count() == 0 {
			continue
		}
		checkSane(t, d)
		checkSane(t, decoded(t, d.AppendBinary(nil)))
	}
}

// Weights that defeat the rule by which clusters are sized do not make a digest grow.
func TestUnequalWeightsDoNotGrow(t *testing.T) {
	for name, weight := range map[string]func(i int) float64{
		"heavy ones at the lower end": func(i int) float64 { return map[bool]float64{true: 1e30, false: 1}[i < 3] },
		"heaviest possible":           func(int) float64 { return math.MaxFloat64 },
		"lightest and heaviest":       func(i int) float64 { return []float64{math.SmallestNonzeroFloat64, math.MaxFloat64}[i%2] },
		"growing":                     func(i int) float64 { return math.Ldexp(1, i%2000-1000) },
	} {
		d, o := New(DefaultCompression), New(MinCompression)
		for i := range 50_000 {
			d.Add(float64(i), weight(i))
			o.Add(-float64(i), weight(i))
		}
		for _, d := range []*Digest{d, o, decoded(t, d.AppendBinary(nil)), decoded(t, o.AppendBinary(nil))} {
			d.Freeze()
			n := 0
			d.EachCentroid(func(float64, float64) bool { n++; return true })
			assert.LessOrEqual(t, n, maxCentroids(MinCompression), name)
			checkSane(t, d)
		}
	}
}

// checkSane asserts what holds for every digest that is not empty.
func checkSane(t *testing.T, d *Digest) {
	t.Helper()
	least, most := d.Min(), d.Max()
	require.True(t, finite(d.Count()) && d.Count() > 0, "count %v", d.Count())
	require.True(t, finite(d.Sum()), "sum %v", d.Sum())
	require.True(t, finite(d.ReciprocalSum()), "reciprocal sum %v", d.ReciprocalSum())
	require.True(t, finite(least) && finite(most) && least <= most, "min %v, max %v", least, most)
	require.True(t, d.Mean() >= least && d.Mean() <= most, "mean %v", d.Mean())
	if hmean, ok := d.HMean(); ok {
		require.True(t, hmean >= least && hmean <= most, "harmonic mean %v", hmean)
	}
	before := least
	for q := 0.0; q <= 1; q += 1. / 128 {
		v := d.Quantile(q)
		require.True(t, v >= before && v <= most, "q %v: %v after %v", q, v, before)
		before = v
	}
	before = least
	d.EachCentroid(func(m, w float64) bool {
		require.True(t, m >= before && m <= most && w > 0 && finite(w), "%v of %v after %v", w, m, before)
		before = m
		return true
	})
}
