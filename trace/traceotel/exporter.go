package traceotel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// Exporter is an sdktrace.SpanExporter that records spans with a client.
type Exporter struct {
	client       *trace.Client
	noIndicators bool
	stopped      atomic.Bool
	scratch      sync.Pool // of *ssf.SSFSpan: the SDK exports one batch at a time, but may have several processors
}

// Option changes an Exporter.
type Option func(*Exporter)

// NoIndicators makes spans of servers and consumers no indicators, from which the daemon derives timers of the service.
func NoIndicators() Option { return func(e *Exporter) { e.noIndicators = true } }

// New returns an exporter. The client stays the caller's, who closes it after the provider has been shut down. A nil client takes everything and
// does nothing.
func New(client *trace.Client, opts ...Option) *Exporter {
	e := &Exporter{client: client}
	e.scratch.New = func() any { return new(ssf.SSFSpan) }
	for _, opt := range opts {
		opt(e)
	}
	return e
}

// ExportSpans records the spans, and does not wait until they are sent. The error says how many were dropped, and is one by errors.Is of
// the client's reasons. A span that is too large is tried again without its events and links.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if e.client == nil || e.stopped.Load() {
		return nil
	}
	out := e.scratch.Get().(*ssf.SSFSpan)
	defer e.scratch.Put(out)
	var errs []error
	for i, span := range spans {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%d of %d spans not recorded: %w", len(spans)-i, len(spans), err)
		}
		e.convert(out, span)
		if err := e.record(out); err != nil {
			errs = append(errs, err)
		}
	}
	clear(out.Tags)
	if len(errs) > 0 {
		return fmt.Errorf("%d of %d spans dropped: %w", len(errs), len(spans), errs[0])
	}
	return nil
}

func (e *Exporter) record(span *ssf.SSFSpan) error {
	_, events := span.Tag(tagEvents)
	_, links := span.Tag(tagLinks)
	if (events || links) && span.Size() > e.client.MaxSpan() {
		span.DeleteTag(tagEvents)
		span.DeleteTag(tagLinks)
		span.SetTag(tagCut, "true")
	}
	return e.client.Record(span)
}

// ForceFlush waits until everything that was exported has been sent.
func (e *Exporter) ForceFlush(ctx context.Context) error {
	if e.stopped.Load() {
		return nil
	}
	return e.client.Flush(ctx)
}

// Shutdown flushes, and takes no more.
func (e *Exporter) Shutdown(ctx context.Context) error {
	if e.stopped.Swap(true) {
		return nil
	}
	err := e.client.Flush(ctx)
	if errors.Is(err, trace.ReasonClosed) {
		return nil // the client was closed first, and has sent everything then
	}
	return err
}
