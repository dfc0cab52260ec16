package delivery

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/lifecycle"
)

const (
	// patience is for how long Run waits for each thing the sink should have ended by itself: its attempt, its Run, its Close.
	patience = time.Second
	// reportEvery is how often losses are logged, at most.
	reportEvery = time.Minute
)

// Run sends what is offered until ctx ends, and then what still waits, for at most the DrainTimeout; what is left is expired, and the log
// says how much. The sink's own Run goes on beside it until the last Send has returned; then the sink is closed. Run returns nil: a sink that
// fails, panics or hangs is no reason to end the daemon.
func (c *core) Run(ctx context.Context) error {
	c.life.Lock()
	c.life.ran = true
	c.life.Unlock()

	base := context.WithoutCancel(ctx)
	stopSink, sinkEnded := c.runSink(base)

	work, endWork := context.WithCancel(base)
	defer endWork()
	w := &worker{core: c, stop: ctx.Done(), ctx: work}
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		w.run()
	}()
	moved := make(chan struct{})
	go func() {
		defer close(moved)
		c.disk.run(ctx.Done())
	}()

	c.reportUntil(ctx.Done())
	before := c.Ledger()
	idle := within(worked, c.drain)
	endWork()
	idle = idle || within(worked, patience)
	if !within(moved, patience) {
		c.log.Error("the disk did not take what waits in memory; it is left behind")
	}
	c.queue.end()
	if left := c.Ledger().Expired - before.Expired; left > 0 {
		c.log.WithField("items", left).Warn("stopped before everything was sent")
	}

	stopSink()
	if !within(sinkEnded, patience) {
		c.log.Error("the sink's Run did not end; it is left behind")
	}
	c.closeDisk(idle, moved)
	if !idle {
		// Close comes after the last Send, and that one has not returned.
		c.log.Error("the sink did not return from its last attempt; it is left behind, not closed")
		return nil
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := c.closeSink(); err != nil {
			c.log.WithError(err).Warn("closing the sink")
		}
	}()
	if !within(closed, patience) {
		c.log.Error("the sink's Close did not return; it is left behind")
	}
	return nil
}

// closeDisk lets the directory go, unless somebody still has his hands in it.
func (c *core) closeDisk(idle bool, moved <-chan struct{}) {
	if !idle || !within(moved, 0) {
		return
	}
	if err := c.disk.close(); err != nil {
		c.log.WithError(err).Warn("closing the disk queue")
	}
	if left := c.Ledger().Stored; left > 0 {
		c.log.WithField("items", left).Info("left on disk, to be sent after the next start")
	}
}

// runSink runs the sink's own Run, if it has one, until stop is called. ended is closed when it has returned.
func (c *core) runSink(ctx context.Context) (stop context.CancelFunc, ended <-chan struct{}) {
	done := make(chan struct{})
	runner, ok := c.sink.(lifecycle.Runner)
	if !ok {
		close(done)
		return func() {}, done
	}
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer close(done)
		err := guard(func() error { return runner.Run(ctx) })
		if ctx.Err() == nil {
			c.health.runEnded(err)
			c.log.WithError(err).Error("the sink's Run ended; what is sent to it may reach nobody")
		} else if err != nil {
			c.log.WithError(err).Warn("the sink's Run ended with an error")
		}
	}()
	return cancel, done
}

// reportUntil logs what was lost, once in a while, until stop is closed. It is not the worker's business, which may hang in the sink.
func (c *core) reportUntil(stop <-chan struct{}) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	var before Ledger
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			before = c.report(before)
		}
	}
}

func (c *core) report(before Ledger) Ledger {
	now := c.Ledger()
	if now.Lost() > before.Lost() {
		c.log.WithFields(logrus.Fields{
			"refused":    now.Refused - before.Refused,
			"overflow":   now.Overflow - before.Overflow,
			"expired":    now.Expired - before.Expired,
			"waiting":    now.Waiting,
			"last_error": c.health.lastError(),
		}).Warn("the sink lost data")
	}
	return now
}

// within waits for done, for at most d, and says whether it came.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		select {
		case <-done: // both at once
			return true
		default:
			return false
		}
	}
}
