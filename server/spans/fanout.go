// Package spans hands trace spans to the span sinks.
package spans

import "github.com/veneurd/veneur/ssf"

// Target takes spans for one span sink. OfferSpan never blocks; a span it has no room for it drops and counts.
type Target interface {
	OfferSpan(span *ssf.SSFSpan)
}

// Fanout offers every span to every span sink, each of which has a bounded queue of its own: a slow sink loses its own spans only.
// It does not change after New and may be used by many goroutines at once.
type Fanout struct{ targets []Target }

// New returns a Fanout over the given sinks, of which there may be none.
func New(targets ...Target) *Fanout { return &Fanout{targets: targets} }

// Wants says whether any sink takes spans. Where none does, no copy of a span needs to be made.
func (f *Fanout) Wants() bool { return len(f.targets) > 0 }

// OfferSpan gives span to every sink. The span belongs to all of them from now on and must not change any more.
func (f *Fanout) OfferSpan(span *ssf.SSFSpan) {
	for _, target := range f.targets {
		target.OfferSpan(span)
	}
}
