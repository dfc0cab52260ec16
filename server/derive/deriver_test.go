package derive

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// recorder writes down what it is given, since all of it is only lent.
type recorder struct{ got []string }

func (r *recorder) AddSample(s *metric.Sample) { r.got = append(r.got, "sample "+show(s)) }
func (r *recorder) AddTimer(s *metric.Sample)  { r.got = append(r.got, "timer "+show(s)) }

func (r *recorder) AddCheck(c metric.Check, tags []byte) {
	r.got = append(r.got, fmt.Sprintf("check %s %s %q %d %s %v", c.Name, c.Status, c.Message, c.Time, c.Scope, tagsOf(tags)))
}

func (r *recorder) RefuseSample(name string, reason error) {
	r.got = append(r.got, fmt.Sprintf("refused %s %v", name, reason))
}

func show(s *metric.Sample) string {
	return fmt.Sprintf("%s %s %v %q @%v %s %v", s.Kind, s.Name, s.Values, s.Text, s.Rate, s.Scope, tagsOf(s.Tags))
}

func tagsOf(raw []byte) []string {
	var set metric.TagSet
	if !set.Parse(metric.TagsPairs, raw) {
		return []string{"broken"}
	}
	return set.Tags
}

func derived(c Config, span *ssf.SSFSpan) []string {
	var r recorder
	ssf.Normalize(span)
	New(c, &r, telemetry.New()).Span(span, ssf.ValidateTrace(span) == nil)
	return r.got
}

func TestCarriedSamples(t *testing.T) {
	tags := map[string]string{"k": "x,y:z"}
	nan := ssf.Gauge("n", 0, nil)
	nan.Value /= nan.Value
	tests := []struct {
		name string
		in   ssf.SSFSample
		want string
	}{
		{"counter", ssf.Count("a", 2, tags), `sample counter a [2] "" @1 mixed [k:x,y:z]`},
		{"the rate is what the sender wrote", ssf.Count("a", 1, nil, ssf.SampleRate(0.1)), `sample counter a [1] "" @0.1 mixed []`},
		{"rate 0 means 1", ssf.Count("a", 1, nil, ssf.SampleRate(0)), `sample counter a [1] "" @1 mixed []`},
		{"gauge, local", ssf.Gauge("a", -1.5, nil, ssf.Scope(ssf.SSFSample_LOCAL)), `sample gauge a [-1.5] "" @1 local []`},
		{"histogram, global", ssf.Histogram("a", 3, nil, ssf.Scope(ssf.SSFSample_GLOBAL)), `sample histogram a [3] "" @1 global []`},
		{"timing in milliseconds", ssf.Timing("a", 1500000, 1000000, nil), `sample timer a [1.5] "" @1 mixed []`},
		{"timing in nanoseconds", ssf.Timing("a", 1500, 1, nil), `sample histogram a [1500] "" @1 mixed []`},
		{"set", ssf.Set("a", "m", nil), `sample set a [] "m" @1 mixed []`},
		{
			"status", ssf.Status("a", ssf.SSFSample_CRITICAL, tags, ssf.Message("no"), func(s *ssf.SSFSample) { s.Timestamp = 7_999_999_999 }),
			`check a CRITICAL "no" 7 mixed [k:x,y:z]`,
		},
		{
			"the last of two values of a key",
			ssf.SSFSample{Name: "a", Value: 1, Tags: []ssf.Tag{{Key: "k", Value: "old"}, {Key: "k", Value: "new"}}},
			`sample counter a [1] "" @1 mixed [k:new]`,
		},
		{"status without a time", ssf.Status("a", ssf.SSFSample_OK, nil), `check a OK "" 0 mixed []`},
		{"no name", ssf.Count("", 1, nil), `refused  ssf: no_name`},
		{"not a number", nan, `refused n ssf: value`},
		{"negative rate", ssf.Count("a", 1, nil, ssf.SampleRate(-1)), `refused a ssf: rate`},
		{"unknown metric", ssf.SSFSample{Metric: 9, Name: "a"}, `refused a ssf: metric`},
		{"set without a member", ssf.Set("a", "", nil), `refused a ssf: no_member`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, []string{tt.want}, derived(Config{}, &ssf.SSFSpan{Metrics: []ssf.SSFSample{tt.in}}))
		})
	}
}

func TestBadSampleDoesNotTouchItsNeighbours(t *testing.T) {
	got := derived(Config{}, &ssf.SSFSpan{Metrics: []ssf.SSFSample{ssf.Count("a", 1, nil), ssf.Count("", 1, nil), ssf.Count("b", 2, nil)}})
	require.Equal(t, []string{
		`sample counter a [1] "" @1 mixed []`,
		`refused  ssf: no_name`,
		`sample counter b [2] "" @1 mixed []`,
	}, got)
}

func TestTimers(t *testing.T) {
	both := Config{IndicatorSpanTimerName: "ind", ObjectiveSpanTimerName: "obj"}
	span := func(change func(*ssf.SSFSpan)) *ssf.SSFSpan {
		s := &ssf.SSFSpan{
			TraceId: 1, Id: 2, StartTimestamp: 1e18, EndTimestamp: 1e18 + 16_777_217, Name: "op", Service: "svc", Indicator: true,
			Tags: []ssf.Tag{{Key: "ignored", Value: "x"}},
		}
		if change != nil {
			change(s)
		}
		return s
	}
	tests := []struct {
		name   string
		config Config
		span   *ssf.SSFSpan
		want   []string
	}{
		{"both, exact in nanoseconds", both, span(nil), []string{
			`timer histogram ind [1.6777217e+07] "" @1 mixed [error:false service:svc]`,
			`timer histogram obj [1.6777217e+07] "" @1 global [error:false objective:op service:svc]`,
		}},
		{"error", both, span(func(s *ssf.SSFSpan) { s.Error = true }), []string{
			`timer histogram ind [1.6777217e+07] "" @1 mixed [error:true service:svc]`,
			`timer histogram obj [1.6777217e+07] "" @1 global [error:true objective:op service:svc]`,
		}},
		{"objective by tag", Config{ObjectiveSpanTimerName: "obj"}, span(func(s *ssf.SSFSpan) { s.SetTag("ssf_objective", "fast") }), []string{
			`timer histogram obj [1.6777217e+07] "" @1 global [error:false objective:fast service:svc]`,
		}},
		{"empty objective tag", Config{ObjectiveSpanTimerName: "obj"}, span(func(s *ssf.SSFSpan) { s.SetTag("ssf_objective", "") }), []string{
			`timer histogram obj [1.6777217e+07] "" @1 global [error:false objective:op service:svc]`,
		}},
		{"indicator only", Config{IndicatorSpanTimerName: "ind"}, span(nil), []string{
			`timer histogram ind [1.6777217e+07] "" @1 mixed [error:false service:svc]`,
		}},
		{"off", Config{}, span(nil), nil},
		{"not an indicator", both, span(func(s *ssf.SSFSpan) { s.Indicator = false }), nil},
		{"not a span of a trace", both, span(func(s *ssf.SSFSpan) { s.TraceId = 0 }), nil},
		{"B129 ends before it starts", Config{IndicatorSpanTimerName: "ind"}, span(func(s *ssf.SSFSpan) { s.EndTimestamp = 1 }), []string{
			`timer histogram ind [0] "" @1 mixed [error:false service:svc]`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, derived(tt.config, tt.span)) })
	}
}

func TestB129ReversedSpansAreCounted(t *testing.T) {
	var r recorder
	registry := telemetry.New()
	d := New(Config{IndicatorSpanTimerName: "ind"}, &r, registry)
	d.Span(&ssf.SSFSpan{Indicator: true, StartTimestamp: 2, EndTimestamp: 1}, true)
	d.Span(&ssf.SSFSpan{Indicator: true, StartTimestamp: 1, EndTimestamp: 2}, true)
	require.EqualValues(t, 1, registry.Value("derive.reversed_spans"))
}

type discard struct{}

func (discard) AddSample(*metric.Sample)       {}
func (discard) AddTimer(*metric.Sample)        {}
func (discard) AddCheck(metric.Check, []byte)  {}
func (discard) RefuseSample(_ string, _ error) {}

func TestSpanDoesNotAllocate(t *testing.T) {
	span := &ssf.SSFSpan{TraceId: 1, Id: 2, StartTimestamp: 1, EndTimestamp: 2, Name: "op", Indicator: true, Metrics: []ssf.SSFSample{
		ssf.Count("a", 1, map[string]string{"k": "v"}, ssf.SampleRate(0.1)), ssf.Set("b", "m", nil),
	}}
	d := New(Config{IndicatorSpanTimerName: "ind", ObjectiveSpanTimerName: "obj"}, discard{}, telemetry.New())
	if n := testing.AllocsPerRun(100, func() { d.Span(span, true) }); n > 0 {
		t.Errorf("%v allocations a span, want 0", n)
	}
}
