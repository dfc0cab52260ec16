package flush

import (
	"slices"
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
	Had       []string // names of targets that had it before, and are not offered it
}

// Offer offers every target but those that had it its part of an interval, be it that none of its points goes there. done is called once for each of
// these, with its name, from any goroutine, when it is done with the interval: it must not block.
func (x *Extra) Offer(iv Interval, done func(target string)) {
	f, t := x.f, tick{end: iv.End, covered: iv.Covered}
	f.exemplars, f.had, f.done = iv.Exemplars, iv.Had, done
	f.pacer.Begin()
	f.render.begin()
	f.share(iv.Interval, t)
	for _, o := range f.ruled {
		f.rewrite(o, iv.Interval, t)
	}
}

// skips says whether an output is not to have the interval at hand.
func (f *Flusher) skips(o *output) bool { return len(f.had) > 0 && slices.Contains(f.had, o.Name) }

// tellingOf returns what an output calls when it is done with the interval at hand.
func (f *Flusher) tellingOf(o *output) func() {
	done := f.done // that of the next interval is another
	if done == nil {
		return nil
	}
	return func() { done(o.Name) }
}
