package trace

import (
	"context"
	"strconv"
)

// Sampling is what the head of a trace decided, as other tracers tell it. Spans are recorded whatever it is; it is passed on.
type Sampling int8

// What is known about the decision.
const (
	SamplingUnknown Sampling = iota
	Sampled
	NotSampled
	SamplingDebug // B3's debug flag: sampled, whatever it costs
)

// SpanContext is what of a span goes to another process.
type SpanContext struct {
	TraceID     int64  // the lower half of an id of 128 bits; never zero
	SpanID      int64  // never zero
	TraceIDHigh uint64 // the upper half of an id of 128 bits, zero of one of ours
	Sampling    Sampling
	State       string // the tracestate of W3C, passed on as it came
}

// Valid says that both ids are there.
func (sc SpanContext) Valid() bool { return sc.TraceID != 0 && sc.SpanID != 0 }

// TagTraceID128 is the tag that holds a trace id of 128 bits, in 32 digits, of which the span's own trace id is the lower half.
const TagTraceID128 = "trace_id_128"

// StartFrom starts a span whose parent is in another process. It belongs to the client; a trace id of 128 bits is kept in a tag, and passed
// on by its children. Of an invalid context it starts a root. On a nil client the result is the zero Span.
func (c *Client) StartFrom(sc SpanContext, name string) Span {
	switch {
	case c == nil:
		return Span{}
	case !sc.Valid():
		return c.StartTrace(name)
	}
	s := begin(name, &origin{c, sc}, sc.TraceID, sc.SpanID)
	if sc.TraceIDHigh != 0 {
		s.SetTag(TagTraceID128, hex16(sc.TraceIDHigh)+hex16(uint64(sc.TraceID)))
	}
	return s
}

func hex16(v uint64) string {
	const zeros = "0000000000000000"
	s := strconv.FormatUint(v, 16)
	return zeros[len(s):] + s
}

// Context returns what goes to another process, where the span is the parent. It works after Finish.
func (s Span) Context() SpanContext {
	sc := SpanContext{TraceID: s.traceID, SpanID: s.id}
	if s.origin != nil {
		remote := &s.origin.remote
		sc.TraceIDHigh, sc.Sampling, sc.State = remote.TraceIDHigh, remote.Sampling, remote.State
	}
	return sc
}

// TraceID is the id of the span's trace: that of its root, unless the trace came from elsewhere.
func (s Span) TraceID() int64 { return s.traceID }

// ID is the span's own id.
func (s Span) ID() int64 { return s.id }

// Client is the client that Finish sends the span by, or nil.
func (s Span) Client() *Client {
	if s.origin == nil {
		return nil
	}
	return s.origin.client
}

// Recording says that the span is neither the zero Span nor finished.
func (s Span) Recording() bool {
	return s.state != nil && s.state.holder.Load()&^busy == s.id
}

// carrier is a context with a span, or with only a client. It is all that a span in a context costs: one allocation.
type carrier struct {
	context.Context
	span Span
}

type carrierKey struct{}

func (c *carrier) Value(key any) any {
	if key == (carrierKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// Attach returns a context in which the span is the parent of those that are started from it.
func (s Span) Attach(ctx context.Context) context.Context { return &carrier{ctx, s} }

// Attach returns a context in which spans without a parent are of this client.
func (c *Client) Attach(ctx context.Context) context.Context {
	if c == nil {
		return ctx
	}
	return &carrier{ctx, Span{origin: &c.origin}}
}

// FromContext returns the span that is in the context, or the zero Span. It starts none.
func FromContext(ctx context.Context) Span {
	if c, ok := ctx.(*carrier); ok {
		return c.span
	}
	if c, ok := ctx.Value(carrierKey{}).(*carrier); ok {
		return c.span
	}
	return Span{}
}

// StartSpanFromContext starts a child of the span in the context, or a root, and returns it together with a context that it is in. It is of
// the client in the context; without one, ClientFinish sends it.
func StartSpanFromContext(ctx context.Context, name string) (Span, context.Context) {
	s := StartChildSpan(FromContext(ctx), name)
	return s, s.Attach(ctx)
}

// StartSpanFromContext starts a child of the span in the context, or a root, of this client, and returns it together with a context that
// it is in. That context is the only allocation. A nil client returns the zero Span and the context as it is.
func (c *Client) StartSpanFromContext(ctx context.Context, name string) (Span, context.Context) {
	if c == nil {
		return Span{}, ctx
	}
	parent := FromContext(ctx)
	switch {
	case parent.Client() == c:
	case parent.origin != nil && parent.origin.remote.Valid():
		parent.origin = &origin{c, parent.origin.remote}
	default:
		parent.origin = &c.origin
	}
	s := StartChildSpan(parent, name)
	return s, s.Attach(ctx)
}
