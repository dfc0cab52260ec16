package flush

import (
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
)

// Extra makes points of intervals that do not come from lanes, and offers them to the same targets by the same routes and rules as a Flusher
// does. It is used by one goroutine at a time, which need not be the Flusher's.
type Extra struct{ f *Flusher }

// NewExtra returns an Extra. Lanes and Collector of the settings are not used.
func NewExtra(s Settings) *Extra {
	f := New(s)
	f.render.stock = nil // it may be long until the next interval, and what it would keep holds on to series
	return &Extra{f}
}

// exemplarsOf returns the exemplars with the series as the output has them.
func (f *Flusher) exemplarsOf(o *output) []metric.Exemplar {
	if len(f.exemplars) == 0 {
		return nil
	}
	mine := make([]metric.Exemplar, 0, len(f.exemplars))
	for _, e := range f.exemplars {
		if !f.routed(o, e.Series.Name, e.Series) {
			continue
		}
		if s := o.rewriter.done[e.Series]; s != nil {
			e.Series = s
		}
		mine = append(mine, e)
	}
	return mine
}

// Interval is what an Extra offers.
type Interval struct {
	*aggregate.Interval // its digests are not used after Offer; the rest may be kept by the targets

	Exemplars []metric.Exemplar
	End       time.Time // whole seconds
	Covered   time.Duration
}

// Offer offers every target its part of an interval. done is called once, from any goroutine, when all of them are done with it: it must not block.
func (x *Extra) Offer(iv Interval, done func()) {
	f, t := x.f, tick{end: iv.End, covered: iv.Covered}
	f.exemplars = iv.Exemplars
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
	f.share(iv.Interval, t)
	for _, o := range f.ruled {
		f.rewrite(o, iv.Interval, t)
	}
}
