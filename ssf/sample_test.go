package ssf_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

func TestConstructors(t *testing.T) {
	tags := map[string]string{"b": "2", "a": "1"}
	list := []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}
	when := time.Unix(1767225600, 123456789)
	tests := []struct {
		name      string
		got, want ssf.SSFSample
	}{
		{
			"count", ssf.Count("n", 3, tags),
			ssf.SSFSample{Metric: ssf.SSFSample_COUNTER, Name: "n", Value: 3, SampleRate: 1, Tags: list},
		},
		{
			"gauge", ssf.Gauge("n", -1.5, nil),
			ssf.SSFSample{Metric: ssf.SSFSample_GAUGE, Name: "n", Value: -1.5, SampleRate: 1},
		},
		{
			"histogram with a unit", ssf.Histogram("n", 9, nil, ssf.Unit("bytes")),
			ssf.SSFSample{Metric: ssf.SSFSample_HISTOGRAM, Name: "n", Value: 9, SampleRate: 1, Unit: "bytes"},
		},
		{
			"set", ssf.Set("n", "member", nil, ssf.Scope(ssf.SSFSample_GLOBAL)),
			ssf.SSFSample{Metric: ssf.SSFSample_SET, Name: "n", Message: "member", SampleRate: 1, Scope: ssf.SSFSample_GLOBAL},
		},
		{
			"status", ssf.Status("n", ssf.SSFSample_CRITICAL, nil, ssf.Message("disk full"), ssf.Timestamp(when)),
			ssf.SSFSample{Metric: ssf.SSFSample_STATUS, Name: "n", Status: ssf.SSFSample_CRITICAL, Message: "disk full", SampleRate: 1, Timestamp: 1767225600123456789},
		},
		{
			"sample rate", ssf.Count("n", 1, nil, ssf.SampleRate(0.1)),
			ssf.SSFSample{Metric: ssf.SSFSample_COUNTER, Name: "n", Value: 1, SampleRate: 0.1},
		},
		{
			"the unit of another resolution", ssf.Histogram("n", 1, nil, ssf.TimeUnit(time.Minute)),
			ssf.SSFSample{Metric: ssf.SSFSample_HISTOGRAM, Name: "n", Value: 1, SampleRate: 1, Unit: "min"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.got)
			require.NoError(t, ssf.ValidateSample(&tt.got))
		})
	}
}

func TestTiming(t *testing.T) {
	tests := []struct {
		name       string
		resolution time.Duration
		value      float32
		unit       string
	}{
		{"nanoseconds", time.Nanosecond, 5_400_000_000, "ns"},
		{"microseconds", time.Microsecond, 5_400_000, "µs"},
		{"milliseconds", time.Millisecond, 5_400, "ms"},
		{"the fraction of a second is kept", time.Second, 5.4, "s"},
		{"minutes", time.Minute, 0.09, "min"},
		{"hours", time.Hour, 0.0015, "h"},
		{"no unit has a name of its own", 2 * time.Second, 2.7, ""},
		{"no resolution", 0, 5_400_000_000, "ns"},
		{"a negative one", -time.Second, 5_400_000_000, "ns"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ssf.Timing("n", 5400*time.Millisecond, tt.resolution, nil)
			require.Equal(t, ssf.SSFSample{Metric: ssf.SSFSample_HISTOGRAM, Name: "n", Value: tt.value, SampleRate: 1, Unit: tt.unit}, s)
		})
	}
}

// A float32 holds whole numbers up to 2^24. Beyond, one sample is off, while samples of one add up exactly.
func TestB067ValuesAreFloat32(t *testing.T) {
	const limit = 1 << 24
	past := ssf.Count("n", limit+1, nil)
	require.Equal(t, float64(limit), float64(past.Value))

	span := &ssf.SSFSpan{}
	for range 1 << 12 {
		span.Metrics = append(span.Metrics, ssf.Count("n", 1, nil))
	}
	packet := ssf.AppendSpan(nil, span)
	var d ssf.Decoder
	var sum float64
	for range limit >> 12 {
		got, err := d.Decode(packet)
		require.NoError(t, err)
		for i := range got.Metrics {
			sum += float64(got.Metrics[i].Value)
		}
	}
	require.Equal(t, float64(limit), sum)
}

func TestRandomlySample(t *testing.T) {
	in := make([]ssf.SSFSample, 10_000)
	for i := range in {
		in[i] = ssf.Count("n", 1, nil)
	}
	in[0].SampleRate = 0.5

	kept := ssf.RandomlySample(0.25, in...)
	// Seven standard deviations to each side.
	require.InDelta(t, 2500, len(kept), 300)
	for _, s := range kept[1:] {
		require.Equal(t, float32(0.25), s.SampleRate)
	}
	require.Equal(t, float32(0.5), in[0].SampleRate, "what was given is left as it was")

	require.Equal(t, in[:2], ssf.RandomlySample(1, in[:2]...))
	require.Equal(t, in[:2], ssf.RandomlySample(2, in[:2]...))
	for _, rate := range []float32{0, -1, float32(math.NaN())} {
		require.Empty(t, ssf.RandomlySample(rate, in...), rate)
	}
}

// The rates of two rounds multiply, and a rate of 0 counts as the 1 that it means.
func TestRandomlySampleMultipliesRates(t *testing.T) {
	in := []ssf.SSFSample{{SampleRate: 0.5}, {SampleRate: 0}}
	rate := math.Nextafter32(1, 0) // as good as 1: both are kept nearly always
	for {
		if kept := ssf.RandomlySample(rate, in...); len(kept) == 2 {
			require.Equal(t, 0.5*rate, kept[0].SampleRate)
			require.Equal(t, rate, kept[1].SampleRate)
			return
		}
	}
}
