package traceot

import (
	"context"

	"github.com/opentracing/opentracing-go"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
)

// Option changes a tracer.
type Option func(*tracer)

// Read chooses the headers that Extract looks for in a text map or HTTP header. The default is every format known.
func Read(formats ...propagation.Format) Option { return func(t *tracer) { t.read = formats } }

// Write chooses the headers that Inject writes. The default is propagation.Written.
func Write(formats ...propagation.Format) Option { return func(t *tracer) { t.write = formats } }

// New returns a tracer whose spans the client sends. Of a nil client it is opentracing.NoopTracer.
func New(client *trace.Client, opts ...Option) opentracing.Tracer {
	if client == nil {
		return opentracing.NoopTracer{}
	}
	t := &tracer{client: client}
	for _, opt := range opts {
		opt(t)
	}
	return t
}

type tracer struct {
	client      *trace.Client
	read, write []propagation.Format
}

// StartSpan starts a span. Its parent is the first context among the references that is one of this package's.
func (t *tracer) StartSpan(name string, opts ...opentracing.StartSpanOption) opentracing.Span {
	var o opentracing.StartSpanOptions
	for _, opt := range opts {
		opt.Apply(&o)
	}
	s := &span{tracer: t}
	for _, ref := range o.References {
		if parent, ok := ref.ReferencedContext.(spanContext); ok {
			s.Span = parent.child(t.client, name)
			s.baggage = parent.baggage
			break
		}
	}
	if s.Span.TraceID() == 0 {
		s.Span = t.client.StartTrace(name)
	}
	if !o.StartTime.IsZero() {
		s.Span.SetStart(o.StartTime)
	}
	for key, value := range o.Tags {
		s.SetTag(key, value)
	}
	return s
}

// ContextWithSpanHook puts the span into the context for package trace as well.
func (t *tracer) ContextWithSpanHook(ctx context.Context, s opentracing.Span) context.Context {
	if ours, ok := s.(*span); ok {
		return ours.Span.Attach(ctx)
	}
	return ctx
}

// Wrap returns an OpenTracing span that is s: finishing one finishes the other. The tracer must be one of New; otherwise, and for the zero
// Span, the result is a span of it that does nothing for s.
func Wrap(t opentracing.Tracer, s trace.Span) opentracing.Span {
	if ours, ok := t.(*tracer); ok && s.TraceID() != 0 {
		return &span{tracer: ours, Span: s}
	}
	return opentracing.NoopTracer{}.StartSpan("")
}

// spanContext is a span of this process, or what came from another one.
type spanContext struct {
	local   trace.Span
	remote  trace.SpanContext
	baggage map[string]string // never changed: a span that gets an item has a new map
}

func (c spanContext) child(client *trace.Client, name string) trace.Span {
	if c.local.TraceID() != 0 {
		return c.local.StartChild(name)
	}
	return client.StartFrom(c.remote, name)
}

func (c spanContext) ids() trace.SpanContext {
	if c.local.TraceID() != 0 {
		return c.local.Context()
	}
	return c.remote
}

// ForeachBaggageItem calls f for each item, until it returns false.
func (c spanContext) ForeachBaggageItem(f func(key, value string) bool) {
	for key, value := range c.baggage {
		if !f(key, value) {
			return
		}
	}
}
