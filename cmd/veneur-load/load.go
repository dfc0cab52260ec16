package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// load is what to send, how fast, and for how long.
type load struct {
	corpus   *corpus
	wire     wire
	senders  int
	batch    int           // packets a call
	rate     float64       // messages a second of all senders; 0 is as fast as possible
	count    uint64        // messages of all senders after which to end; 0 is no such end
	duration time.Duration // after which to end in any case
	holds    bool          // note sends that had to wait, and flushes
	tail     time.Duration // to wait afterwards for the end of a flush
	lossless bool          // end as soon as the kernel has dropped something: nobody wants to know the rest
}

// sent is what became of a load on this side.
type sent struct {
	tally
	took  time.Duration
	holds holds // of all senders
}

// run sends the load. Whatever was sent until an error is in the result.
func (l *load) run(ctx context.Context) (sent, error) {
	senders := make([]*sender, l.senders)
	for i := range senders {
		conn, out, err := l.wire.open(ctx)
		if err != nil {
			return sent{}, err
		}
		defer conn.Close() //nolint:errcheck // everything is sent by then
		senders[i] = l.sender(i, out)
		stop := interrupt(ctx, conn, l.duration+stuck)
		defer stop()
	}
	return l.all(ctx, senders)
}

// sender returns one of all senders. Each begins in another part of the corpus.
func (l *load) sender(i int, out transport) *sender {
	s := &sender{
		corpus: l.corpus, out: out, first: i * l.corpus.packets() / l.senders,
		batch: l.batch, rate: l.rate / float64(l.senders),
	}
	if l.count > 0 {
		s.count = max(1, l.count*uint64(i+1)/uint64(l.senders)-l.count*uint64(i)/uint64(l.senders))
	}
	if l.holds {
		s.holds = &holds{}
	}
	return s
}

func (l *load) all(ctx context.Context, senders []*sender) (sent, error) {
	begin := time.Now()
	packets := make([]uint64, len(senders))
	errs := make([]error, len(senders))
	var group sync.WaitGroup
	for i, s := range senders {
		group.Go(func() {
			var err error
			if packets[i], err = s.run(ctx, begin.Add(l.duration)); err != nil {
				errs[i] = explain(l.wire.to, err)
			}
		})
	}
	group.Wait()
	out := sent{took: time.Since(begin)}
	for i, s := range senders {
		out.add(l.corpus.tally(s.first, packets[i]))
		if s.holds != nil {
			out.holds.add(s.holds)
		}
	}
	return out, errors.Join(errs...)
}

// interrupt ends waits of the connection when ctx is done or the time is over.
func interrupt(ctx context.Context, conn connection, limit time.Duration) (stop func() bool) {
	_ = conn.SetWriteDeadline(time.Now().Add(limit)) // it fails only on a closed one, and on one that never waits
	return context.AfterFunc(ctx, func() { _ = conn.SetWriteDeadline(time.Unix(1, 0)) })
}
