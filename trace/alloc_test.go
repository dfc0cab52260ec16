package trace_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector empties pools at random")
		return
	}
	c := newDiscard(t)
	_, ctx := c.StartSpanFromContext(context.Background(), "parent")
	counter, gauge, histogram := c.Counter("counter", nil), c.Gauge("gauge", nil), c.Histogram("histogram", nil)
	set := c.Set("set", nil)
	sample := ssf.Count("requests", 1, map[string]string{"route": "/"})
	var none *trace.Client
	for _, tt := range []struct {
		name string
		want float64
		do   func()
	}{
		{"a root with 3 tags", 0, func() { threeTags(c) }},
		{"a span of no client with 3 tags", 0, func() { threeTags(none) }},
		{"a span with a sample", 0, func() {
			span := c.StartTrace("a")
			span.Add(sample)
			span.Finish()
		}},
		{"a child of a context", 1, func() {
			span, _ := trace.StartSpanFromContext(ctx, "child")
			span.Finish()
		}},
		{"a child", 0, func() { trace.FromContext(ctx).StartChild("child").Finish() }},
		{"samples without a span", 0, func() { _ = c.Report(sample, sample) }},
		{"a counter", 0, counter.Inc},
		{"a gauge", 0, func() { gauge.Set(1) }},
		{"a histogram", 0, func() { histogram.Observe(1) }},
		{"a set", 0, func() { set.Add("a") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.do()
			require.LessOrEqual(t, testing.AllocsPerRun(1000, tt.do), tt.want)
		})
	}
}
