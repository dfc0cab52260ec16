package flush

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"time"
)

// Watchdog returns a Runner that fails when too many intervals pass without a flush, so that the process ends with an error and a
// supervisor starts a new one. It returns nil when the configuration turns it off.
func (f *Flusher) Watchdog() *Watchdog {
	missed := f.s.Config.FlushWatchdogMissedFlushes
	if missed == 0 {
		return nil
	}
	// The last flush may just have begun when the first of the missed ones would have been due.
	return &Watchdog{f: f, limit: time.Duration(missed+1) * f.s.Config.Interval}
}

// Watchdog watches one Flusher.
type Watchdog struct {
	f     *Flusher
	limit time.Duration
}

// Run returns an error, and logs where every goroutine stands, once the flusher has been silent for longer than the limit.
func (w *Watchdog) Run(ctx context.Context) error {
	ticker := time.NewTicker(w.f.s.Config.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			silence := w.f.silence()
			if silence <= w.limit {
				continue
			}
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2) // a bytes.Buffer takes everything
			w.f.s.Log.Error("flush watchdog: goroutine stacks:\n" + stacks.String())
			return fmt.Errorf("flush watchdog: no flush for %s, more than %d intervals",
				silence.Round(time.Millisecond), w.f.s.Config.FlushWatchdogMissedFlushes)
		}
	}
}

// silence is how long ago the last flush ended, on the monotonic clock: a step of the wall clock is no silence.
func (f *Flusher) silence() time.Duration {
	return time.Since(f.begun) - time.Duration(f.flushed.Load())
}
