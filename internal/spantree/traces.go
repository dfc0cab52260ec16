// Package spantree makes up traces of services that call each other, for commands that send them: a web server of a shop that asks a cart and a
// payment service, which ask databases and a bank.
package spantree

import (
	"time"

	"github.com/veneurd/veneur/ssf"
)

// Traces makes the spans of one trace after the other. It is not for several goroutines at once.
type Traces struct {
	// Tags are of every span.
	Tags []ssf.Tag
	// NewID returns an id of a trace or span, not 0, and never the same again.
	NewID func() int64

	trace int64
	n     int // which trace it is, from 0
	spans []*ssf.SSFSpan
}

// Made returns how many traces there were.
func (t *Traces) Made() int { return t.n }

// Next returns the spans of the next trace, those inside before those around them, as they end; the last one, the root, at end. The first trace is
// the fastest of a Period, the last of them takes nearly twice as long. The spans are the caller's.
func (t *Traces) Next(end time.Time) []*ssf.SSFSpan {
	t.trace, t.spans = t.NewID(), make([]*ssf.SSFSpan, 0, SpansPerTrace)
	root := shop()
	start := end.Add(-t.took(&root))
	t.request(&root, 0, start)
	t.n++
	return t.spans
}

func (t *Traces) scaled(d time.Duration) time.Duration {
	return d + d*time.Duration(t.n%Period)/Period
}

func (t *Traces) took(c *call) time.Duration {
	d := t.scaled(c.own)
	for i := range c.calls {
		d += t.took(&c.calls[i])
	}
	for i := range c.targets {
		d += t.scaled(c.targets[i].took)
	}
	return d
}

// request adds the spans of a request, and says when it ended and whether it failed.
func (t *Traces) request(c *call, parent int64, start time.Time) (end time.Time, failed bool) {
	span := t.span(c.service, c.name, parent, start)
	span.Indicator = parent != 0 // the root is a request anyway
	span.SetTag("span.kind", "server")
	at := start.Add(t.scaled(c.own))
	for i := range c.calls {
		called := &c.calls[i]
		out := t.span(c.service, "call "+called.name, span.Id, at)
		out.SetTag("span.kind", "client")
		out.SetTag("peer.service", called.service)
		var broke bool
		at, broke = t.request(called, out.Id, at)
		failed = failed || broke
		t.finish(out, at, broke)
	}
	for i := range c.targets {
		to := &c.targets[i]
		out := t.span(c.service, to.name, span.Id, at)
		out.SetTag("span.kind", "client")
		out.SetTag(to.tag, to.value)
		at = at.Add(t.scaled(to.took))
		t.finish(out, at, false)
	}
	failed = failed || c.failsEach > 0 && t.n%c.failsEach == c.failsEach-1
	t.finish(span, at, failed)
	return at, failed
}

func (t *Traces) span(service, name string, parent int64, start time.Time) *ssf.SSFSpan {
	span := &ssf.SSFSpan{
		TraceId: t.trace, Id: t.NewID(), ParentId: parent, Service: service, Name: name, StartTimestamp: start.UnixNano(),
	}
	for _, tag := range t.Tags {
		span.SetTag(tag.Key, tag.Value)
	}
	return span
}

func (t *Traces) finish(span *ssf.SSFSpan, end time.Time, failed bool) {
	span.EndTimestamp, span.Error = end.UnixNano(), failed
	t.spans = append(t.spans, span)
}
