package main

import (
	"context"
	"time"
)

// flushPoll is how often a daemon is asked whether it has flushed. Each answer costs it less than a millisecond.
const flushPoll = 200 * time.Millisecond

// watchFlushes asks the daemon until ctx is done, and returns the times in which its flushes lay. A flush that ended between two answers
// began no earlier than its duration before the first of them.
func watchFlushes(ctx context.Context, a *admin) (windows []hold) {
	ticker := time.NewTicker(flushPoll)
	defer ticker.Stop()
	var before time.Time
	last := -1.0
	for {
		asked := time.Now()
		if m, err := a.metrics(ctx); err == nil {
			flushes := m.sum("veneur_flush_flushes_total")
			if last >= 0 && flushes > last {
				took := time.Duration(m.sum("veneur_flush_duration") * float64(time.Second))
				windows = append(windows, hold{before.Add(-took), time.Now()})
			}
			last, before = flushes, asked
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return windows
		}
	}
}
