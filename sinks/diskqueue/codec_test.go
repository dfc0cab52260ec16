package diskqueue_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/sketch/tdigest"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/diskqueue"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// whole is the batch of sinktest with what that leaves out.
func whole() *sinks.Batch {
	b := sinktest.Batch()
	b.More = true
	b.Points[2].Series.Scope = metric.Global
	b.Points[2].Series.SinkOnly = "other"
	b.Points = append(b.Points, metric.Point{
		Series: &metric.Series{Name: strings.Repeat("n", 70_000), Tags: []string{""}, Kind: 250, Scope: 251},
		Name:   "", Value: math.Float64frombits(0x7ff8_0000_0000_0001), Type: 252, Time: math.MinInt64,
	})
	b.Checks[0].SinkOnly, b.Events[0].SinkOnly = "a", "b"
	return b
}

func TestBatchComesBackEqual(t *testing.T) {
	var e diskqueue.Encoder
	for _, b := range []*sinks.Batch{whole(), {End: time.Unix(1, 0).UTC()}, whole(), {End: time.Unix(-5, 7).UTC(), Interval: -1}} {
		payload := e.Batch(b)
		got, err := diskqueue.DecodeBatch(payload)
		require.NoError(t, err)
		require.Len(t, got.Distributions, len(b.Distributions))
		for i, d := range b.Distributions {
			assert.Equal(t, d.Series, got.Distributions[i].Series)
			sameDigest(t, d.Digest, got.Distributions[i].Digest)
		}
		want := *b
		want.Distributions, got.Distributions = nil, nil
		for i := range want.Points {
			// NaN is not equal to itself, and 0 is equal to -0.
			require.Equal(t, math.Float64bits(want.Points[i].Value), math.Float64bits(got.Points[i].Value))
			got.Points[i].Value = 0
		}
		want.Points = slices.Clone(want.Points)
		for i := range want.Points {
			want.Points[i].Value = 0
		}
		require.Equal(t, &want, got)
	}
}

func TestSeriesIsSharedAgain(t *testing.T) {
	s := &metric.Series{Name: "x", Tags: []string{"a:1"}}
	b := &sinks.Batch{Points: []metric.Point{{Series: s, Name: "x.min"}, {Series: s, Name: "x.max"}}}
	got, err := diskqueue.DecodeBatch(new(diskqueue.Encoder).Batch(b))
	require.NoError(t, err)
	require.Same(t, got.Points[0].Series, got.Points[1].Series)
}

func TestDecodedKeepsNothingOfThePayload(t *testing.T) {
	payload := new(diskqueue.Encoder).Batch(sinktest.Batch())
	got, err := diskqueue.DecodeBatch(payload)
	require.NoError(t, err)
	clear(payload)
	require.Equal(t, sinktest.Batch().Points, got.Points)
	payload = new(diskqueue.Encoder).Spans(sinktest.Spans())
	spans, err := diskqueue.DecodeSpans(payload)
	require.NoError(t, err)
	clear(payload)
	require.Equal(t, canonical(t, sinktest.Spans()), spans)
}

// canonical is spans as a daemon has them, which has them from the wire.
func canonical(t *testing.T, spans []*ssf.SSFSpan) []*ssf.SSFSpan {
	var d ssf.Decoder
	for i, s := range spans {
		decoded, err := d.Decode(ssf.AppendSpan(nil, s))
		require.NoError(t, err)
		spans[i] = decoded.Clone()
	}
	return spans
}

func TestSpansComeBackEqual(t *testing.T) {
	var e diskqueue.Encoder
	spans := canonical(t, sinktest.Spans())
	spans = append(spans, canonical(t, []*ssf.SSFSpan{{Id: 1, Service: strings.Repeat("s", 100_000)}, {}})...)
	for range 2 {
		got, err := diskqueue.DecodeSpans(e.Spans(spans))
		require.NoError(t, err)
		require.Equal(t, spans, got)
	}
	got, err := diskqueue.DecodeSpans(e.Spans(nil))
	require.NoError(t, err)
	require.Empty(t, got)
}

func sameDigest(t *testing.T, want, got metric.Digest) {
	t.Helper()
	require.Equal(t, want.Count(), got.Count())
	require.Equal(t, want.Sum(), got.Sum())
	require.Equal(t, want.Min(), got.Min())
	require.Equal(t, want.Max(), got.Max())
	require.Equal(t, want.ReciprocalSum(), got.ReciprocalSum())
	type centroid struct{ mean, weight float64 }
	centroids := func(d metric.Digest) (all []centroid) {
		d.EachCentroid(func(mean, weight float64) bool {
			all = append(all, centroid{mean, weight})
			return true
		})
		return all
	}
	require.Equal(t, centroids(want), centroids(got))
	require.Positive(t, got.Size())
}

// Quantiles too are as they were, whatever the digest has seen.
func TestDigestOfTheDaemonComesBackEqual(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	values := map[string]func() (value, weight float64){
		"equal weights":  func() (float64, float64) { return rnd.NormFloat64() * 100, 1 },
		"sampled":        func() (float64, float64) { return rnd.ExpFloat64(), 10 },
		"mixed weights":  func() (float64, float64) { return rnd.ExpFloat64(), float64(1 + rnd.IntN(20)) },
		"few values":     func() (float64, float64) { return float64(rnd.IntN(5)), 1 },
		"one value":      func() (float64, float64) { return 7, 1 },
		"a wide range":   func() (float64, float64) { return math.Exp(rnd.Float64()*600 - 300), 1 },
		"huge and small": func() (float64, float64) { return []float64{-math.MaxFloat64, 1, math.MaxFloat64}[rnd.IntN(3)], 1 },
	}
	for name, next := range values {
		for _, n := range []int{1, 2, 3, 100, 512, 513, 5000, 100_000} {
			d := tdigest.New(100)
			for range n {
				d.Add(next())
			}
			d.Freeze()
			b := &sinks.Batch{Distributions: []metric.DigestPoint{{Series: &metric.Series{Name: "x"}, Digest: d}}}
			decoded, err := diskqueue.DecodeBatch(new(diskqueue.Encoder).Batch(b))
			require.NoError(t, err)
			got := decoded.Distributions[0].Digest
			sameDigest(t, d, got)
			spread := 0.0
			for _, q := range []float64{-1, 0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1, 2} {
				want, have := d.Quantile(q), got.Quantile(q)
				if name == "huge and small" {
					spread = math.MaxFloat64
				} else {
					spread = d.Max() - d.Min()
				}
				require.InDelta(t, want, have, 1e-9*spread, "%s, %d samples, quantile %g", name, n, q)
			}
			require.True(t, math.IsNaN(got.Quantile(math.NaN())))
		}
	}
}

func TestEmptyDigest(t *testing.T) {
	b := &sinks.Batch{Distributions: []metric.DigestPoint{{Series: &metric.Series{}, Digest: tdigest.New(100)}}}
	got, err := diskqueue.DecodeBatch(new(diskqueue.Encoder).Batch(b))
	require.NoError(t, err)
	require.True(t, math.IsNaN(got.Distributions[0].Digest.Quantile(0.5)))
}

func TestPayloadsThatAreRefused(t *testing.T) {
	var e diskqueue.Encoder
	batch := slices.Clone(e.Batch(sinktest.Batch()))
	spans := slices.Clone(e.Spans(sinktest.Spans()))
	for i := range len(batch) {
		_, err := diskqueue.DecodeBatch(batch[:i])
		require.ErrorIs(t, err, diskqueue.ErrPayload, "cut at %d", i)
	}
	for i := range len(spans) {
		_, err := diskqueue.DecodeSpans(spans[:i])
		require.ErrorIs(t, err, diskqueue.ErrPayload, "cut at %d", i)
	}
	_, err := diskqueue.DecodeBatch(append(batch, 0))
	require.ErrorIs(t, err, diskqueue.ErrPayload)
	_, err = diskqueue.DecodeBatch(spans)
	require.ErrorIs(t, err, diskqueue.ErrPayload)
	_, err = diskqueue.DecodeSpans(batch)
	require.ErrorIs(t, err, diskqueue.ErrPayload)
	later := slices.Clone(spans)
	later[0]++
	_, err = diskqueue.DecodeSpans(later)
	require.ErrorIs(t, err, diskqueue.ErrPayload)
}

// What is announced is not allocated.
func TestAnnouncedCountsAreNotAllocated(t *testing.T) {
	announced := []byte{1, 'b', 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := diskqueue.DecodeBatch(announced); err == nil {
				b.Fatal("accepted")
			}
		}
	}).AllocedBytesPerOp()
	require.Less(t, allocated, int64(1000))
}

func FuzzDecodeBatch(f *testing.F) {
	var e diskqueue.Encoder
	f.Add(slices.Clone(e.Batch(sinktest.Batch())))
	f.Add(slices.Clone(e.Batch(&sinks.Batch{})))
	f.Add([]byte{1, 'b', 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, payload []byte) {
		b, err := diskqueue.DecodeBatch(payload)
		if err != nil {
			return
		}
		// What can be read can be written and read again, and is then the same.
		first := slices.Clone(new(diskqueue.Encoder).Batch(b))
		again, err := diskqueue.DecodeBatch(first)
		require.NoError(t, err)
		if len(b.Distributions) == 0 { // of a digest that no encoder has made, the clusters are guessed anew
			require.Equal(t, first, new(diskqueue.Encoder).Batch(again))
		}
		for _, d := range again.Distributions {
			d.Digest.Quantile(0.5)
		}
	})
}

func FuzzDecodeSpans(f *testing.F) {
	var e diskqueue.Encoder
	f.Add(slices.Clone(e.Spans(sinktest.Spans())))
	f.Add(slices.Clone(e.Spans(nil)))
	f.Add([]byte{1, 's', 1, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, payload []byte) {
		spans, err := diskqueue.DecodeSpans(payload)
		if err != nil {
			return
		}
		again, err := diskqueue.DecodeSpans(new(diskqueue.Encoder).Spans(spans))
		require.NoError(t, err)
		require.Len(t, again, len(spans))
	})
}

func TestEncoderDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var e diskqueue.Encoder
	points, spans := chunkOfPoints(), chunkOfSpans()
	e.Batch(points)
	e.Spans(spans)
	require.Zero(t, testing.AllocsPerRun(10, func() { e.Batch(points) }))
	require.Zero(t, testing.AllocsPerRun(10, func() { e.Spans(spans) }))
}
