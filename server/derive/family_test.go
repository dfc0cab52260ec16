package derive

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

var dimensions = Dimensions{
	Resource: []string{"region", "env"},
	Kind:     "span.kind",
	Rate:     "rate",
	Targets:  []string{"peer.service", "db.instance"},
}

func TestMeasure(t *testing.T) {
	span := func(parent int64, tags ...string) *ssf.SSFSpan {
		s := &ssf.SSFSpan{TraceId: 7, Id: 8, ParentId: parent, StartTimestamp: 1000, EndTimestamp: 1250, Service: "svc", Name: "op"}
		for _, tag := range tags {
			key, value, _ := strings.Cut(tag, "=")
			s.SetTag(key, value)
		}
		return s
	}
	alive := Measure{Service: "svc", Weight: 1, Duration: 250, TraceID: 7}
	request := alive
	request.Family, request.Name = Request, "op"
	dependency := alive
	dependency.Family, dependency.Name, dependency.TargetKind, dependency.Target = Dependency, "op", "db.instance", "users"
	for _, tt := range []struct {
		name   string
		span   *ssf.SSFSpan
		of     Measure
		change func(*Measure)
	}{
		{"no parent", span(0), request, nil},
		{"its id is that of the trace", &ssf.SSFSpan{TraceId: 7, Id: 7, ParentId: 9, StartTimestamp: 1000, EndTimestamp: 1250, Service: "svc", Name: "op"}, request, nil},
		{"indicator", &ssf.SSFSpan{TraceId: 7, Id: 8, ParentId: 9, StartTimestamp: 1000, EndTimestamp: 1250, Service: "svc", Name: "op", Indicator: true}, request, nil},
		{"failed", &ssf.SSFSpan{TraceId: 7, Id: 8, StartTimestamp: 1000, EndTimestamp: 1250, Service: "svc", Name: "op", Error: true}, request, func(m *Measure) { m.Failed = true }},
		{"a request with a target stays a request", span(0, "db.instance=users"), request, nil},
		{"kind", span(0, "span.kind=server"), request, func(m *Measure) { m.Kind = "server" }},
		{"case 13: resource tags, by key", span(0, "region=eu", "other=x", "env=prod"), request, func(m *Measure) { m.Tags = []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "region", Value: "eu"}} }},
		{"case 13: in another order", span(0, "env=prod", "region=eu"), request, func(m *Measure) { m.Tags = []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "region", Value: "eu"}} }},
		{"target", span(9, "db.instance=users", "span.kind=client"), dependency, nil},
		{"the first of two targets", span(9, "db.instance=users", "peer.service=cache"), dependency, func(m *Measure) { m.TargetKind, m.Target = "peer.service", "cache" }},
		{"an empty target is none", span(9, "db.instance=users", "peer.service="), dependency, nil},
		{"internal", span(9, "other=x"), alive, nil},
		{"rate", span(9, "db.instance=users", "rate=0.4"), dependency, func(m *Measure) { m.Weight = 2.5 }},
		{"rate of more than 1", span(9, "db.instance=users", "rate=1.5"), dependency, nil},
		{"rate that is no number", span(9, "db.instance=users", "rate=often"), dependency, nil},
		{"tiny rate", span(9, "db.instance=users", "rate=1e-300"), dependency, func(m *Measure) { m.Weight = 1e9 }},
		{"rate with a long tail", span(9, "db.instance=users", "rate=0.4"+strings.Repeat("0", MaxText)), dependency, func(m *Measure) { m.Weight = 2.5 }},
		{"case 9: rate 0", span(9, "db.instance=users", "rate=0"), alive, func(m *Measure) { m.Weight = 0 }},
		{"case 9: rate NaN", span(0, "rate=NaN"), alive, func(m *Measure) { m.Weight = 0 }},
		{"case 9: negative rate", span(0, "rate=-1"), alive, func(m *Measure) { m.Weight = 0 }},
		{"case 9: negative rate without bound", span(0, "rate=-Inf"), alive, func(m *Measure) { m.Weight = 0 }},
		{"ends before it starts", &ssf.SSFSpan{TraceId: 7, Id: 8, StartTimestamp: 1000, EndTimestamp: 250, Service: "svc", Name: "op"}, request, func(m *Measure) { m.Duration, m.Reversed = 0, true }},
		{"a longer name is cut, at a character", &ssf.SSFSpan{TraceId: 7, Id: 8, StartTimestamp: 1000, EndTimestamp: 1250, Service: "svc", Name: strings.Repeat("x", MaxText-1) + "äy"}, request, func(m *Measure) { m.Name, m.Cut = strings.Repeat("x", MaxText-1), true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.of
			if tt.change != nil {
				tt.change(&want)
			}
			got := *NewClassifier(dimensions).Measure(tt.span)
			if len(got.Tags) == 0 {
				got.Tags = nil
			}
			require.Equal(t, want, got)
		})
	}
}

// Case 10: an ok span, then one without outcome through the same reused builder: the second carries nothing of the first.
func TestCase10NothingIsLeftOfTheSpanBefore(t *testing.T) {
	c := NewClassifier(dimensions)
	first := &ssf.SSFSpan{TraceId: 1, Id: 2, StartTimestamp: 5, EndTimestamp: 1, Service: "a", Name: strings.Repeat("x", 300), Error: true, Tags: []ssf.Tag{
		{Key: "env", Value: "prod"}, {Key: "rate", Value: "0.5"}, {Key: "span.kind", Value: "server"}, {Key: "db.instance", Value: "users"},
	}}
	second := &ssf.SSFSpan{TraceId: 3, Id: 4, ParentId: 9, StartTimestamp: 1, EndTimestamp: 2, Service: "b", Name: "op"}
	require.Equal(t, Request, c.Measure(first).Family)
	first.ParentId = 9
	require.Equal(t, Dependency, c.Measure(first).Family)
	got := *c.Measure(second)
	assert.Empty(t, got.Tags)
	got.Tags = nil
	assert.Equal(t, Measure{Service: "b", Weight: 1, Duration: 1, TraceID: 3}, got)
}

func TestMeasureDoesNotAllocate(t *testing.T) {
	c := NewClassifier(dimensions)
	span := &ssf.SSFSpan{TraceId: 1, Id: 2, ParentId: 9, StartTimestamp: 1, EndTimestamp: 2, Service: "a", Name: "op", Tags: []ssf.Tag{
		{Key: "env", Value: "prod"}, {Key: "rate", Value: "0.5"}, {Key: "db.instance", Value: "users"},
	}}
	rates := []string{"0.5", "0.1", "0.25", "often"}
	i := 0
	if n := testing.AllocsPerRun(100, func() {
		span.SetTag("rate", rates[i%4]) // services differ in it
		i++
		c.Measure(span)
	}); n > 0 {
		t.Errorf("%v allocations a span, want 0", n)
	}
}
