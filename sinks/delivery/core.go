package delivery

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// core is what Delivery and Spans share: everything but how items come in and how a chunk is handed to the sink.
type core struct {
	name   string
	signal string // "points" or "spans"
	sink   any
	cfg    Common
	drain  time.Duration
	log    logrus.FieldLogger

	queue    queue
	disk     *disk // nil when what waits is in memory only
	health   health
	attempts attempts
	refusals map[sinks.Reason]*telemetry.Metric

	life struct {
		sync.Mutex
		ran, closed bool
	}
}

func newCore(sink any, signal string, cfg Common, linger time.Duration, s Settings, decode decoder) *core {
	cfg.Timeout = min(cfg.Timeout, max(s.Interval, time.Second))
	c := &core{
		name:   s.Name,
		signal: signal,
		sink:   sink,
		cfg:    cfg,
		drain:  s.DrainTimeout,
		log:    s.Log,
		queue:  newQueue(cfg, linger),
	}
	if cfg.DiskQueue.On() {
		c.disk = newDisk(c, decode, s)
	}
	c.register(s.Telemetry)
	return c
}

// Name returns the sink's name.
func (c *core) Name() string { return c.name }

// String returns "sink" and its name, for the log of package lifecycle.
func (c *core) String() string { return "sink " + c.name }

// Ledger returns what became of everything offered so far.
func (c *core) Ledger() Ledger { return c.queue.read() }

// Failing returns what is wrong with the sink and since when, and whether anything is: its last attempt failed, or an attempt hangs, or
// its own Run ended. The text is one short line.
func (c *core) Failing() (string, bool) { return c.health.failing() }

// Start opens the queue on disk, when there is one, and calls the sink's Start, when it has one.
func (c *core) Start(ctx context.Context) error {
	if c.disk != nil {
		if err := c.disk.open(); err != nil {
			return fmt.Errorf("sink %s: disk_queue: %w", c.name, err)
		}
	}
	starter, ok := c.sink.(lifecycle.Starter)
	if !ok {
		return nil
	}
	if err := guard(func() error { return starter.Start(ctx) }); err != nil {
		return fmt.Errorf("sink %s: %w", c.name, errors.Join(err, c.disk.close()))
	}
	return nil
}

// Close closes the sink when Run will never be called.
func (c *core) Close() error {
	c.life.Lock()
	ran := c.life.ran
	c.life.Unlock()
	if ran {
		return nil
	}
	c.queue.end()
	return errors.Join(c.closeSink(), c.disk.close())
}

func (c *core) closeSink() error {
	c.life.Lock()
	closed := c.life.closed
	c.life.closed = true
	c.life.Unlock()
	closer, ok := c.sink.(sinks.Closer)
	if closed || !ok {
		return nil
	}
	if err := guard(closer.Close); err != nil {
		return fmt.Errorf("sink %s: close: %w", c.name, err)
	}
	return nil
}
