package bench

import (
	"context"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// The work is the same: a span is started, given its attributes, ended, and handed to a background goroutine that passes it on in batches to
// what forgets it. Ours has been encoded by then; that of OpenTelemetry would still have to be.

// BenchmarkSpan is a root span. Where it can be dropped because it comes too fast, %lost says how many were.
func BenchmarkSpan(b *testing.B) {
	b.Run("3tags", func(b *testing.B) {
		b.Run("ours", func(b *testing.B) {
			c := newClient(b)
			b.ReportAllocs()
			for b.Loop() {
				span := c.StartTrace("request")
				span.SetTag("method", "GET")
				span.SetTag("route", "/v1/charges")
				span.SetTag("status", "200")
				span.Finish()
			}
			reportLost(b, c)
		})
		b.Run("opentelemetry", func(b *testing.B) {
			tracer, report := newTracer(b)
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				_, span := tracer.Start(ctx, "request")
				span.SetAttributes(attribute.String("method", "GET"), attribute.String("route", "/v1/charges"), attribute.String("status", "200"))
				span.End()
			}
			report()
		})
	})
}

// BenchmarkSpanContext is the child of a span in a context, and a context with the child.
func BenchmarkSpanContext(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		c := newClient(b)
		parent, ctx := c.StartSpanFromContext(b.Context(), "parent")
		defer parent.Finish()
		b.ReportAllocs()
		for b.Loop() {
			span, _ := trace.StartSpanFromContext(ctx, "child")
			span.Finish()
		}
		reportLost(b, c)
	})
	b.Run("opentelemetry", func(b *testing.B) {
		tracer, report := newTracer(b)
		ctx, _ := tracer.Start(b.Context(), "parent") // never ended, so never counted
		b.ReportAllocs()
		for b.Loop() {
			_, span := tracer.Start(ctx, "child")
			span.End()
		}
		report()
	})
}

// forget is our backend without a network.
type forget struct{}

func (forget) SendSync(context.Context, *ssf.SSFSpan) error   { return nil }
func (forget) SendPackets(context.Context, [][]byte, []error) {}
func (forget) Close() error                                   { return nil }

func newClient(b *testing.B) *trace.Client {
	c, err := trace.NewBackendClient(forget{}, trace.WithService("bench"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func reportLost(b *testing.B, c *trace.Client) {
	stats := c.Stats()
	b.ReportMetric(100*float64(stats.Lost())/float64(stats.Recorded), "%lost")
}

// exporter counts what it gets and forgets it.
type exporter struct{ spans atomic.Uint64 }

func (e *exporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	e.spans.Add(uint64(len(spans)))
	return nil
}

func (e *exporter) Shutdown(context.Context) error { return nil }

// queued is how many spans may wait in OpenTelemetry's processor: as many as there are of some 128 bytes in the 8 MiB of our client. By default it
// is 2048, of which most would be lost here.
const queued = 1 << 16

func newTracer(b *testing.B) (tracer oteltrace.Tracer, report func()) {
	out := &exporter{}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(out, sdktrace.WithMaxQueueSize(queued)))
	return provider.Tracer("bench"), func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100-100*float64(out.spans.Load())/float64(b.N), "%lost")
	}
}
