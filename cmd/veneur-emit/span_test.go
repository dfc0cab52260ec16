package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

// emitSpan returns what a command line sends with -ssf.
func emitSpan(t *testing.T, environ []string, args ...string) *ssf.SSFSpan {
	t.Helper()
	p := listen(t, "udp")
	requireSent(t, emitWith(t, "", environ, append([]string{"-ssf", "-hostport", p.hostport}, args...)...))
	return p.span()
}

func TestSamples(t *testing.T) {
	xy := []ssf.Tag{{Key: "x", Value: "y"}}
	for _, tt := range []struct {
		name string
		args []string
		want []ssf.SSFSample
	}{
		{"B137 a count without tags", []string{"-name", "a", "-count", "3"}, []ssf.SSFSample{ssf.Count("a", 3, nil)}},
		{"B137 a gauge with an empty -tag", []string{"-name", "a", "-gauge", "-2.5", "-tag", ""}, []ssf.SSFSample{ssf.Gauge("a", -2.5, nil)}},
		{"a timing", []string{"-name", "a", "-timing", "1500µs"}, []ssf.SSFSample{ssf.Timing("a", 1500*time.Microsecond, time.Millisecond, nil)}},
		{"a set", []string{"-name", "a", "-set", "user:7"}, []ssf.SSFSample{ssf.Set("a", "user:7", nil)}},
		{"B067 16777217", []string{"-name", "a", "-count", "16777217"}, []ssf.SSFSample{ssf.Count("a", 16777216, nil), ssf.Count("a", 1, nil)}},
		{"several, with tags", []string{"-name", "a", "-count", "1", "-gauge", "2", "-tag", "x:y"}, []ssf.SSFSample{
			{Metric: ssf.SSFSample_GAUGE, Name: "a", Value: 2, SampleRate: 1, Tags: xy},
			{Metric: ssf.SSFSample_COUNTER, Name: "a", Value: 1, SampleRate: 1, Tags: xy},
		}},
		{"B012 B131 cleaned as a line is", []string{"-name", "a|b:c\nd", "-set", "m\n|\xff", "-tag", "k|:v\n:w,bare,,"}, []ssf.SSFSample{
			{Metric: ssf.SSFSample_SET, Name: "a_b_c_d", Message: "m___", SampleRate: 1, Tags: []ssf.Tag{{Key: "k_", Value: "v_:w"}, {Key: "bare"}}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			span := emitSpan(t, nil, tt.args...)
			require.Equal(t, tt.want, span.Metrics)
			require.False(t, ssf.InTrace(span))
		})
	}
}

func TestSpansOverEveryTransport(t *testing.T) {
	for _, network := range []string{"udp", "tcp", "unix", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			p := listen(t, network)
			ended := emitting(t, "", "-ssf", "-hostport", p.hostport, "-name", "a", "-count", "1")
			require.Len(t, p.span().Metrics, 1)
			requireSent(t, <-ended)
		})
	}
}

func TestASpanOfATrace(t *testing.T) {
	before := time.Now().UnixNano()
	span := emitSpan(t, nil, "-name", "work|", "-trace_id", "99", "-parent_span_id", "9", "-span_service", "test", "-indicator", "-error",
		"-tag", "a:1,b:1", "-span_tags", "b:2,c", "-timing", "2s", "-count", "1")
	require.Positive(t, span.Id)
	require.GreaterOrEqual(t, span.EndTimestamp, before)
	require.LessOrEqual(t, span.EndTimestamp, time.Now().UnixNano())
	require.Equal(t, &ssf.SSFSpan{
		TraceId: 99, ParentId: 9, Id: span.Id, Name: "work_", Service: "test", Indicator: true, Error: true,
		Tags:           []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "c"}},
		StartTimestamp: span.EndTimestamp - int64(2*time.Second), EndTimestamp: span.EndTimestamp,
		Metrics: []ssf.SSFSample{
			{Metric: ssf.SSFSample_COUNTER, Name: "work_", Value: 1, SampleRate: 1, Tags: []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "1"}}},
			{
				Metric: ssf.SSFSample_HISTOGRAM, Name: "work_", Value: 2000, Unit: "ms", SampleRate: 1,
				Tags: []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "1"}},
			},
		},
	}, span)
}

func TestSpanTimes(t *testing.T) {
	const start, end = 1700000000, 1700000007
	for _, tt := range []struct {
		name       string
		args       []string
		start, end int64 // seconds; 0: now
	}{
		{"both", []string{"-span_starttime", "1700000000", "-span_endtime", "1700000007"}, start, end},
		{"both and a timing", []string{"-span_starttime", "1700000000", "-span_endtime", "1700000007", "-timing", "1s"}, start, end},
		{"dates", []string{"-span_starttime", "2023-11-14T22:13:20Z", "-span_endtime", "2023-11-14T23:13:27+01:00"}, start, end},
		{"start and a timing", []string{"-span_starttime", "1700000000", "-timing", "7s"}, start, end},
		{"end and a timing", []string{"-span_endtime", "1700000007", "-timing", "7s"}, start, end},
		{"start", []string{"-span_starttime", "1700000000"}, start, 0},
		{"end", []string{"-span_endtime", "1700000007"}, end, end},
		{"neither", nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := time.Now().Unix()
			span := emitSpan(t, nil, append([]string{"-name", "a", "-trace_id", "1"}, tt.args...)...)
			for _, at := range []struct{ want, got int64 }{{tt.start, span.StartTimestamp}, {tt.end, span.EndTimestamp}} {
				if at.want == 0 {
					require.InDelta(t, before, at.got/1e9, patience.Seconds())
					continue
				}
				require.Equal(t, at.want*1e9, at.got)
			}
		})
	}
}

func TestTracesFromTheEnvironment(t *testing.T) {
	around := []string{"VENEUR_EMIT_TRACE_ID=1", "VENEUR_EMIT_TRACE_ID=7", "VENEUR_EMIT_PARENT_SPAN_ID=8"} // the last of two counts
	for _, tt := range []struct {
		name          string
		environ, args []string
		trace, parent int64
	}{
		{"none", nil, nil, 0, 0},
		{"empty", []string{"VENEUR_EMIT_TRACE_ID="}, nil, 0, 0},
		{"both", around, nil, 7, 8},
		{"a parent without a trace", around[2:], nil, 0, 0},
		{"the flag names the parent", around, []string{"-parent_span_id", "9"}, 7, 9},
		{"the flag names no parent", around, []string{"-parent_span_id", "0"}, 7, 0},
		{"the flag names the same trace", around, []string{"-trace_id", "7"}, 7, 8},
		{"the flag names another trace", around, []string{"-trace_id", "70"}, 70, 0},
		{"the flags name both", around, []string{"-trace_id", "70", "-parent_span_id", "80"}, 70, 80},
		{"a service without a trace is no span", nil, []string{"-span_service", "s", "-error"}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			span := emitSpan(t, tt.environ, append([]string{"-name", "a", "-count", "1"}, tt.args...)...)
			require.Equal(t, []int64{tt.trace, tt.parent}, []int64{span.TraceId, span.ParentId})
			require.Equal(t, tt.trace != 0, ssf.ValidateTrace(span) == nil)
		})
	}
}

func TestABadEnvironment(t *testing.T) {
	bad := []string{"VENEUR_EMIT_PARENT_SPAN_ID=x"}
	requireRefused(t, emitWith(t, "", bad, "-ssf", "-name", "a", "-count", "1"), `VENEUR_EMIT_PARENT_SPAN_ID: "x" is not a whole number`)
	p := listen(t, "udp")
	requireSent(t, emitWith(t, "", bad, "-hostport", p.hostport, "-name", "a", "-count", "1")) // it has no use for it
}

// The parts of a count are float32s, few, and their sum in float64 is the count.
func TestB067CountsSplitExactly(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	values := []float64{
		0, 1, -1, 0.1, 1.5, 1 << 24, 1<<24 + 1, 1<<53 - 1, -(1<<53 - 1), 123456789.123456789, math.MaxFloat32, 1e38, 1e-30, math.Pi,
		math.Nextafter(math.MaxFloat32, 0), math.Nextafter(1, 2),
	}
	for range 10_000 {
		values = append(values, math.Ldexp(random.Float64()*2-1, random.IntN(160)-32))
	}
	for _, v := range values {
		parts := float32Parts(v)
		sum := 0.0
		for _, part := range parts {
			sum += float64(part)
		}
		require.Equal(t, v, sum, "parts %v", parts)
		require.LessOrEqual(t, len(parts), 4)
		require.False(t, slices.ContainsFunc(parts, func(p float32) bool { return math.IsInf(float64(p), 0) }))
	}
}
