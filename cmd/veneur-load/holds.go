package main

import "time"

// shortestHold is what a send takes at most that was not held up by anybody.
const shortestHold = 500 * time.Microsecond

// maxHolds bounds what one sender remembers.
const maxHolds = 1 << 16

// hold is a send that had to wait.
type hold struct{ from, to time.Time }

func (h hold) length() time.Duration { return h.to.Sub(h.from) }

// holds are those of one sender. The longest one is always among them.
type holds struct {
	list []hold
	// late is the longest that a wait of the sender itself took too long: as much may be the machine's doing in every other figure.
	late time.Duration
}

func (h *holds) add(o *holds) {
	h.list = append(h.list, o.list...)
	h.late = max(h.late, o.late)
}

func (h *holds) note(from, to time.Time) {
	switch length := to.Sub(from); {
	case length < shortestHold:
	case len(h.list) < maxHolds:
		h.list = append(h.list, hold{from, to})
	default:
		for i := range h.list {
			if h.list[i].length() < length {
				h.list[i] = hold{from, to}
				return
			}
		}
	}
}

// longest returns the longest of those that overlap with each of the windows, and of those that overlap with none.
func (h *holds) longest(windows []hold) (inside []time.Duration, outside time.Duration) {
	inside = make([]time.Duration, len(windows))
	for _, held := range h.list {
		in := false
		for i, w := range windows {
			if held.from.Before(w.to) && w.from.Before(held.to) {
				in = true
				inside[i] = max(inside[i], held.length())
			}
		}
		if !in {
			outside = max(outside, held.length())
		}
	}
	return inside, outside
}
