package flush

import (
	"time"

	"github.com/veneurd/veneur/server/aggregate"
)

// Extra makes points of intervals that do not come from lanes, and offers them to the same targets by the same routes and rules as a Flusher
// does. It is used by one goroutine at a time, which need not be the Flusher's.
type Extra struct{ f *Flusher }

// NewExtra returns an Extra. Lanes and Collector of the settings are not used.
func NewExtra(s Settings) *Extra { return &Extra{New(s)} }

// Offer offers every target its part of an interval that ended at a time, whole seconds, and took so long. Digests of the interval are not used after
// it has returned; the rest may be kept by the targets.
func (x *Extra) Offer(iv *aggregate.Interval, end time.Time, covered time.Duration) {
	f, t := x.f, tick{end: end, covered: covered}
	f.pace.since = time.Now()
	f.render.begin()
	f.share(iv, t)
	for _, o := range f.ruled {
		f.rewrite(o, iv, t)
	}
}
