package sinktest

import (
	"context"
	"sync"
	"time"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// tap sits between delivery and the sink.
type tap struct {
	sink   any
	before func(attempt int) // may be nil

	mu       sync.Mutex
	attempts []tapped
}

// tapped is one attempt.
type tapped struct {
	start   time.Time
	items   int
	overdue time.Duration // how long after its deadline it returned; below 0 when before
	err     error
}

func (p *tap) around(ctx context.Context, items int, send func() error) error {
	p.mu.Lock()
	n := len(p.attempts)
	p.mu.Unlock()
	if p.before != nil {
		p.before(n)
	}
	start := time.Now()
	err := send()
	deadline, _ := ctx.Deadline()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts = append(p.attempts, tapped{start, items, time.Since(deadline), err})
	return err
}

// Start, Run and Close pass on what the sink has of them.
func (p *tap) Start(ctx context.Context) error {
	if s, ok := p.sink.(lifecycle.Starter); ok {
		return s.Start(ctx)
	}
	return nil
}

func (p *tap) Run(ctx context.Context) error {
	if r, ok := p.sink.(lifecycle.Runner); ok {
		return r.Run(ctx)
	}
	<-ctx.Done()
	return nil
}

func (p *tap) Close() error {
	if c, ok := p.sink.(sinks.Closer); ok {
		return c.Close()
	}
	return nil
}

type tappedMetrics struct {
	*tap
	metrics sinks.MetricSink
}

func (p *tappedMetrics) Send(ctx context.Context, chunk *sinks.Batch) error {
	return p.around(ctx, chunk.Len(), func() error { return p.metrics.Send(ctx, chunk) })
}

type tappedSpans struct {
	*tap
	spans sinks.SpanSink
}

func (p *tappedSpans) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	return p.around(ctx, len(spans), func() error { return p.spans.SendSpans(ctx, spans) })
}

// overdue is how long after its deadline a Send may return on a busy machine.
const overdue = 20 * time.Second
