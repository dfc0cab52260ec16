package flush

import "time"

// clock says when intervals end. It never waits for a moment in the past: after a long flush or a suspended machine the ticks that
// were missed are counted and skipped, not caught up with.
type clock struct {
	interval time.Duration
	aligned  bool

	last time.Time // the last tick, or the start; carries the monotonic reading
	end  int64     // unix seconds of the last flush
}

func newClock(interval time.Duration, aligned bool, now time.Time) *clock {
	return &clock{interval: interval, aligned: aligned, last: now, end: now.Unix() - 1}
}

// maxAhead is how far the times of points may be ahead of a wall clock that was set back.
const maxAhead = time.Hour

// wait returns how long it is to the next tick. An aligned clock goes by the wall clock, so a step of it moves the tick, but never by
// more than one interval from now.
func (c *clock) wait(now time.Time) time.Duration {
	if c.aligned {
		// Unix time rather than Truncate, which counts from the year 1: an interval that does not divide a day would be
		// aligned to a moment that no other system knows.
		return c.interval - time.Duration(now.UnixNano()%int64(c.interval))
	}
	return c.interval - now.Sub(c.last)%c.interval
}

// tick is the end of an interval: what a flush stands for.
type tick struct {
	end     time.Time     // whole seconds, later than that of any tick before unless the interval is below a second
	covered time.Duration // since the tick before
	skipped int           // ticks that did not take place since then
	setBack time.Duration // by how much end went back after all, since the wall clock had been that far ahead
}

// tick ends the interval at now.
func (c *clock) tick(now time.Time) tick {
	t := tick{covered: now.Sub(c.last)}
	if t.covered > c.interval {
		t.skipped = int((t.covered+c.interval/2)/c.interval) - 1
	}
	// A backend that keeps one point a second and series would lose one of two intervals that end in the same second, and
	// one that wants time to move forward would refuse those after a step of the wall clock backwards. With intervals below a
	// second that rule would carry the times of points into the future, further every second: there they only never go back.
	least := c.end + 1
	if c.interval < time.Second {
		least = c.end
	}
	if ahead := least - now.Unix(); ahead > int64(max(maxAhead, 10*c.interval)/time.Second) {
		// The wall clock was far in the future and has been set right. To wait for it to catch up could take years.
		least = now.Unix()
		t.setBack = time.Duration(ahead) * time.Second
	}
	c.end = max(now.Unix(), least)
	t.end = time.Unix(c.end, 0)
	c.last = now
	return t
}
