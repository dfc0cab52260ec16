// Package pace keeps long work in the background from taking a core for long at a time. An interval of a million series keeps a core busy for some
// tenths of a second; on a machine of few cores the readers of sockets, and the services beside the daemon, need that core meanwhile. The kernel
// takes it away from the one at work only at a tick, every 4 ms on many systems, even where another core has become idle; and the runtime looks
// for packets that have arrived when it has nothing else to run, and else only every ten milliseconds.
package pace

import "time"

// Pacer is for one goroutine, and one piece of work after another. Its zero value never hurries.
type Pacer struct {
	// Hurry ends all rests once it is closed: when the daemon stops nobody reads sockets any more, and time is short. nil is never.
	Hurry <-chan struct{}
	// Most is for how long one piece of work may rest in all, so that rests alone do not make it late; 0 is without limit.
	Most time.Duration

	since  time.Time     // it works
	slept  time.Duration // the last time
	rested time.Duration // since Begin
}

const (
	workAtOnce = 300 * time.Microsecond
	rest       = 150 * time.Microsecond

	// Where cores are scarce a sleep takes longer, and work may take as long as the sleep before it; but no longer than this, or readers would
	// wait just when it matters.
	mostAtOnce = 500 * time.Microsecond
)

// Begin says that a piece of work begins.
func (p *Pacer) Begin() { p.since, p.rested = time.Now(), 0 }

// Step is called every some ten microseconds of work, with no lock held, and rests when it was enough for once.
func (p *Pacer) Step() {
	now := time.Now()
	if now.Sub(p.since) < max(workAtOnce, min(p.slept, mostAtOnce)) || p.Most > 0 && p.rested >= p.Most {
		return
	}
	select {
	case <-p.Hurry:
		return
	default:
	}
	time.Sleep(rest) // not a yield, after which the runtime would not look for packets
	p.since = time.Now()
	p.slept = p.since.Sub(now)
	p.rested += p.slept
}
