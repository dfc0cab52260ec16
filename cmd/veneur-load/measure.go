package main

import (
	"context"
	"time"
)

// measured is what a load did to a daemon.
type measured struct {
	sent          sent
	got           counters
	before, after *usage // of the daemon, nil when unknown
	flushes       []hold // times in which it flushed, when somebody wanted to know
	problems      verdict
}

// measure sends the load and waits until the daemon has accounted for it. Problems are what it could not account for.
func measure(ctx context.Context, e endpoint, l *load, j *judge) (m measured, err error) {
	before, err := e.admin.counters(ctx)
	if err != nil {
		return m, err
	}
	m.before = e.usage()
	sending, enough := context.WithCancel(ctx)
	defer enough()
	stopFlushes, stopDrops := func() {}, func() {}
	if l.holds {
		stopFlushes = aside(ctx, func(ctx context.Context) { m.flushes = watchFlushes(ctx, e.admin) })
	}
	if l.lossless {
		stopDrops = aside(sending, func(ctx context.Context) { watchDrops(ctx, e.admin, before, enough) })
	}
	m.sent, err = l.run(sending)
	stopDrops()
	if err == nil {
		m.got, err = settle(ctx, e.admin, before, &m.sent.tally, j)
		m.problems = j.received(&m.sent.tally, m.got)
	}
	if l.holds && err == nil {
		err = wait(ctx, l.tail)
	}
	stopFlushes()
	m.after = e.usage()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return m, err
}

// aside runs f until stop is called, which waits for its end.
func aside(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// dropPoll is how often a daemon is asked whether anything was dropped.
const dropPoll = 500 * time.Millisecond

// watchDrops asks the daemon until ctx is done, and calls found when the kernel has dropped more than before.
func watchDrops(ctx context.Context, a *admin, before counters, found func()) {
	for wait(ctx, dropPoll) == nil {
		if now, err := a.counters(ctx); err == nil && now.KernelDrops > before.KernelDrops {
			found()
		}
	}
}

// revision returns that of the daemon's source.
func (e *endpoint) revision(ctx context.Context) (string, error) {
	m, err := e.admin.metrics(ctx)
	return m.label("veneur_build_info", "revision"), err
}

// usage returns nil when it is not known.
func (e *endpoint) usage() *usage {
	if e.pid == 0 {
		return nil
	}
	u, err := usageOf(e.pid)
	if err != nil {
		return nil
	}
	return &u
}

// wait lets the daemon alone for so long.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
