package tdigest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The ranks are as near for other distributions as for the lognormal one of TestAccuracy. The seeds are such that a full
// cluster refused some fifty values, which as a centroid of their own would shift the ranks by 0.002.
func TestAccuracyOfShapes(t *testing.T) {
	const n = 100_000
	for _, shape := range []struct {
		name string
		next func(r *rand.Rand, i int) float64
	}{
		{"lognormal", func(r *rand.Rand, _ int) float64 { return math.Exp(r.NormFloat64()) }},
		{"uniform", func(r *rand.Rand, _ int) float64 { return r.Float64() }},
		{"normal", func(r *rand.Rand, _ int) float64 { return 10 + r.NormFloat64() }},
		{"heavy tail", func(r *rand.Rand, _ int) float64 { return math.Pow(r.Float64(), -2) }},
		{"drifting", func(r *rand.Rand, i int) float64 { return 10 + float64(i)/n + r.NormFloat64() }},
		{"in steps", func(r *rand.Rand, i int) float64 { return 10 + 3*float64(5*i/n) + r.NormFloat64() }},
		{"sawtooth", func(_ *rand.Rand, i int) float64 { return float64(i % 7919) }},
		{"ascending", func(_ *rand.Rand, i int) float64 { return float64(i) }},
		{"descending", func(_ *rand.Rand, i int) float64 { return -float64(i) }},
	} {
		for _, seed := range []uint64{1, 2, 15, 31, 86} {
			r := rand.New(rand.NewPCG(seed, 77))
			values := make([]float64, n)
			d := New(DefaultCompression)
			for i := range values {
				values[i] = shape.next(r, i)
				d.Add(values[i], 1)
			}
			slices.Sort(values)
			for q, bound := range map[float64]float64{0.001: 8e-5, 0.01: 3e-4, 0.1: 9e-4, 0.5: 5e-4, 0.9: 9e-4, 0.99: 3e-4, 0.999: 8e-5} {
				assert.LessOrEqual(t, rankError(values, d.Quantile(q), q), bound, "%s, seed %d, q %v", shape.name, seed, q)
			}
		}
	}
}

// What waits is not in base, what has settled is, and no centroid goes past another.
func TestSettledValuesCountOnce(t *testing.T) {
	r := newRand(t)
	for _, shape := range shapes {
		d := New(DefaultCompression)
		for i := range 30_000 {
			d.Add(shape.next(r, i), 2)
			if i%100 != 99 {
				continue
			}
			waiting := 2 * float64(len(d.values))
			if d.raw() {
				require.Equal(t, 2*float64(i+1), waiting, shape.name)
				continue
			}
			mass, before := 0.0, d.rest.base.min
			for _, c := range d.rest.centroids {
				mass += c.weight()
				require.GreaterOrEqual(t, c.mean, before, shape.name)
				before = c.mean
			}
			require.LessOrEqual(t, before, d.rest.base.max, shape.name)
			require.Equal(t, 2*float64(i+1), waiting+d.rest.base.count.value(), shape.name)
			require.InEpsilon(t, d.rest.base.count.value(), mass, 1e-12, shape.name)
		}
	}
}

// Most of a steady stream settles: else it would be sorted 58 times here.
func TestSteadyStreamSettles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d, gatherings, settlings := New(DefaultCompression), 0, 0
	for _, v := range lognormal(r, 30_000) {
		before := len(d.values)
		d.Add(v, 1)
		switch {
		case len(d.values) == 1:
			gatherings++
		case len(d.values) < before:
			settlings++
		}
	}
	assert.Less(t, gatherings, 20)
	assert.Greater(t, settlings, 50)
}

// Input in which nothing settles is soon let alone, and one that is steady again is found out.
func TestSettlingGivesUp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := digestOf(upTo(30_000)...)
	assert.GreaterOrEqual(t, int(d.rest.lastPause), maxPause/2, "ascending")
	for range 100_000 {
		d.Add(30_000*r.Float64(), 1)
	}
	assert.Zero(t, d.rest.lastPause, "steady")
}

// A zero that settles tells as one that is gathered.
func TestSettledZero(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := New(DefaultCompression)
	for i := range 40_000 {
		d.Add(float64(i%50+1), 1)
	}
	require.NotEqual(t, math.MaxFloat64, d.ReciprocalSum())
	d.Reset()
	for i := range 40_000 {
		d.Add(float64(r.IntN(50)), 1)
		if i == 20_000 {
			d.Freeze()
			d.zero = false // only those to come shall tell
		}
	}
	assert.Equal(t, math.MaxFloat64, d.ReciprocalSum())
	_, ok := d.HMean()
	assert.False(t, ok)
}

// The ends of what a float64 holds are gathered as ever.
func TestHugeValuesDoNotSettle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, scale := range []float64{math.MaxFloat64, math.MaxFloat64 / 1e4, 1} {
		for _, weight := range []float64{1, 1e-300, 1e300} {
			d, values := New(DefaultCompression), make([]float64, 50_000)
			for i := range values {
				values[i] = scale * r.Float64()
				d.Add(values[i], weight)
			}
			checkSane(t, d)
			slices.Sort(values)
			for q := 0.1; q < 1; q += 0.1 {
				assert.LessOrEqual(t, rankError(values, d.Quantile(q), q), 0.002, "%v, %v, q %v", scale, weight, q)
			}
		}
	}
}

// weightOf adds up what the centroids weigh.
func weightOf(d *Digest) (weight float64) {
	d.EachCentroid(func(_, w float64) bool {
		weight += w
		return true
	})
	return weight
}

// Digests of a high compression, of a few values in several weights, have more centroids than a settling has places for once they are merged.
func TestManyCentroidsAreAllKept(t *testing.T) {
	for _, values := range []int{100, 150, 200, 250} {
		r := newRand(t)
		of := func(n, weights int) *Digest {
			d := New(MaxCompression)
			for i := range n {
				d.Add(float64(1+i*values/n), float64(1+r.IntN(weights)))
			}
			return d
		}
		d := of(values, 50)
		for range 9 {
			d.Merge(of(values, 50))
		}
		d.Merge(of(40, 1))
		d.Freeze()
		require.Equal(t, d.Count(), weightOf(d), "%d values", values)
		require.InDelta(t, 0.99*float64(values), d.Quantile(0.99), 2+0.02*float64(values), "%d values", values)
	}
}

// What comes by the wire at a sample rate is clusters, of which many have the same mean: what comes between two means is not theirs.
func TestClustersOfOneMeanTakeNoOtherValues(t *testing.T) {
	var values []float64
	o := New(DefaultCompression)
	add := func(d *Digest, v float64) {
		d.Add(v, 10)
		for range 10 {
			values = append(values, v)
		}
	}
	for _, v := range []struct {
		n     int
		value float64
	}{{30, -1}, {100, 0}, {15, 10}} {
		for range v.n {
			add(o, v.value)
		}
	}
	d := decoded(t, o.AppendBinary(nil))
	r := newRand(t)
	for i := range 2000 {
		add(d, 10*r.Float64())
		if i%37 == 0 {
			d.Freeze()
		}
		if i%400 != 39 {
			continue
		}
		sorted, before := slices.Clone(values), math.Inf(-1)
		slices.Sort(sorted)
		for _, q := range []float64{0.01, 0.1, 0.2, 0.5, 0.7, 0.75, 0.9, 0.95, 0.99} {
			v := d.Quantile(q)
			require.GreaterOrEqual(t, v, before, "q %v after %d", q, i)
			require.LessOrEqual(t, rankError(sorted, v, q), 0.1, "q %v after %d", q, i)
			before = v
		}
		require.InDelta(t, d.Count(), weightOf(d), 1e-6)
	}
}

func TestNoWeightIsNoSample(t *testing.T) {
	d := New(DefaultCompression)
	d.Add(1, 1)
	d.Add(2, 1)
	d.Reset()
	d.Add(7, 0)
	require.Zero(t, d.Count())
	d.Add(5, 1)
	d.Add(6, 0)
	require.Equal(t, []float64{1, 5, 5}, []float64{d.Count(), d.Min(), d.Max()})
}
