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
	stopWatching := func() {}
	if l.holds {
		watching, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.flushes = watchFlushes(watching, e.admin)
		}()
		stopWatching = func() {
			_ = wait(ctx, l.tail) // when it is cut short so is the measurement
			cancel()
			<-done
		}
	}
	m.sent, err = l.run(ctx)
	if err == nil {
		m.got, err = settle(ctx, e.admin, before, &m.sent.tally, j)
		m.problems = j.received(&m.sent.tally, m.got)
	}
	stopWatching()
	m.after = e.usage()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return m, err
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
