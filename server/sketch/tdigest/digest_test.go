package tdigest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sample is a value with a weight; plain numbers in tests have the weight 1.
type sample struct{ value, weight float64 }

func weighted(pairs ...float64) (samples []sample) {
	for ; len(pairs) > 0; pairs = pairs[2:] {
		samples = append(samples, sample{pairs[0], pairs[1]})
	}
	return samples
}

func plain(values ...float64) (samples []sample) {
	for _, v := range values {
		samples = append(samples, sample{v, 1})
	}
	return samples
}

func times(n int, value float64) (samples []sample) {
	for range n {
		samples = append(samples, sample{value, 1})
	}
	return samples
}

func digestOf(samples ...sample) *Digest {
	d := New(DefaultCompression)
	for _, s := range samples {
		d.Add(s.value, s.weight)
	}
	return d
}

func newRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func lognormal(r *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Exp(r.NormFloat64())
	}
	return values
}

func upTo(n int) []sample {
	samples := make([]sample, n)
	for i := range samples {
		samples[i] = sample{float64(i + 1), 1}
	}
	return samples
}

func TestQuantile(t *testing.T) {
	b056 := weighted(3, 4, 2, 1, 1, 2)
	b057 := append(times(1000, 1), plain(1e7)...)
	for _, tt := range []struct {
		name    string
		samples []sample
		q, want float64
	}{
		{"one sample", plain(42), 0.5, 42},
		{"median of two is the lower", plain(1, 2), 0.5, 1},
		{"median of three", plain(3, 1, 2), 0.5, 2},
		{"median of four is the lower of the middle", plain(4, 3, 2, 1), 0.5, 2},
		{"below 0 is the least", plain(1, 2, 3), -1, 1},
		{"0 is the least", plain(1, 2, 3), 0, 1},
		{"1 is the greatest", plain(1, 2, 3), 1, 3},
		{"above 1 is the greatest", plain(1, 2, 3), 2, 3},
		{"7 % of 100 is the 7th", upTo(100), 0.07, 7},
		{"29 % of 100 is the 29th", upTo(100), 0.29, 29},
		{"99 % of 100 is the 99th", upTo(100), 0.99, 99},
		{"99.9 % of 100 is the last", upTo(100), 0.999, 100},
		{"equal weights other than 1", weighted(1, 10, 2, 10, 3, 10, 4, 10), 0.75, 3},
		{"weights that do not fit binary", weighted(1, 1/0.3, 2, 1/0.3, 3, 1/0.3), 1. / 3, 1},
		{"a heavy sample", weighted(1, 1, 2, 98, 3, 1), 0.99, 2},
		{"behind a heavy sample", weighted(1, 1, 2, 98, 3, 1), 0.991, 3},
		{"B056 p10", b056, 0.1, 1},
		{"B056 p50", b056, 0.5, 3},
		{"B056 p99", b056, 0.99, 3},
		{"B057 p50", b057, 0.5, 1},
		{"B057 p95", b057, 0.95, 1},
		{"B057 p99", b057, 0.99, 1},
		{"B057 p999", b057, 0.999, 1},
		{"B057 max", b057, 1, 1e7},
		{"B057 beyond the last but one", b057, 0.9995, 1e7},
		{"512 samples are exact", upTo(512), 0.5, 256},
		{"-0 is 0", plain(math.Copysign(0, -1)), 0.5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, digestOf(tt.samples...).Quantile(tt.q))
			slices.Reverse(tt.samples)
			assert.Equal(t, tt.want, digestOf(tt.samples...).Quantile(tt.q), "in reverse")
		})
	}
}

func TestAggregates(t *testing.T) {
	undefined := math.NaN()
	for _, tt := range []struct {
		name                           string
		samples                        []sample
		count, sum, min, max, avg, hme float64
	}{
		{"one", plain(4), 1, 4, 4, 4, 4, 4},
		{"three halves", plain(0.5, 0.5, 0.5), 3, 1.5, 0.5, 0.5, 0.5, 0.5},
		{"ten tenths", times(10, 0.1), 10, 1, 0.1, 0.1, 0.1, 0.1},
		{"at a rate of 0.1", weighted(7, 1/0.1), 10, 70, 7, 7, 7, 7},
		{"at a rate of 0.3, thrice", weighted(7, 1/0.3, 7, 1/0.3, 7, 1/0.3), 10, 70, 7, 7, 7, 7},
		{"harmonic mean", plain(1, 2, 4), 3, 7, 1, 4, 7. / 3, 3 / 1.75},
		{"weighted harmonic mean", weighted(1, 1, 4, 4), 5, 17, 1, 4, 3.4, 2.5},
		{"negative harmonic mean", plain(-1, -2, -4), 3, -7, -4, -1, -7. / 3, -3 / 1.75},
		{"B041 sum 0", plain(-1, 1), 2, 0, -1, 1, 0, undefined},
		{"B042 zero", plain(0), 1, 0, 0, 0, 0, undefined},
		{"B042 zero among others", plain(0, 2, 4), 3, 6, 0, 4, 2, undefined},
		{"B042 both signs, sum not 0", plain(-1, 3), 2, 2, -1, 3, 1, undefined},
		{"-0", plain(math.Copysign(0, -1), 2), 2, 2, 0, 2, 1, undefined},
		{"cancelling", plain(1e16, 1, -1e16), 3, 1, -1e16, 1e16, 1. / 3, undefined},
		{"reciprocals out of range", plain(5e-324, 1), 2, 1, 5e-324, 1, 0.5, undefined},
		{"B056", weighted(3, 4, 2, 1, 1, 2), 7, 16, 1, 3, 16. / 7, 7 / (2 + 0.5 + 4./3)},
		{"many", times(100_000, 0.1), 100_000, 10_000, 0.1, 0.1, 0.1, 0.1},
		{"many, weighted", weighted(slices.Repeat([]float64{0.1, 1 / 0.3}, 30_000)...), 100_000, 10_000, 0.1, 0.1, 0.1, 0.1},
		{"many and a zero", append(times(5000, 0.1), plain(0)...), 5001, 500, 0, 0.1, 500. / 5001, undefined},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := digestOf(tt.samples...)
			assert.Equal(t, tt.count, d.Count(), "count")
			assert.Equal(t, tt.sum, d.Sum(), "sum")
			assert.Equal(t, tt.min, d.Min(), "min")
			assert.Equal(t, tt.max, d.Max(), "max")
			assert.InEpsilon(t, tt.avg+1, d.Mean()+1, 1e-15, "mean")
			hmean, ok := d.HMean()
			assert.Equal(t, !math.IsNaN(tt.hme), ok, "harmonic mean defined")
			if ok {
				assert.InEpsilon(t, tt.hme, hmean, 1e-14, "harmonic mean")
			} else {
				assert.Zero(t, hmean)
			}
			assert.False(t, math.IsInf(d.ReciprocalSum(), 0) || math.IsNaN(d.ReciprocalSum()), "reciprocal sum")
			assert.False(t, d.Saturated())
		})
	}
}

func TestEmpty(t *testing.T) {
	used := digestOf(upTo(1000)...)
	used.Reset()
	for name, d := range map[string]*Digest{"zero value": {}, "new": New(50), "reset": used} {
		assert.Zero(t, d.Count(), name)
		assert.Zero(t, d.Sum(), name)
		assert.Zero(t, d.ReciprocalSum(), name)
		for what, v := range map[string]float64{"min": d.Min(), "max": d.Max(), "mean": d.Mean(), "median": d.Quantile(0.5)} {
			assert.True(t, math.IsNaN(v), "%s: %s", name, what)
		}
		_, ok := d.HMean()
		assert.False(t, ok, name)
		d.EachCentroid(func(float64, float64) bool { t.Error("a centroid of nothing"); return true })
		d.Merge(d)
		d.Merge(New(100))
		assert.Zero(t, d.Count(), name)
	}
	assert.True(t, math.IsNaN(digestOf(plain(1)...).Quantile(math.NaN())))
}

func TestAddLeavesOutWhatIsNoSample(t *testing.T) {
	d := digestOf(plain(1, 2)...)
	inf, nan := math.Inf(1), math.NaN()
	for _, s := range weighted(nan, 1, inf, 1, -inf, 1, 1, 0, 1, -1, 1, nan, 1, inf, nan, nan) {
		d.Add(s.value, s.weight)
	}
	assert.Equal(t, 2.0, d.Count())
	assert.Equal(t, 3.0, d.Sum())
}

func TestB061HugeValues(t *testing.T) {
	for _, tt := range []struct {
		name      string
		samples   []sample
		sum       float64
		saturated bool
	}{
		{"B061", plain(1e308, 1e308, -1e308, 1.7e308), math.MaxFloat64, true},
		{"down", plain(-1e308, -1e308), -math.MaxFloat64, true},
		{"over and back", plain(1e308, 1e308, -1e308), 1e308, false},
		{"by weight", weighted(1e300, 1e10), math.MaxFloat64, true},
		{"by a weight each", weighted(1e300, 1e10, -1e300, 1e9), math.MaxFloat64, true},
		{"weights", weighted(1, 1.5e308, 2, 1.5e308), math.MaxFloat64, true},
		{"often", append(times(3000, 1.7e308), times(3000, -1.7e308)...), 0, true},
		{"many", times(3000, math.MaxFloat64), math.MaxFloat64, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := digestOf(tt.samples...)
			o := New(DefaultCompression)
			o.Merge(d)
			for _, d := range []*Digest{d, o, decoded(t, d.AppendBinary(nil))} {
				if tt.sum != 0 {
					assert.Equal(t, tt.sum, d.Sum())
				}
				assert.Equal(t, tt.saturated, d.Saturated() || tt.sum == 0)
				least, most := math.Inf(1), math.Inf(-1)
				for _, s := range tt.samples {
					least, most = min(least, s.value), max(most, s.value)
				}
				require.Equal(t, least, d.Min())
				require.Equal(t, most, d.Max())
				before := least
				for q := 0.0; q <= 1; q += 1. / 64 {
					v := d.Quantile(q)
					require.True(t, v >= before && v <= most, "q %v: %v after %v", q, v, before)
					before = v
				}
				require.True(t, d.Mean() >= least && d.Mean() <= most, "mean %v", d.Mean())
				require.True(t, finite(d.Count()) && finite(d.ReciprocalSum()))
				d.EachCentroid(func(m, w float64) bool {
					require.True(t, m >= least && m <= most && w > 0 && finite(w), "%v of %v", w, m)
					return true
				})
			}
		})
	}
}

// Up to 512 samples, of any weights, every quantile is the sample that the rule says.
func TestSmallDigestsAreExact(t *testing.T) {
	r := newRand(t)
	for range 300 {
		n := 1 + r.IntN(maxRaw)
		samples := make([]sample, n)
		mixed := r.IntN(2) == 0
		for i := range samples {
			samples[i] = sample{math.Floor(r.NormFloat64() * float64(n)), 1}
			if mixed {
				samples[i].weight = float64(1 + r.IntN(9))
			}
		}
		d := New(DefaultCompression)
		for i, s := range samples {
			d.Add(s.value, s.weight)
			if i%100 == 50 {
				d.Freeze() // reading in between changes nothing
			}
		}
		slices.SortFunc(samples, func(x, y sample) int { return int(x.value - y.value) })
		total := 0.0
		for _, s := range samples {
			total += s.weight
		}
		require.Equal(t, total, d.Count())
		for q := 0.001; q < 1; q += 0.0037 {
			below, want := 0.0, 0.0
			for _, s := range samples {
				below, want = below+s.weight, s.value
				if below >= q*total-1e-6 {
					break
				}
			}
			require.Equal(t, want, d.Quantile(q), "%v of %d", q, n)
		}
		again := decoded(t, d.AppendBinary(nil))
		require.Equal(t, d.Count(), again.Count())
	}
}

// A distribution of few values stays exact, however many samples there are.
func TestFewValuesAreExact(t *testing.T) {
	r := newRand(t)
	d, counts := New(DefaultCompression), make([]int, 60)
	const n = 100_000
	for range n {
		v := min(int(r.ExpFloat64()*10), 59)
		counts[v]++
		d.Add(float64(v), 1)
	}
	w := decoded(t, d.AppendBinary(nil))
	for q := 0.0005; q < 1; q += 0.0137 {
		want, below := -1, 0
		for float64(below) < q*n-1e-6 {
			want++
			below += counts[want]
		}
		require.EqualValues(t, want, d.Quantile(q), "%v", q)
		require.InDelta(t, want, w.Quantile(q), 1, "%v by wire: not all can be told from clusters there", q)
	}
}

// The outermost samples are never gathered.
func TestEndsAreExact(t *testing.T) {
	r := newRand(t)
	values := lognormal(r, 50_000)
	d, o := New(DefaultCompression), New(DefaultCompression)
	for i, v := range values {
		if i%2 == 0 {
			d.Add(v, 1)
		} else {
			o.Add(v, 1)
		}
	}
	d.Merge(o)
	slices.Sort(values)
	for i := range 4 {
		q := (float64(i) + 0.5) / float64(len(values))
		assert.Equal(t, values[i], d.Quantile(q))
		assert.Equal(t, values[len(values)-1-i], d.Quantile(1-q))
	}
}

func TestReset(t *testing.T) {
	for name, before := range map[string][]sample{
		"raw":       upTo(10),
		"weighted":  weighted(1, 2, 3, 4),
		"gathered":  upTo(5000),
		"zero":      plain(0, 1),
		"saturated": plain(1e308, 1e308),
	} {
		for _, after := range [][]sample{upTo(3), weighted(1, 2, 1, 3), upTo(3000)} {
			d := digestOf(before...)
			d.Freeze()
			d.Reset()
			for _, s := range after {
				d.Add(s.value, s.weight)
			}
			want := digestOf(after...)
			require.Equal(t, want.AppendBinary(nil), d.AppendBinary(nil), name)
			require.Equal(t, want.Saturated(), d.Saturated(), name)
		}
	}
}

func TestCopies(t *testing.T) {
	for name, samples := range map[string][]sample{
		"empty": nil, "raw": upTo(10), "400": upTo(400), "weighted": weighted(1, 2, 3, 4), "gathered": upTo(5000),
	} {
		d := digestOf(samples...)
		c := d.Clone()
		var into []*Digest
		for _, was := range [][]sample{nil, upTo(3), weighted(1, 2, 3, 4), upTo(2000)} {
			o := digestOf(was...)
			o.CopyFrom(d)
			into = append(into, o)
		}
		d.CopyFrom(d)
		want := d.Clone().AppendBinary(nil)
		for range 700 {
			d.Add(-1, 3)
		}
		require.Equal(t, want, c.AppendBinary(nil), name)
		for _, o := range into {
			require.Equal(t, want, o.AppendBinary(nil), name)
			for range 700 {
				o.Add(-1, 3)
			}
			require.Equal(t, d.Count(), o.Count(), name)
		}
	}
}

// Equal calls in equal order give equal bytes.
func TestDeterminism(t *testing.T) {
	r := newRand(t)
	seed := r.Uint64()
	run := func() []byte {
		r := rand.New(rand.NewPCG(seed, 1))
		d := New(DefaultCompression)
		for range 200 {
			o := New(DefaultCompression)
			weight := float64(1 + r.IntN(2))
			for range r.IntN(2000) {
				o.Add(r.NormFloat64(), weight)
			}
			d.Merge(o)
			d.Add(r.NormFloat64(), 1)
		}
		return d.AppendBinary(nil)
	}
	require.Equal(t, run(), run())
}

func TestReadersMayShareAFrozenDigest(t *testing.T) {
	for _, samples := range [][]sample{upTo(100), weighted(1, 2, 3, 4), upTo(10_000)} {
		d := digestOf(samples...)
		d.Freeze()
		want := d.AppendBinary(nil)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				assert.Equal(t, want, d.AppendBinary(nil))
				assert.Equal(t, d.Quantile(1), d.Max())
				d.EachCentroid(func(m, _ float64) bool { return m < 50 })
				_ = d.Count() + d.Sum() + d.Min() + d.Mean() + d.ReciprocalSum()
				_, _ = d.HMean()
				New(DefaultCompression).Merge(d)
				d.Clone().Add(1, 1)
			})
		}
		wg.Wait()
	}
}

func TestEachCentroid(t *testing.T) {
	list := func(d *Digest) (list string) {
		d.EachCentroid(func(m, w float64) bool {
			list += fmt.Sprintf("%vx%v ", m, w)
			return len(list) < 20
		})
		return list
	}
	assert.Equal(t, "1x2 2x1 3x1 ", list(digestOf(plain(3, 1, 2, 1)...)))
	assert.Equal(t, "1x5 3x4 ", list(digestOf(weighted(1, 2, 3, 4, 1, 3)...)))
	assert.Equal(t, "1x1 2x1 3x1 4x1 5x1 ", list(digestOf(upTo(100)...)), "until f has enough")
	d := digestOf(upTo(20_000)...)
	total, n, before := 0.0, 0, 0.0
	d.EachCentroid(func(m, w float64) bool {
		require.Greater(t, m, before)
		total, n, before = total+w, n+1, m
		return true
	})
	assert.Equal(t, 20_000.0, total)
	assert.Less(t, n, 400)
}
