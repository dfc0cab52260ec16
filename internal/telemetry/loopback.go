package telemetry

import (
	"context"
	"slices"
	"time"
)

// Loopback gives the readings of a registry to a function each interval, so that the daemon's own metrics can take the same way as everybody
// else's. It is a lifecycle Runner.
type Loopback struct {
	registry *Registry
	interval time.Duration
	deliver  func(name string, kind Kind, value float64, tags []string)
	tags     []string
	changes  changes
}

// NewLoopback returns a Loopback that is not running. deliver is called from Run's goroutine: with the growth of each counter that moved
// since the last time, and the value of each gauge, under names that begin with "veneur." and with the given tags first. The tags
// are deliver's to keep.
func NewLoopback(r *Registry, interval time.Duration, deliver func(name string, kind Kind, value float64, tags []string), tags ...string) *Loopback {
	return &Loopback{registry: r, interval: interval, deliver: deliver, tags: tags}
}

// Run delivers each interval, and once more when ctx is done. It returns nil.
func (l *Loopback) Run(ctx context.Context) error {
	ticker := time.NewTicker(l.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.report()
		case <-ctx.Done():
			l.report()
			return nil
		}
	}
}

func (l *Loopback) report() {
	for _, c := range l.changes.since(l.registry.Gather()) {
		l.deliver(c.name, c.kind, c.value, slices.Concat(l.tags, c.tags))
	}
}
