package delivery

import (
	"context"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/diskqueue"
	"github.com/veneurd/veneur/ssf"
)

// cargo is what is handed to a sink at once, or what such chunks are cut from. It is never changed once it is queued; its parts share its
// memory.
type cargo interface {
	len() int
	// part returns the items [from, to), in the order points, distributions, events, checks.
	part(from, to int) cargo
	// pick returns the items at those places, which ascend.
	pick(places []int) cargo
	// place returns where in that order an item stands, or -1.
	place(list sinks.List, index int) int
	send(ctx context.Context) error
	// encode returns what a record on disk holds of it, valid until the encoder's next use.
	encode(e *diskqueue.Encoder) []byte
}

// batch is cargo for a metric sink.
type batch struct {
	*sinks.Batch
	sink sinks.MetricSink
	rest []*sinks.Batch // the batches that follow it in its interval, from which chunks are cut too, none from two
}

func (b batch) len() int { return b.Len() }

func (b batch) part(from, to int) cargo {
	whole := b.Batch
	for _, next := range b.rest {
		n := whole.Len()
		if from < n {
			break
		}
		whole, from, to = next, from-n, to-n
	}
	return batch{chunk(whole, from, to), b.sink, nil}
}

func (b batch) encode(e *diskqueue.Encoder) []byte { return e.Batch(b.Batch) }

func (b batch) send(ctx context.Context) error { return b.sink.Send(ctx, b.Batch) }

func (b batch) pick(places []int) cargo {
	p := &sinks.Batch{End: b.End, Interval: b.Interval, More: b.More, Exemplars: b.Exemplars}
	offset := 0
	p.Points = pick(b.Points, &places, &offset)
	p.Distributions = pick(b.Distributions, &places, &offset)
	p.Events = pick(b.Events, &places, &offset)
	p.Checks = pick(b.Checks, &places, &offset)
	return batch{p, b.sink, nil}
}

// pick takes those of places, counted from offset on, that fall into all, and moves offset and places on to what comes after all.
func pick[T any](all []T, places *[]int, offset *int) (picked []T) {
	end := *offset + len(all)
	for len(*places) > 0 && (*places)[0] < end {
		picked = append(picked, all[(*places)[0]-*offset])
		*places = (*places)[1:]
	}
	*offset = end
	return picked
}

func (b batch) place(list sinks.List, index int) int {
	lengths := [...]int{len(b.Points), len(b.Distributions), len(b.Events), len(b.Checks)}
	if int(list) >= len(lengths) || index < 0 || index >= lengths[list] {
		return -1
	}
	for _, n := range lengths[:list] {
		index += n
	}
	return index
}

// spanList is cargo for a span sink.
type spanList struct {
	spans []*ssf.SSFSpan
	sink  sinks.SpanSink
}

func (l *spanList) len() int { return len(l.spans) }

func (l *spanList) part(from, to int) cargo { return &spanList{l.spans[from:to:to], l.sink} }

func (l *spanList) encode(e *diskqueue.Encoder) []byte { return e.Spans(l.spans) }

func (l *spanList) send(ctx context.Context) error {
	return l.sink.SendSpans(ctx, l.spans[:len(l.spans):len(l.spans)])
}

func (l *spanList) pick(places []int) cargo {
	offset := 0
	return &spanList{pick(l.spans, &places, &offset), l.sink}
}

func (l *spanList) place(_ sinks.List, index int) int {
	if index < 0 || index >= len(l.spans) {
		return -1
	}
	return index
}
