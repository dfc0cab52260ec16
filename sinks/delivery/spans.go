package delivery

import (
	"context"
	"time"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Spans delivers spans to one span sink. OfferSpan, Ledger and Failing may be called at any time by any goroutine; Start, Run and Close are
// its life, as package lifecycle has it.
type Spans struct {
	*core
	open *spanParcel // the newest parcel; under the queue's lock
}

type spanParcel struct {
	parcel
	spans []*ssf.SSFSpan
}

// NewSpans wraps a sink. The configuration must be valid. Nothing is opened or started.
func NewSpans(sink sinks.SpanSink, cfg SpanConfig, s Settings) *Spans {
	d := &Spans{core: newCore(sink, "spans", cfg.Common, cfg.Linger, s)}
	d.send = func(ctx context.Context, payload any, from, to int) error {
		return sink.SendSpans(ctx, payload.(*spanParcel).spans[from:to:to])
	}
	return d
}

// OfferSpan takes a span over for delivery. It never blocks, and keeps the span, which several sinks may share and which must not change
// any more. A full queue drops its oldest spans, up to a chunk of them at once. After Run has returned everything offered is expired.
func (d *Spans) OfferSpan(span *ssf.SSFSpan) {
	size := span.Size()
	q := &d.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	p := d.open
	if p == nil || !p.open || p.bytes+size > d.cfg.ChunkBytes {
		p = d.openParcel()
	}
	p.spans = append(p.spans, span)
	p.items++
	p.bytes += size
	q.enter(&p.parcel, 1, size)
	if p.items == d.cfg.ChunkItems {
		d.closeParcel()
	}
	q.makeRoom()
}

// openParcel opens a parcel behind the others.
func (d *Spans) openParcel() *spanParcel {
	d.closeParcel()
	p := &spanParcel{parcel: parcel{born: time.Now(), open: true}}
	p.payload = p
	if !d.queue.ended {
		d.open = p
		d.queue.parcels = append(d.queue.parcels, &p.parcel)
		d.queue.signal()
	}
	return p
}

// closeParcel makes the newest parcel ripe.
func (d *Spans) closeParcel() {
	if d.open != nil && d.open.open {
		d.open.open = false
		d.queue.signal()
	}
	d.open = nil
}
