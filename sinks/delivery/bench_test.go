package delivery_test

import (
	"io"
	"strconv"
	"testing"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
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
