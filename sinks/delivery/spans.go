package delivery

import (
	"context"
	"time"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Spans delivers spans to one span sink. OfferSpan, Ledger and Failing may be called at any time by any goroutine; Start, Run and Close are
// its life, as package lifecycle has it.
type Spans struct{ *core }

type spanParcel struct {
	parcel
	spans []*ssf.SSFSpan
}

// NewSpans wraps a sink. The configuration must be valid. Nothing is opened or started.
func NewSpans(sink sinks.SpanSink, cfg SpanConfig, s Settings) *Spans {
	d := &Spans{newCore(sink, "spans", cfg.Common, cfg.Linger, s)}
	d.send = func(ctx context.Context, payload any, from, to int) error {
		return sink.SendSpans(ctx, payload.(*spanParcel).spans[from:to:to])
	}
	return d
}

// OfferSpan takes a span over for delivery. It never blocks, and keeps the span, which several sinks may share and which must not change
// any more. A full queue drops its oldest spans, up to a chunk of them at once. After Run has returned everything offered is expired.
func (d *Spans) OfferSpan(span *ssf.SSFSpan) {
	size := spanSize(span)
	q := &d.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if !q.enter(1, size) {
		return
	}
	p := d.roomFor(size)
	p.spans = append(p.spans, span)
	p.items++
	p.bytes += size
	if p.items == d.cfg.ChunkItems {
		d.closeParcel()
	}
	q.makeRoom()
}

// roomFor returns the open parcel, or a new one behind the others when there is none or it would become too large.
func (d *Spans) roomFor(size int) *spanParcel {
	q := &d.queue
	if q.open != nil && q.open.bytes+size <= d.cfg.ChunkBytes {
		return q.open.payload.(*spanParcel)
	}
	d.closeParcel()
	p := &spanParcel{parcel: parcel{born: time.Now()}}
	p.payload = p
	q.open = &p.parcel
	q.parcels = append(q.parcels, q.open)
	q.signal()
	return p
}

// closeParcel makes the open parcel ripe.
func (d *Spans) closeParcel() {
	if d.queue.open != nil {
		d.queue.open = nil
		d.queue.signal()
	}
}
