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

// Ready says what /ready says: whether the daemon takes what is sent to it, and which sinks fail; those do not make it less ready.
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
		if why, failing := d.Failing(); failing {
			b.WriteString("\nmetric sink " + d.Name() + ": " + why)
		}
	}
	for _, d := range s.sinks.spans {
		if why, failing := d.Failing(); failing {
			b.WriteString("\nspan sink " + d.Name() + ": " + why)
		}
	}
	return true, b.String()
}
