package delivery

import (
	"time"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Spans delivers spans to one span sink. OfferSpan, Ledger and Failing may be called at any time by any goroutine; Start, Run and Close are
// its life, as package lifecycle has it.
type Spans struct {
	*core
	sink sinks.SpanSink
}

// NewSpans wraps a sink. The configuration must be valid. Nothing is opened or started.
func NewSpans(sink sinks.SpanSink, cfg SpanConfig, s Settings) *Spans {
	return &Spans{newCore(sink, "spans", cfg.Common, cfg.Linger, s, decodeSpans(sink)), sink}
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
	list := p.cargo.(*spanList)
	list.spans = append(list.spans, span)
	p.items++
	p.bytes += size
	if p.items == d.cfg.ChunkItems {
		d.closeParcel()
	}
	q.makeRoom()
}

// roomFor returns the open parcel, or a new one behind the others when there is none or it would become too large.
func (d *Spans) roomFor(size int) *parcel {
	q := &d.queue
	if q.open != nil && q.open.bytes+size <= d.cfg.ChunkBytes {
		return q.open
	}
	d.closeParcel()
	q.open = &parcel{born: time.Now(), cargo: &spanList{sink: d.sink}}
	q.parcels = append(q.parcels, q.open)
	q.signal()
	return q.open
}

// closeParcel makes the open parcel ripe.
func (d *Spans) closeParcel() {
	if d.queue.open != nil {
		d.queue.open = nil
		d.queue.signal()
	}
}
