package tdigest

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSize(t *testing.T) {
	assert.EqualValues(t, 96, unsafe.Sizeof(Digest{}))
	assert.EqualValues(t, 120, unsafe.Sizeof(rest{}))
	assert.LessOrEqual(t, digestOf(plain(1)...).Size(), 144, "one sample")
	assert.LessOrEqual(t, digestOf(upTo(512)...).Size(), 96+4096, "512 samples")
	d := New(DefaultCompression)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1_000_000 {
		d.Add(r.NormFloat64(), 1)
	}
	assert.LessOrEqual(t, d.Size(), 11<<10, "without end")
	for range 2000 {
		d.Add(r.NormFloat64(), float64(1+r.IntN(3)))
	}
	assert.LessOrEqual(t, d.Size(), 15<<10, "without end, of unequal weights")
	d = New(MaxCompression)
	for _, v := range lognormal(r, 100_000) {
		d.Add(v, 1)
	}
	d.Reset()
	assert.LessOrEqual(t, d.Size(), 24<<10, "a huge one lets go")
}

// A pooled digest goes through its forms, is merged, read and written without allocating.
func TestNoAllocationWhenReused(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	values := lognormal(rand.New(rand.NewPCG(1, 2)), 5000)
	d, m, o := New(DefaultCompression), New(DefaultCompression), New(DefaultCompression)
	var wire []byte
	cycle := func(n, weights int) func() {
		return func() {
			d.Reset()
			m.Reset()
			for i, v := range values[:n] {
				d.Add(v, float64(1+i%weights))
			}
			d.Freeze()
			_ = d.Quantile(0.5) + d.Quantile(0.99) + d.Sum()
			m.Merge(d)
			m.Merge(d)
			wire = m.AppendBinary(wire[:0])
			if err := o.Decode(wire); err != nil {
				t.Error(err)
			}
			m.Merge(o)
			m.Freeze()
			d.CopyFrom(m)
		}
	}
	for _, weights := range []int{1, 3} {
		for _, n := range []int{1, 100, 500, 5000} {
			run := cycle(n, weights)
			for range 3 {
				run()
			}
			require.Zero(t, testing.AllocsPerRun(5, run), "%d samples, %d weights", n, weights)
		}
	}
}

// Bytes that announce much take memory by what arrives.
func TestDecodeAllocatesByWhatArrives(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	d := New(DefaultCompression)
	_ = d.Decode(entry(1, 1))
	for _, tt := range refusals {
		if len(tt.b) < 1000 {
			assert.Zero(t, testing.AllocsPerRun(5, func() { _ = d.Decode(tt.b) }), tt.name)
		}
	}
	b := message(1000, []float64{0, 10_000}, many(9999)...)
	d = New(DefaultCompression)
	require.NoError(t, d.Decode(b))
	assert.LessOrEqual(t, d.Size(), 3*len(b))
}

// BenchmarkDigestAdd adds lognormal samples, in intervals of 65,536.
func BenchmarkDigestAdd(b *testing.B) {
	const n = 1 << 16
	values := lognormal(rand.New(rand.NewPCG(1, 2)), n)
	addInIntervals(b, values)
}

// addInIntervals adds the values again and again, each time to a digest that was reset.
func addInIntervals(b *testing.B, values []float64) {
	d := New(DefaultCompression)
	b.SetBytes(8)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Add(values[i], 1)
		if i++; i == len(values) {
			i = 0
			d.Reset()
		}
	}
}

// BenchmarkDigestAddShapes adds what settles worse than lognormal samples, or not at all, in intervals of 65,536.
func BenchmarkDigestAddShapes(b *testing.B) {
	const n = 1 << 16
	for _, shape := range []struct {
		name string
		next func(r *rand.Rand, i int) float64
	}{
		{"ascending", func(_ *rand.Rand, i int) float64 { return float64(i) }},
		{"drifting", func(r *rand.Rand, i int) float64 { return float64(i) + 1000*r.NormFloat64() }},
		{"both signs", func(r *rand.Rand, _ int) float64 { return r.NormFloat64() }},
		{"few values", func(r *rand.Rand, _ int) float64 { return math.Floor(10 * r.ExpFloat64()) }},
		{"whole milliseconds", func(r *rand.Rand, _ int) float64 { return math.Floor(100 * r.ExpFloat64()) }},
	} {
		b.Run(shape.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			values := make([]float64, n)
			for i := range values {
				values[i] = shape.next(r, i)
			}
			addInIntervals(b, values)
		})
	}
}

// BenchmarkDigestMerge merges digests that came by the wire, each of 10,000 samples, as a global daemon does for a series
// that 64 local ones have.
func BenchmarkDigestMerge(b *testing.B) { mergeArrived(b, 64) }

// BenchmarkDigestMergeMany does so for 16 series. The 64 digests of one come again so often that the processor learns which
// centroid comes next in each merge; in a daemon they come once.
func BenchmarkDigestMergeMany(b *testing.B) { mergeArrived(b, 1024) }

func mergeArrived(b *testing.B, n int) {
	const perSeries = 64
	r := rand.New(rand.NewPCG(1, 2))
	arrived := make([]*Digest, n)
	for i := range arrived {
		local := New(DefaultCompression)
		for _, v := range lognormal(r, 10_000) {
			local.Add(v, 1)
		}
		arrived[i] = New(DefaultCompression)
		require.NoError(b, arrived[i].Decode(local.AppendBinary(nil)))
		arrived[i].Freeze()
	}
	d := New(DefaultCompression)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		d.Merge(arrived[i])
		if i++; i%perSeries == 0 {
			i %= n
			d.Reset()
		}
	}
}
