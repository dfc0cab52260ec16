package spanmetrics

import (
	"errors"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// knownIn returns the keys that a bucket has: a stage before this one may have begun it.
func (s *Stage) knownIn(b store.Bucket) *partial.Known {
	known := partial.NewKnown(s.s.Config.limits())
	states, err := s.store.Buckets()
	for _, part := range states {
		if part.Bucket == b || b.Fine && part.Bucket == whole(b) { // that gets it, in the end
			set := partial.New(s.s.Config.limits())
			err = errors.Join(err, s.store.Read(part.Bucket, set))
			known.Learn(set)
		}
	}
	if err != nil {
		s.stats.readErrors.Inc()
		s.s.Log.WithError(err).Error("the store of span metrics cannot be read: what keys a bucket has is not known")
	}
	return known
}
