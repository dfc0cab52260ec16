package telemetry

import "slices"

// Loopback gives the readings of a registry to a function, so that the daemon's own metrics can take the same way as everybody else's. It has
// no clock of its own: whoever ends the intervals calls Report right before, so that each interval has what was counted in it.
type Loopback struct {
	registry *Registry
	deliver  func(name string, kind Kind, value float64, tags []string)
	tags     []string
	changes  changes
}

// NewLoopback returns a Loopback. deliver is called by Report: with the growth of each counter that moved since the last time, and the value
// of each gauge, under names that begin with "veneur." and with the given tags first. The tags are deliver's to keep.
func NewLoopback(r *Registry, deliver func(name string, kind Kind, value float64, tags []string), tags ...string) *Loopback {
	return &Loopback{registry: r, deliver: deliver, tags: tags}
}

// Report delivers. It must not be called by two goroutines at once.
func (l *Loopback) Report() {
	for _, c := range l.changes.since(l.registry.Gather()) {
		l.deliver(c.name, c.kind, c.value, slices.Concat(l.tags, c.tags))
	}
}
