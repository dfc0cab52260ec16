package flush

import "time"

// pace keeps a flush from taking a whole core for long: a flush of a million series is at work for a tenth of a second, and on a small machine the
// readers of sockets need the core.
type pace struct {
	since time.Time       // it works
	slept time.Duration   // the last time
	hurry <-chan struct{} // closed when the daemon stops: nobody reads sockets any more, and time is short; nil is never
}

const (
	workAtOnce = 500 * time.Microsecond
	rest       = 50 * time.Microsecond

	// Where cores are scarce a sleep takes longer, and work may take as long as the sleep before it; but no longer than this, or readers would
	// wait just when it matters. With twice as much, 9 of 42 flushes of a million series held a sender up for more than 5 ms, 8.0 ms at most; with
	// this 1 of 33 did, for 5.3 ms, and with less no fewer.
	mostAtOnce = time.Millisecond
)

// step is called every some ten microseconds of work. It sleeps rather than yields: the runtime looks for packets that have arrived when it has
// nothing else to run, and else only every ten milliseconds.
func (p *pace) step() {
	select {
	case <-p.hurry:
		return
	default:
	}
	now := time.Now()
	if now.Sub(p.since) < max(workAtOnce, min(p.slept, mostAtOnce)) {
		return
	}
	time.Sleep(rest)
	p.since = time.Now()
	p.slept = p.since.Sub(now)
}
