package spanmetrics

import (
	"slices"
	"time"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// A stretch of time is one bucket, of an interval and a start, and is emitted once. While the configuration stays the same, it is fine where the
// interval is the shortest, and otherwise made of fine ones. Over a change of the configuration it may be in two parts: a fine one, and one that is
// not, all of which has gone on into longer ones already. The fine part, at its end, then goes on into the other one too, which is emitted as the
// whole.

// isForeign says whether spans were counted into a bucket under a configuration with another shortest interval. It goes on at once, into the part of
// its own time too, in which it waits for its end: from then on everything that has to go on is of the shortest interval.
func (s *Stage) isForeign(b store.State) bool {
	return b.Fine && !b.Closed && b.Interval != s.interval()
}

// goesOnInto returns the buckets that a fine one is a part of: those of longer intervals, be they configured or in the store from a time when they were,
// and the other part of its own time, where there is one or is to be one. One of an interval that begins anew may not cover it, and gets none of it.
func (s *Stage) goesOnInto(b store.State, states []store.State) []store.Bucket {
	var into []store.Bucket
	for _, interval := range s.s.Config.Intervals {
		if seconds := int64(interval / time.Second); seconds > b.Interval {
			if longer := store.At(seconds, b.Start, false); longer.Covers(b.Bucket) {
				into = append(into, s.unclosed(longer))
			}
		}
	}
	if s.isForeign(b) {
		into = append(into, s.unclosed(whole(b.Bucket)))
	}
	for _, other := range states {
		if !other.Fine && !other.Closed && other.Covers(b.Bucket) && !slices.Contains(into, other.Bucket) {
			into = append(into, other.Bucket)
		}
	}
	return into
}

// adopt has what is foreign go on. What cannot be read is tried again with what ends.
func (s *Stage) adopt(states []store.State, now time.Time) {
	if !slices.ContainsFunc(states, s.isForeign) {
		return
	}
	defer s.lendSets()()
	for _, b := range states {
		if s.isForeign(b) {
			s.close(b, now)
		}
	}
}
