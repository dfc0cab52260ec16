package trace

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// transport is the way to the daemon. It is used by the sender alone.
type transport interface {
	// send sends what is left of b, moves b along and counts. An error says that the way there is broken for now: what is left is tried
	// again after a pause. When ctx ends it returns at once.
	send(ctx context.Context, b *buffer, did *counts) error
	// flush makes a backend that keeps things itself send them.
	flush(ctx context.Context) error
	close() error
}

// sender is the state of the goroutine that empties the queue.
type sender struct {
	*Client
	pause    time.Duration // after the next failure
	nextEmit time.Time
	refusal  error // the last one since the last flush was answered
}

// run is the client's goroutine.
func (c *Client) run(ctx context.Context) {
	defer close(c.done)
	s := &sender{Client: c, pause: c.options.backoff, nextEmit: time.Now().Add(c.options.metricsInterval)}
	ticker := time.NewTicker(c.options.flushInterval)
	defer ticker.Stop()
	for {
		var due, last bool
		select {
		case <-c.queue.wake:
		case <-ticker.C:
			due = true
		case <-c.closing:
			last = true
		}
		for !s.pass(ctx, due, last) && ctx.Err() == nil {
			s.wait(ctx)
		}
		if last {
			break
		}
	}
	s.end(ctx)
}

// pass sends what waits, and what the shards and handles hold when it is due, asked for, or the last time. It returns false when the way
// to the daemon is broken.
func (s *sender) pass(ctx context.Context, due, last bool) bool {
	flushers := s.takeFlushers()
	if !s.drain(ctx) {
		s.putBack(flushers)
		return false
	}
	now := time.Now()
	all := last || len(flushers) > 0
	if due || all {
		s.queue.trim(len(s.shards))
		s.sweep()
	}
	if all || due && !now.Before(s.nextEmit) {
		// First what is there already, so that the statistics are of it.
		if !s.drain(ctx) {
			s.putBack(flushers)
			return false
		}
		s.nextEmit = now.Add(s.options.metricsInterval)
		s.emit()
	}
	if !s.drain(ctx) {
		s.putBack(flushers)
		return false
	}
	if len(flushers) > 0 || last {
		if err := s.transport.flush(ctx); err != nil {
			s.refusal = err
		}
	}
	for _, f := range flushers {
		f.answer <- s.refusal
	}
	if len(flushers) > 0 {
		s.refusal = nil
	}
	return true
}

// drain sends until the queue is empty, and returns false when the way to the daemon is broken.
func (s *sender) drain(ctx context.Context) bool {
	for b := s.queue.take(); b != nil; b = s.queue.take() {
		var did counts
		err := s.transport.send(ctx, b, &did)
		if did.refusal != nil {
			s.refusal = did.refusal
		}
		if !did.unsettled && (did.sent > 0 || err == nil) {
			s.pause = s.options.backoff
		}
		if b.waiting() == 0 {
			did.flushes++
		}
		s.queue.settle(&did)
		if err != nil {
			return false
		}
	}
	return true
}

// wait pauses after a failure.
func (s *sender) wait(ctx context.Context) {
	d := s.pause/2 + rand.N(s.pause)
	s.pause = min(2*s.pause, s.options.maxBackoff)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// end drops what is left.
func (s *sender) end(ctx context.Context) {
	if ctx.Err() != nil {
		s.sweep()
		s.emit()
	}
	for b := s.queue.take(); b != nil; b = s.queue.take() {
		var did counts
		for b.waiting() > 0 {
			b.skip()
			did.dropped[dropShutdown]++
			s.lost++
		}
		s.queue.settle(&did)
	}
	// A backend that cannot be closed properly is no news any more.
	_ = s.transport.close()
	s.abort()
	for _, f := range s.takeFlushers() {
		f.answer <- ReasonClosed
	}
}

// flusher is a call of Flush.
type flusher struct {
	answer  chan error      // has room for one
	givenUp <-chan struct{} // closed when nobody waits for the answer any more
}

func (c *Client) takeFlushers() []flusher {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	flushers := c.flushers
	c.flushers = nil
	return flushers
}

// forget takes a flusher back that is still in the list: while the daemon hangs, and after the end, nobody else would.
func (c *Client) forget(answer chan error) {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	c.flushers = slices.DeleteFunc(c.flushers, func(f flusher) bool { return f.answer == answer })
}

// putBack keeps those that still wait: an outage may be long, and a service may flush every second.
func (c *Client) putBack(flushers []flusher) {
	c.flushMu.Lock()
	defer c.flushMu.Unlock()
	for _, f := range flushers {
		select {
		case <-f.givenUp:
		default:
			c.flushers = append(c.flushers, f)
		}
	}
}
