package flush

import (
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/server/aggregate"
)

// Extra makes points of intervals that do not come from lanes, and offers them to the same targets by the same routes and rules as a Flusher
// does. It is used by one goroutine at a time, which need not be the Flusher's.
type Extra struct{ f *Flusher }

// NewExtra returns an Extra. Lanes and Collector of the settings are not used.
func NewExtra(s Settings) *Extra { return &Extra{New(s)} }

// Offer offers every target its part of an interval that ended at a time, whole seconds, and took so long. Digests of the interval are not used after
// it has returned; the rest may be kept by the targets. done is called once, from any goroutine, when all of them are done with it: it must not block.
func (x *Extra) Offer(iv *aggregate.Interval, end time.Time, covered time.Duration, done func()) {
	f, t := x.f, tick{end: end, covered: covered}
	left := new(atomic.Int64)
	left.Store(int64(len(f.plain)+len(f.ruled)) + 1)
	f.done = func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	defer f.done() // where there is no target
	f.pace.since = time.Now()
	f.render.begin()
	f.share(iv, t)
	for _, o := range f.ruled {
		f.rewrite(o, iv, t)
	}
}
