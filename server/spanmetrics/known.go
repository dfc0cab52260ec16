package spanmetrics

import (
	"errors"
	"slices"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// knownIn returns the keys that a bucket has: a stage before this one may have begun it.
func (s *Stage) knownIn(b store.Bucket) *partial.Known {
	states, err := s.store.Buckets()
	known := partial.NewKnown(s.s.Config.limits(), s.longerThan(b, states)...)
	read := func(part store.Bucket, into func(*partial.Set)) {
		set := partial.New(s.s.Config.heldLimits())
		err = errors.Join(err, s.store.Read(part, set))
		into(set)
	}
	for _, part := range states {
		if part.Bucket == b || b.Fine && part.Bucket == whole(b) { // that gets it, in the end
			read(part.Bucket, known.Learn)
		}
	}
	for _, part := range states {
		if !b.Fine && part.Fine && !part.Closed && b.Covers(part.Bucket) {
			read(part.Bucket, known.Admit)
		}
	}
	if err != nil {
		s.stats.readErrors.Inc()
		s.s.Log.WithError(err).Error("the store of span metrics cannot be read: what keys a bucket has is not known")
	}
	return known
}

// longerThan returns the keys of the buckets that a fine one goes on into, none for others. Those of buckets that nothing came to are let go.
func (s *Stage) longerThan(b store.Bucket, states []store.State) []*partial.Known {
	if !b.Fine {
		return nil
	}
	for r := range s.rollups {
		if r.End() < b.Start && !slices.ContainsFunc(states, func(state store.State) bool { return state.Bucket == r && !state.Closed }) {
			delete(s.rollups, r)
		}
	}
	var longer []*partial.Known
	for _, into := range s.goesOnInto(store.State{Bucket: b}, states) {
		longer = append(longer, s.rolledUpInto(into))
	}
	return longer
}

// rolledUpInto returns the keys of a bucket that others go on into.
func (s *Stage) rolledUpInto(b store.Bucket) *partial.Known {
	known := s.rollups[b]
	if known == nil {
		known = s.knownIn(b)
		s.rollups[b] = known
	}
	return known
}
