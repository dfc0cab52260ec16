package main

import (
	"context"
	"time"

	"github.com/veneurd/veneur/ssf"
)

// defaultTreeRate is how many traces are sent a second.
const defaultTreeRate = 20

// call is one request to a service, and what the service does to answer it: in that order, one after the other.
type call struct {
	service, name string
	own           time.Duration // what the service takes itself
	failsEach     int           // every so many-th fails; 0 is none
	calls         []call        // of other services
	targets       []target      // that are no services of ours
}

// target is something that is waited for and sends no spans itself.
type target struct {
	name, tag, value string
	took             time.Duration
}

// shop is the tree that is sent. Every 20th payment fails, and with it the checkout.
func shop() call {
	return call{
		service: "web", name: "POST /checkout", own: 12 * time.Millisecond,
		calls: []call{
			{
				service: "cart", name: "GET /cart", own: 3 * time.Millisecond,
				targets: []target{{"SELECT items", "db.instance", "carts", 5 * time.Millisecond}},
			},
			{
				service: "payments", name: "POST /charge", own: 8 * time.Millisecond, failsEach: 20,
				targets: []target{
					{"INSERT charges", "db.instance", "payments", 7 * time.Millisecond},
					{"POST", "http.host", "bank.example", 80 * time.Millisecond},
				},
			},
		},
		targets: []target{{"send", "messaging.destination", "orders", 2 * time.Millisecond}},
	}
}

// tree makes the spans of one trace after the other.
type tree struct {
	tags  []ssf.Tag // of every span
	trace int64
	n     int // which trace it is, from 0
	spans []*ssf.SSFSpan
}

// next returns the spans of the next trace, those inside before those around them, as they end. The first trace is the fastest of a hundred, the
// hundredth takes twice as long.
func (t *tree) next(end time.Time) []*ssf.SSFSpan {
	t.trace, t.spans = newSpanID(), nil
	root := shop()
	start := end.Add(-t.took(&root))
	t.request(&root, 0, start)
	t.n++
	return t.spans
}

func (t *tree) scaled(d time.Duration) time.Duration { return d + d*time.Duration(t.n%100)/100 }

func (t *tree) took(c *call) time.Duration {
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
func (t *tree) request(c *call, parent int64, start time.Time) (end time.Time, failed bool) {
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

func (t *tree) span(service, name string, parent int64, start time.Time) *ssf.SSFSpan {
	span := &ssf.SSFSpan{
		TraceId: t.trace, Id: newSpanID(), ParentId: parent, Service: service, Name: name, StartTimestamp: start.UnixNano(),
	}
	for _, tag := range t.tags {
		span.SetTag(tag.Key, tag.Value)
	}
	return span
}

func (t *tree) finish(span *ssf.SSFSpan, end time.Time, failed bool) {
	span.EndTimestamp, span.Error = end.UnixNano(), failed
	t.spans = append(t.spans, span)
}

// emitTrees sends as many traces as the command line asks for, at its pace, over one connection, and stops early when ctx is done.
func (o *options) emitTrees(ctx context.Context, s streams) error {
	timeout, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	to, err := o.to.dial(timeout)
	if err != nil {
		return err
	}
	t := tree{tags: spanTags(o.tag)}
	ticker := time.NewTicker(time.Duration(float64(time.Second) / float64(o.treeRate)))
	defer ticker.Stop()
	sent := 0
	for err == nil && t.n < o.trees {
		for _, span := range t.next(time.Now()) {
			if err = sendWithin(ctx, to, span); err != nil {
				break
			}
			sent++
		}
		if t.n == o.trees {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-ticker.C:
		}
	}
	timeout, cancel = context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	if finished := to.finish(timeout); err == nil {
		err = finished
	}
	o.debugf(s, "%d spans of %d traces sent to %s", sent, t.n, o.to)
	return err
}

func sendWithin(ctx context.Context, to sender, span *ssf.SSFSpan) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return to.span(ctx, span)
}
