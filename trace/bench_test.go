package trace_test

import (
	"context"
	"testing"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// discard takes packets and forgets them, so that a benchmark measures the client alone.
type discard struct{}

func (discard) SendSync(context.Context, *ssf.SSFSpan) error { return nil }
func (discard) Close() error                                 { return nil }
func (discard) SendPackets(_ context.Context, packets [][]byte) (int, error) {
	return len(packets), nil
}

func newDiscard(tb testing.TB) *trace.Client {
	c, err := trace.NewBackendClient(discard{}, trace.WithService("bench"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// reportLoss says which share was dropped: a benchmark of dropping would be no benchmark.
func reportLoss(b *testing.B, c *trace.Client) {
	stats := c.Stats()
	if stats.Recorded > 0 {
		b.ReportMetric(100*float64(stats.Lost())/float64(stats.Recorded), "%lost")
	}
}

func threeTags(c *trace.Client) {
	span := c.StartTrace("request")
	span.SetTag("method", "GET")
	span.SetTag("route", "/v1/charges")
	span.SetTag("status", "200")
	span.Finish()
}

func BenchmarkSpan(b *testing.B) {
	b.Run("3tags", func(b *testing.B) {
		c := newDiscard(b)
		b.ReportAllocs()
		for b.Loop() {
			threeTags(c)
		}
		reportLoss(b, c)
	})
}

func BenchmarkSpanContext(b *testing.B) {
	c := newDiscard(b)
	parent, ctx := c.StartSpanFromContext(context.Background(), "parent")
	defer parent.Finish()
	b.ReportAllocs()
	for b.Loop() {
		span, _ := trace.StartSpanFromContext(ctx, "child")
		span.Finish()
	}
	reportLoss(b, c)
}

func BenchmarkCounterHandle(b *testing.B) {
	counter := newDiscard(b).Counter("requests", map[string]string{"route": "/v1/charges"})
	b.ReportAllocs()
	for b.Loop() {
		counter.Inc()
	}
}
