package server

import (
	"strings"
	"sync/atomic"
)

// state is where the daemon is in its life.
type state struct{ v atomic.Int32 }

const (
	starting int32 = iota
	running
	draining
)

func (s *state) set(v int32) { s.v.Store(v) }

// Ready says what /ready says: whether the daemon takes what is sent to it, and which sinks fail and
// what waits on disk; that does not make it less ready.
func (s *Server) Ready() (ok bool, body string) {
	switch s.state.v.Load() {
	case starting:
		return false, "starting"
	case draining:
		return false, "draining"
	}
	var b strings.Builder
	b.WriteString("ready")
	for _, d := range s.sinks.metrics {
		writeSink(&b, "metric sink", d)
	}
	for _, d := range s.sinks.spans {
		writeSink(&b, "span sink", d)
	}
	return true, b.String()
}

// told is what a delivery can say of itself.
type told interface {
	Name() string
	Failing() (string, bool)
	Stored() (string, bool)
}

// writeSink writes a line for what is wrong with a sink, and one for what it has on disk.
func writeSink(b *strings.Builder, sort string, d told) {
	if why, failing := d.Failing(); failing {
		b.WriteString("\n" + sort + " " + d.Name() + ": " + why)
	}
	if what, stored := d.Stored(); stored {
		b.WriteString("\n" + sort + " " + d.Name() + ": " + what)
	}
}
