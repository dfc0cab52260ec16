package prometheus

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// timers returns a batch of histograms by name, with what the daemon makes of them.
func timers(values map[string][]float64) *sinks.Batch {
	b := &sinks.Batch{}
	for name, v := range values {
		d := sinktest.NewDigest(v...)
		s := &metric.Series{Name: name, Kind: metric.Timer}
		b.Points = append(b.Points, aggregates(s, d)...)
		b.Distributions = append(b.Distributions, metric.DigestPoint{Series: s, Digest: d})
	}
	return b
}

func TestB102SummaryKeepsMilliseconds(t *testing.T) {
	r := newRig(t, nil)
	require.Zero(t, r.interval(timers(map[string][]float64{"t": {320}})))
	assert.Equal(t, []string{
		`t{quantile="0.5"} 320`, `t{quantile="0.75"} 320`, `t{quantile="0.99"} 320`, "t_sum 320", "t_count 1", "t_max 320", "t_min 320",
	}, r.lines())
}

func TestB103SummaryIsCumulative(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Percentiles = []float64{0, 1} })
	r.interval(timers(map[string][]float64{"t": {1, 2, 3}}))
	r.interval(timers(map[string][]float64{"t": {-10}}))
	want := []string{`t{quantile="0"} -10`, `t{quantile="1"} -10`, "t_sum -4", "t_count 4", "t_max -10", "t_min -10"}
	assert.Equal(t, want, r.lines())
	r.points() // B052: what is idle stays as it is
	assert.Equal(t, want, r.lines())
}

// weighted is a digest of one value with a weight, as sample rates give.
type weighted struct{ value, weight float64 }

func (w weighted) Count() float64                                 { return w.weight }
func (w weighted) Sum() float64                                   { return w.value * w.weight }
func (w weighted) Min() float64                                   { return w.value }
func (w weighted) Max() float64                                   { return w.value }
func (w weighted) ReciprocalSum() float64                         { return w.weight / w.value }
func (w weighted) Quantile(float64) float64                       { return w.value }
func (w weighted) Size() int                                      { return 16 }
func (w weighted) EachCentroid(f func(mean, weight float64) bool) { f(w.value, w.weight) }

func weighed(value, weight float64) *sinks.Batch {
	return &sinks.Batch{Distributions: []metric.DigestPoint{{
		Series: &metric.Series{Name: "t", Kind: metric.Timer}, Digest: weighted{value, weight},
	}}}
}

func TestFractionalWeightsAreRoundedOnlyWhenShown(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Percentiles = nil })
	for range 3 {
		r.interval(weighed(57, 10.0/3)) // B038: a value of rate 0.3
	}
	assert.Equal(t, []string{"t_sum 570", "t_count 10"}, r.lines())
	r.interval(weighed(1, 1e300))
	assert.Equal(t, []string{"t_sum 1e+300", "t_count 1.8446744073709552e+19"}, r.lines())
}

func TestB093SumStaysFinite(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Percentiles = nil })
	r.interval(weighed(math.MaxFloat64, 1))
	r.interval(weighed(math.MaxFloat64, 1))
	assert.Equal(t, []string{"t_sum 1.7976931348623157e+308", "t_count 2"}, r.lines())
}

func TestSummariesThatBecomeEqualAreOne(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Percentiles = []float64{0, 0.5, 1} })
	want := func(count, sum string) []string {
		return []string{
			`a_b{quantile="0"} 1`, `a_b{quantile="0.5"} 4`, `a_b{quantile="1"} 5`, "a_b_sum " + sum, "a_b_count " + count, "a_b_max 5", "a_b_min 1",
		}
	}
	b := func() *sinks.Batch {
		b := timers(map[string][]float64{"a.b": {2, 4}})
		one := timers(map[string][]float64{"a_b": {1, 4, 5}})
		b.Distributions = append(b.Distributions, one.Distributions...)
		b.Points = one.Points // of gauges that meet the last stands, so these are the expectation
		return b
	}
	r.interval(b())
	assert.Equal(t, want("5", "16"), r.lines())
	r.interval(b())
	assert.Equal(t, want("10", "32"), r.lines())
	assert.Empty(t, r.board.pools)
}

// However many summaries become one, what is kept of their values until the end of the interval is bounded, and the quantiles are those of all.
func TestManySummariesThatBecomeEqual(t *testing.T) {
	const series, values = 500, 200
	r := newRig(t, func(c *Config) { c.Percentiles = []float64{0, 0.25, 0.5, 0.99, 1} })
	b := &sinks.Batch{End: r.end, Interval: interval, More: true}
	for i := range series {
		own := make([]float64, values)
		for j := range own {
			own[j] = float64(j*series + i)
		}
		s := &metric.Series{Name: string([]rune{rune(0x4e00 + i)}), Kind: metric.Timer} // one character, one underscore
		b.Distributions = append(b.Distributions, metric.DigestPoint{Series: s, Digest: sinktest.NewDigest(own...)})
	}
	require.NoError(t, r.Send(t.Context(), b))
	require.Len(t, r.board.pools, 1)
	for _, p := range r.board.pools {
		assert.Less(t, cap(p.centroids), 1<<16)
		assert.Equal(t, series, p.digests)
	}
	require.Zero(t, r.interval(&sinks.Batch{}))
	var got []float64
	for f := range r.board.families.all() {
		for k := range f.series.all() {
			got = k.value.detail.(*summary).quantiles
		}
	}
	for i, q := range []float64{0, 0.25, 0.5, 0.99, 1} {
		assert.InDelta(t, q*series*values, got[i], series*values/1000, "%v", q)
	}
}

func TestPointsOfHistogramsWithoutADigest(t *testing.T) {
	s := &metric.Series{Name: "t", Kind: metric.Timer}
	d := sinktest.NewDigest(1, 3)
	r := newRig(t, nil)
	for range 2 { // a route took x.count and not x
		require.Zero(t, r.points(aggregates(s, d)...))
	}
	assert.Equal(t, []string{"t_99percentile 3", "t_count_total 4", "t_max 3", "t_min 1"}, r.lines())
}

func TestPointsOfHistogramsWhoseNameIsTaken(t *testing.T) {
	r := newRig(t, nil)
	r.points(gauge("t", 7))
	require.Equal(t, 1, r.interval(timers(map[string][]float64{"t": {1, 3}})), "the digest is refused, its points are not")
	assert.Equal(t, []string{"t 7", "t_99percentile 3", "t_count_total 2", "t_max 3", "t_min 1"}, r.lines())
}

func TestNamesOfASummaryAreItsOwn(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Percentiles = nil })
	r.interval(timers(map[string][]float64{"t": {1}}))
	require.Equal(t, 3, r.points(gauge("t", 1), gauge("t.sum", 1), gauge("t_count", 1), gauge("t.bucket", 1)))
	assert.Equal(t, []string{"t_sum 1", "t_count 1", "t_bucket 1", "t_max 1", "t_min 1"}, r.lines())

	r = newRig(t, func(c *Config) { c.Histograms = asNative })
	r.points(gauge("t.bucket", 1))
	assert.Equal(t, 1, r.interval(weighed(1, 1)))
}

func TestHistogramsAsPoints(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Histograms = asPoints })
	b := timers(map[string][]float64{"t": {1, 3}})
	b.Distributions = nil // delivery offers none to a sink that does not ask
	require.Zero(t, r.interval(b))
	assert.Equal(t, []string{"t_99percentile 3", "t_count_total 2", "t_max 3", "t_min 1"}, r.lines())
}

func TestKindWantsDigestsWhenItShowsThem(t *testing.T) {
	for histograms, want := range map[string]bool{asSummary: true, asNative: true, asPoints: false} {
		configured, err := Kind().Configure(func(into any) error {
			c := into.(*Config)
			c.ListenAddress, c.Histograms = "127.0.0.1:0", histograms
			return nil
		})
		require.NoError(t, err)
		r := newRig(t, nil)
		sink, err := configured.Metrics(sinks.Settings{Interval: interval, Log: r.log.LastEntry(), Telemetry: r.registry})
		require.NoError(t, err)
		_, wants := sink.(sinks.DistributionSink)
		assert.Equal(t, want, wants, histograms)
	}
}

// native returns the histogram t as a scraper gets it.
func native(t *testing.T, r *rig) *dto.Histogram {
	t.Helper()
	body, err := encoded(r.current.Load(), protoForm)
	require.NoError(t, err)
	return decoded(t, body)["t"].Metric[0].Histogram
}

// place is a bucket of values of one sign.
type place struct {
	sign  float64
	index int32
}

// buckets returns the counts of a histogram by bucket.
func buckets(h *dto.Histogram) map[place]float64 {
	out := map[place]float64{}
	add := func(spans []*dto.BucketSpan, counts []float64, sign float64) {
		index := int32(0)
		for _, span := range spans {
			index += span.GetOffset()
			for range span.GetLength() {
				out[place{sign, index}] += counts[0]
				counts = counts[1:]
				index++
			}
		}
	}
	add(h.PositiveSpan, h.PositiveCount, 1)
	add(h.NegativeSpan, h.NegativeCount, -1)
	return out
}

func TestNativeHistogram(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Histograms = asNative })
	r.interval(timers(map[string][]float64{"t": {-4, 0, 1, 1, 2, 100}}))
	r.interval(timers(map[string][]float64{"t": {1, 1.05}}))
	h := native(t, r)
	assert.EqualValues(t, 3, h.GetSchema())
	assert.EqualValues(t, 8, h.GetSampleCountFloat())
	assert.InDelta(t, 102.05, h.GetSampleSum(), 1e-9)
	assert.EqualValues(t, 1, h.GetZeroCountFloat())
	assert.Equal(t, map[place]float64{{-1, 16}: 1, {1, 0}: 3, {1, 1}: 1, {1, 8}: 1, {1, 54}: 1}, buckets(h)) // 100 is below 2^(54/8) and above 2^(53/8)
	assert.NotNil(t, h.CreatedTimestamp)
	assert.Equal(t, []string{`t_bucket{le="+Inf"} 8`, "t_sum 102.05", "t_count 8", "t_max 1.05", "t_min 1"}, r.lines(), "what text can say")
}

// TestNativeHistogramConserves: whatever comes, nothing is counted twice or lost, every value lies within its bucket, and the buckets are few.
func TestNativeHistogramConserves(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	r := newRig(t, func(c *Config) { c.Histograms = asNative })
	var all []float64
	for range 50 {
		values := make([]float64, 1+rnd.IntN(50))
		for i := range values {
			values[i] = math.Ldexp(rnd.Float64()-0.5, rnd.IntN(600)-300)
		}
		slices.Sort(values)
		all = append(all, values...)
		r.interval(timers(map[string][]float64{"t": values}))

		h := native(t, r)
		want := map[place]float64{}
		for _, v := range all {
			if math.Abs(v) <= zeroThreshold {
				continue
			}
			index := bucketIndex(math.Abs(v), h.GetSchema())
			assertWithin(t, math.Abs(v), index, h.GetSchema())
			want[place{math.Copysign(1, v), index}]++
		}
		require.Equal(t, want, buckets(h))
		require.LessOrEqual(t, len(h.PositiveCount)+len(h.NegativeCount), 2*maxBuckets)
		total := h.GetZeroCountFloat()
		for _, n := range buckets(h) {
			total += n
		}
		require.EqualValues(t, len(all), total)
		require.EqualValues(t, len(all), h.GetSampleCountFloat())
	}
}

func assertWithin(t *testing.T, v float64, index, schema int32) {
	t.Helper()
	width := math.Ldexp(1, -int(schema)) // in powers of two
	upper := math.Exp2(float64(index) * width)
	lower := math.Exp2(float64(index-1) * width)
	require.True(t, lower*(1-1e-14) < v && v <= upper*(1+1e-14), "%v is not in bucket %d of schema %d", v, index, schema)
}

func TestBucketIndex(t *testing.T) {
	for schema := int32(-4); schema <= 8; schema++ {
		for _, v := range []float64{1, 2, 0.5, 3, 1e-30, 1e30, math.MaxFloat64, 0x1p-127, math.Nextafter(1, 2), math.Nextafter(1, 0)} {
			assertWithin(t, v, bucketIndex(v, schema), schema)
		}
		assert.EqualValues(t, 0, bucketIndex(1, schema), "1 is a boundary of every schema")
		assert.EqualValues(t, 1, bucketIndex(math.Nextafter(1, 2), schema))
	}
}

func TestQuantilesOfSeveralDigests(t *testing.T) {
	pool := []centroid{{5, 1}, {1, 1}, {2, 7}, {9, 1}}
	assert.Equal(t, []float64{1, 2, 2, 5, 9, 9}, quantiles(pool, []float64{0, 0.1, 0.5, 0.8, 0.9, 1}))
}
