package flush

import "time"

// pace keeps a flush from taking a whole core for long: a flush of a million series is at work for a tenth of a second, and on a small machine the
// readers of sockets need the core.
type pace struct {
	since time.Time     // it works
	slept time.Duration // the last time
}

const (
	workAtOnce = 500 * time.Microsecond
	rest       = 50 * time.Microsecond
	leastWork  = 4 // times what it slept: who has to wait for a core is not to wait each time
)

// step is called every some ten microseconds of work. It sleeps rather than yields: the runtime looks for packets that have arrived when it has
// nothing else to run, and else only every ten milliseconds.
func (p *pace) step() {
	now := time.Now()
	if now.Sub(p.since) < max(workAtOnce, leastWork*p.slept) {
		return
	}
	time.Sleep(rest)
	p.since = time.Now()
	p.slept = p.since.Sub(now)
}
