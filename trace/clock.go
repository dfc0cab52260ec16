package trace

import (
	"sync/atomic"
	"time"
)

// epochLife is how long an epoch is used. The wall clock may be set, or drift away from the monotonic one; spans follow it by then.
const epochLife = 100 * time.Millisecond

// epoch is a moment by both clocks. Reading a clock is the dearest part of a span, and the time since an epoch needs only the monotonic
// one. A span also ends by the epoch it started by, so it is as long as it took, whatever happens to the time of day meanwhile.
type epoch struct {
	at   time.Time
	wall int64 // the same, ns since 1970
}

func newEpoch() epoch {
	now := time.Now()
	return epoch{now, now.UnixNano()}
}

// now is the time of day in ns since 1970.
func (e *epoch) now() int64 { return e.wall + int64(time.Since(e.at)) }

// clock hands out the current epoch. An epoch never changes.
type clock struct{ current atomic.Pointer[epoch] }

// read returns the epoch and the time of day.
func (c *clock) read() (*epoch, int64) {
	if e := c.current.Load(); e != nil {
		if d := time.Since(e.at); d < epochLife {
			return e, e.wall + int64(d)
		}
	}
	e := newEpoch()
	c.current.Store(&e)
	return &e, e.wall
}
