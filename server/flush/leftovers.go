package flush

import (
	"context"
	"sync"
)

// leftovers knows, at any moment, what the lanes hold that no target was offered yet. A Flusher that is still at work when the process ends cannot
// say so itself.
type leftovers struct {
	f *Flusher

	mu      sync.Mutex // taken before a lane's lock; held for a few assignments a lane or target
	items   int        // of the interval being flushed
	offered []bool     // by target
	ended   bool       // all was counted: nothing is offered any more
}

func (l *leftovers) init(f *Flusher) { l.f, l.offered = f, make([]bool, len(f.s.Targets)) }

// flip flips the lanes.
func (l *leftovers) flip() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = 0
	clear(l.offered)
	for _, lane := range l.f.s.Lanes {
		l.items += lane.Flip()
	}
}

// offer says that a target is about to be offered the interval, and whether it may be: what was counted as left is not to come after all.
func (l *leftovers) offer(target int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.offered[target] = true
	return !l.ended
}

// offeredAll says that the interval was offered to all targets.
func (l *leftovers) offeredAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = 0
}

// count counts what is left, for good.
func (l *leftovers) count() (unfinished int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	open := 0
	for _, lane := range l.f.s.Lanes {
		open += lane.Held()
	}
	for i, offered := range l.offered {
		left := 0
		if !offered {
			left = l.items
		}
		if l.f.s.Config.FlushOnShutdown {
			left += open
		} else {
			l.f.stats.turnedOff[i].Add(uint64(open))
		}
		l.f.stats.unfinished[i].Add(uint64(left))
		unfinished = max(unfinished, left)
	}
	return unfinished
}

// Leftovers returns a Runner that counts, when it is told to stop, what the Flusher has not offered to its targets. That comes after the Flusher's
// own stop, and after that of the targets: until then a Flusher that was left behind may still be in time.
func (f *Flusher) Leftovers() *Leftovers { return &Leftovers{f} }

// Leftovers counts what one Flusher leaves.
type Leftovers struct{ f *Flusher }

// Run waits until ctx is done, and counts.
func (l *Leftovers) Run(ctx context.Context) error {
	<-ctx.Done()
	if n := l.f.left.count(); n > 0 {
		l.f.s.Log.WithField("items", n).Error("the last flush did not end in time: series, events and checks were not offered to the sinks")
	}
	return nil
}
