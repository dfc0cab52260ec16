package delivery_test

import (
	"context"
	"io"
	"runtime"
	"strconv"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

func quiet() delivery.Settings {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return delivery.Settings{Name: "out", Interval: interval, Log: log, Telemetry: telemetry.New()}
}

// What one interval of 100,000 points costs the flusher, for each sink.
func BenchmarkOffer(b *testing.B) {
	const n = 100_000
	whole := &sinks.Batch{}
	for i := range n {
		name := "service.requests." + strconv.Itoa(i)
		whole.Points = append(whole.Points, sinktest.Point(metric.CounterPoint, name, 1, "env:prod", "region:eu-west-1", "status:200"))
	}
	for _, tt := range []struct {
		name string
		set  func(*delivery.Config)
	}{
		{"no limits", func(*delivery.Config) {}},
		{"limits that keep all", func(c *delivery.Config) { c.MaxNameLength, c.MaxTagLength, c.MaxTags = 200, 200, 20 }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			cfg := delivery.DefaultConfig()
			tt.set(&cfg)
			d := delivery.New(&sinktest.Recorder{}, cfg, quiet())
			b.ReportAllocs()
			for b.Loop() {
				d.Offer(whole)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/point")
		})
	}
}

func BenchmarkOfferSpan(b *testing.B) {
	d := delivery.NewSpans(&sinktest.Recorder{}, delivery.DefaultSpanConfig(), quiet())
	span := sinktest.Spans()[0]
	b.ReportAllocs()
	for b.Loop() {
		d.OfferSpan(span)
	}
}

// nowhere takes everything at once.
type nowhere struct{}

func (nowhere) Send(context.Context, *sinks.Batch) error { return nil }

func (nowhere) SendSpans(context.Context, []*ssf.SSFSpan) error { return nil }

// What a point and a span cost from Offer to a sink that does nothing, with the queue in memory and on disk: written, read back and deleted.
func BenchmarkDeliver(b *testing.B) {
	const n = 50_000
	whole := &sinks.Batch{}
	for i := range n {
		name := "service.requests." + strconv.Itoa(i)
		whole.Points = append(whole.Points, sinktest.Point(metric.CounterPoint, name, 1, "env:prod", "region:eu-west-1", "status:200"))
	}
	span := &ssf.SSFSpan{TraceId: 1 << 40, Id: 1 << 50, StartTimestamp: 1 << 60, EndTimestamp: 1<<60 + 1<<20, Service: "checkout", Name: "GET /a/{id}"}
	for i := range 8 {
		span.Tags = append(span.Tags, ssf.Tag{Key: "some.key." + strconv.Itoa(i), Value: "some value"})
	}
	for _, where := range []string{"memory", "disk"} {
		common := func(c *delivery.Common) {
			if where == "disk" {
				c.DiskQueue.Path = b.TempDir()
			}
			c.QueueItems, c.QueueBytes = 10*n, 1<<30
		}
		b.Run("points/"+where, func(b *testing.B) {
			cfg := delivery.DefaultConfig()
			common(&cfg.Common)
			d := delivery.New(nowhere{}, cfg, quiet())
			deliver(b, n, d, d.Ledger, func() { d.Offer(whole) })
		})
		b.Run("spans/"+where, func(b *testing.B) {
			cfg := delivery.DefaultSpanConfig()
			common(&cfg.Common)
			cfg.Linger = 0
			d := delivery.NewSpans(nowhere{}, cfg, quiet())
			deliver(b, n, d, d.Ledger, func() {
				for range n {
					d.OfferSpan(span)
				}
			})
		})
	}
}

// deliver offers n items again and again, each time waiting until the sink has them.
func deliver(b *testing.B, n int, d interface {
	Start(context.Context) error
	Run(context.Context) error
}, ledger func() delivery.Ledger, offer func(),
) {
	if err := d.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	b.ReportAllocs()
	for b.Loop() {
		offer()
		for ledger().Waiting > 0 {
			runtime.Gosched()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
	cancel()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	if l := ledger(); l.Sent != l.Offered {
		b.Fatalf("%+v", l)
	}
}
