package sinktest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/ssf"
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
	overdue time.Duration // how long after its deadline it returned; below 0 when before
	err     error
}

func (p *tap) around(ctx context.Context, send func() error) error {
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
	p.attempts = append(p.attempts, tapped{start, time.Since(deadline), err})
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
	return p.around(ctx, func() error { return p.metrics.Send(ctx, chunk) })
}

type tappedSpans struct {
	*tap
	spans sinks.SpanSink
}

func (p *tappedSpans) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	return p.around(ctx, func() error { return p.spans.SendSpans(ctx, spans) })
}

// subject is one sink under one check, with its delivery.
type subject struct {
	*Env
	signal *signal
	sender sender
	tap    *tap

	settings delivery.Settings
	items    int // of a chunk
	d        deliverer
}

func (c *Case) newSubject(t testing.TB, s *signal, said *Buffer) *subject {
	return c.subjectIn(t, newEnv(t, c, said), s)
}

// subjectIn builds a sink in a given environment, as a daemon does that is started again.
func (c *Case) subjectIn(t testing.TB, env *Env, s *signal) *subject {
	configured, err := c.Kind.Configure(decoder(env.expand(c.YAML)))
	require.NoError(t, err, "the configuration of the case")
	settings := env.settings()
	sink, sender, err := s.build(configured, settings)
	require.NoError(t, err, "building the sink")
	env.Sink = sink
	sub := &subject{Env: env, signal: s, sender: sender, tap: &tap{sink: sink}, settings: delivery.Settings{
		Name: settings.Name, Interval: settings.Interval, Log: settings.Log, Telemetry: settings.Telemetry,
		DrainTimeout: patience,
	}}
	sub.chunksOf(chunkItems)
	return sub
}

// chunksOf makes the delivery anew, with chunks of n.
func (sub *subject) chunksOf(n int) {
	// For backends on this machine that fail on purpose.
	c := delivery.DefaultConfig().Common
	c.ChunkItems = n
	c.Timeout = 500 * time.Millisecond
	c.RetryInitial = time.Millisecond
	c.RetryMax = 10 * time.Millisecond
	c.RetryAttempts = 5
	sub.items = n
	sub.d = sub.sender.deliver(c, sub.settings, sub.tap)
}

// chunkItems is how many items one offer and one chunk have, unless a check says otherwise.
const chunkItems = 8

// deliver offers a number of chunks and returns what became of them, once nothing waits any more.
func (sub *subject) deliver(t testing.TB, chunks int) delivery.Ledger {
	require.NoError(t, sub.d.Start(t.Context()), "start")
	for range chunks {
		sub.d.offer(sub.items)
	}
	// Told to stop from the beginning, Run returns when everything is settled: there is nothing to wait for.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, sub.d.Run(ctx))
	l := sub.d.Ledger()
	require.Equal(t, l.Offered, l.Sum(), "the ledger does not add up: %+v", l)
	require.EqualValues(t, chunks*sub.items, l.Offered)
	require.Zero(t, l.Waiting)
	text, _ := sub.d.Failing()
	_, _ = sub.said.Write([]byte(text + "\n"))
	for i, attempt := range sub.tap.attempts {
		sub.said.note(attempt.err)
		assert.Less(t, attempt.overdue, overdue, "attempt %d returned too long after its deadline", i)
	}
	return l
}

// overdue is how long after its deadline a Send may return on a busy machine.
const overdue = time.Second

// live runs the sink without delivery while f runs.
func (sub *subject) live(t testing.TB, f func()) {
	require.NoError(t, sub.tap.Start(t.Context()), "start")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sub.tap.Run(ctx) }()
	defer func() {
		cancel()
		assert.NoError(t, <-ended, "run")
		assert.NoError(t, sub.tap.Close(), "close")
	}()
	f()
}
