package sinktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
)

// signal is what differs between metrics and spans for the kit.
type signal struct {
	name string
	// build returns the sink and how to send samples with it.
	build func(*sinks.Configured, sinks.Settings) (sink any, sender sender, err error)
}

// sender gives a sink things to send.
type sender interface {
	// lend sends the full sample by the sink itself, asserts that it did not change, and then makes rubbish of it.
	lend(ctx context.Context, t testing.TB) error
	// deliver wraps the sink for delivery of plain samples; before and after are called around each attempt.
	deliver(cfg delivery.Common, s delivery.Settings, tap *tap) deliverer
}

// deliverer is a Delivery or a Spans.
type deliverer interface {
	lifecycle.Runner
	lifecycle.Starter
	lifecycle.Closer
	Ledger() delivery.Ledger
	Failing() (string, bool)
	offer(n int)
}

var signals = []*signal{
	{"metrics", func(c *sinks.Configured, s sinks.Settings) (any, sender, error) {
		sink, err := c.Metrics(s)
		return sink, metricSender{sink}, err
	}},
	{"spans", func(c *sinks.Configured, s sinks.Settings) (any, sender, error) {
		sink, err := c.Spans(s)
		return sink, spanSender{sink}, err
	}},
}

type metricSender struct{ sink sinks.MetricSink }

func (m metricSender) lend(ctx context.Context, t testing.TB) error {
	b := Batch()
	if _, ok := m.sink.(sinks.DistributionSink); !ok {
		b.Distributions = nil
	}
	before := cloneBatch(b)
	err := m.sink.Send(ctx, b)
	assert.Equal(t, before, b, "the sink changed what it was lent")
	mangleBatch(b)
	return err
}

func (m metricSender) deliver(cfg delivery.Common, s delivery.Settings, tap *tap) deliverer {
	c := delivery.DefaultConfig()
	c.Common = cfg
	return metricDeliverer{delivery.New(&tappedMetrics{tap, m.sink}, c, s)}
}

type metricDeliverer struct{ *delivery.Delivery }

func (d metricDeliverer) offer(n int) {
	b := &sinks.Batch{End: end, Interval: 10 * time.Second}
	for i := range n {
		b.Points = append(b.Points, counter("delivered", float64(i), "env:prod", "number:"+random(i)))
	}
	d.Offer(b)
}

type spanSender struct{ sink sinks.SpanSink }

func (s spanSender) lend(ctx context.Context, t testing.TB) error {
	spans := Spans()
	before := cloneSpans(spans)
	lent := slices.Clone(spans)
	err := s.sink.SendSpans(ctx, lent)
	assert.Equal(t, before, lent, "the sink changed what it was lent")
	mangleSpans(lent)
	return err
}

func (s spanSender) deliver(cfg delivery.Common, set delivery.Settings, tap *tap) deliverer {
	c := delivery.DefaultSpanConfig()
	c.Common = cfg
	c.Linger = 0
	return spanDeliverer{delivery.NewSpans(&tappedSpans{tap, s.sink}, c, set)}
}

type spanDeliverer struct{ *delivery.Spans }

func (d spanDeliverer) offer(n int) {
	for i := range n {
		s := *Spans()[0]
		s.Id = int64(i + 1)
		s.Service = random(i)
		d.OfferSpan(&s)
	}
}

// random is text that does not compress, so that half a chunk is about half as large on the wire.
func random(i int) string {
	sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
	return hex.EncodeToString(sum[:])
}
