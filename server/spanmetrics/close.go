package spanmetrics

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// closeEnded closes the buckets that are over and hands them on: first those that spans were counted into, which go on into longer ones. What cannot be
// read is tried again at the next tick.
func (s *Stage) closeEnded(now time.Time) {
	s.ended = false
	defer s.lendSets()()
	for _, fine := range []bool{true, false} {
		states, err := s.store.Buckets()
		if err != nil {
			s.stats.readErrors.Inc()
			s.ended = true
		}
		for _, b := range states {
			switch {
			case b.Fine != fine || s.isHanded(b.Bucket):
			case b.Closed || s.isForeign(b):
				s.ended = !s.close(b, now) || s.ended
			case s.isOver(b.Bucket, now):
				s.ended = waits(b, states) || !s.close(b, now) || s.ended
			}
		}
	}
	s.findDue(now)
}

// lendSets makes the sets that buckets are closed with. Once an interval their memory is made anew: kept, it would be as much for all of the time as a
// lane takes.
func (s *Stage) lendSets() (giveBack func()) {
	s.set, s.part = partial.New(s.s.Config.heldLimits()), partial.New(s.s.Config.limits())
	return func() { s.set, s.part = nil, nil }
}

// findDue notes when the next bucket ends that is not the open one. Mostly that is when the open one does, but for one of an interval that is not
// configured any more.
func (s *Stage) findDue(now time.Time) {
	s.due = math.MaxInt64
	states, _ := s.store.Buckets() // without those that cannot be read it is later
	for _, b := range states {
		if !b.Closed && whole(b.Bucket) != whole(s.open) && b.End() > now.Unix() {
			s.due = min(s.due, b.End())
		}
	}
}

// whole returns the bucket of a stretch of time, be it that spans were counted into it or that it is made of shorter ones.
func whole(b store.Bucket) store.Bucket {
	b.Fine = false
	return b
}

// waits says whether a bucket will still get something of a fine one, which could not be read when it ended.
func waits(b store.State, states []store.State) bool {
	return slices.ContainsFunc(states, func(f store.State) bool {
		return f.Fine && !f.Closed && f.Bucket != b.Bucket && b.Covers(f.Bucket)
	})
}

// isOver says whether the time of a bucket has passed, or is so far ahead that the clock cannot have been right.
func (s *Stage) isOver(b store.Bucket, now time.Time) bool {
	return whole(b) != whole(s.open) && (b.End() <= now.Unix() || b.Start > now.Add(maxBack).Unix())
}

func (s *Stage) isHanded(b store.Bucket) bool {
	_, handed := s.handed[b]
	return handed
}

// close closes one bucket, unless it was closed before and not delivered to all, and hands it on; or has it go on into the other part of its time, if
// there is one, which is emitted instead. It says no when the bucket cannot be read.
func (s *Stage) close(b store.State, now time.Time) bool {
	if b.Closed && len(s.s.Sinks) > 0 && len(s.lacking(b)) == 0 {
		s.handed[b.Bucket] = nil
		s.take(b.Bucket, "") // those that had not had it are not configured any more
		return true
	}
	s.set.Reset()
	states, err := s.store.Buckets()
	if err = errors.Join(err, s.store.Read(b.Bucket, s.set)); err != nil {
		s.stats.readErrors.Inc()
		s.s.Log.WithError(err).Error("the store of span metrics cannot be read")
		return false
	}
	if !b.Closed {
		var into []store.Bucket
		if b.Fine {
			into = s.goesOnInto(b, states)
		}
		changes := s.rollUp(into)
		inPart := s.isForeign(b) || slices.Contains(into, whole(b.Bucket))
		if !inPart || s.isOver(b.Bucket, now) { // the end of a fine one is known from then on, though it is deleted
			changes = append(changes, store.Change{Op: store.Close, Bucket: b.Bucket})
		}
		if inPart {
			s.write(append(changes, store.Change{Op: store.Delete, Bucket: b.Bucket}))
			return true
		}
		s.write(changes)
		s.closed[whole(b.Bucket)] = true
		delete(s.rollups, b.Bucket)
	}
	s.hand(b, time.Unix(min(b.End(), max(b.Start+1, now.Unix())), 0))
	return true
}

// rollUp returns the changes by which a fine bucket, which is in s.set, goes on into others. Which of its keys have a place there is said now: stores
// merge in any order.
func (s *Stage) rollUp(into []store.Bucket) []store.Change {
	if len(into) == 0 {
		return nil
	}
	s.wire = s.set.AppendTo(s.wire[:0])
	ends := []int{len(s.wire)}
	for _, b := range into {
		s.part.Reset()
		s.part.Use(s.rolledUpInto(b))
		_ = s.part.Merge(s.wire[:ends[0]]) // there is no error in what was just written
		s.wire = s.part.AppendTo(s.wire)
		ends = append(ends, len(s.wire))
	}
	var changes []store.Change
	for i, b := range into {
		changes = append(changes, store.Change{Op: store.Merge, Bucket: b, Partial: s.wire[ends[i]:ends[i+1]]})
	}
	return changes
}

// unclosed returns a bucket or, when that takes nothing any more, the first after it that does: what came to a closed one would be deleted with it,
// or be missing of it. That happens only when the clock was set back by more than maxBack.
func (s *Stage) unclosed(b store.Bucket) store.Bucket {
	for s.closed[whole(b)] {
		b.Start += b.Interval
	}
	return b
}

// lacking returns the sinks that are not done with a bucket. Those that are not configured any more do not count.
func (s *Stage) lacking(b store.State) []string {
	return slices.DeleteFunc(slices.Clone(s.s.Sinks), func(sink string) bool { return slices.Contains(b.Taken, sink) })
}

// hand hands a bucket on, which is in s.set.
func (s *Stage) hand(b store.State, ended time.Time) {
	s.handed[b.Bucket] = s.lacking(b)
	s.stats.undelivered.Set(float64(len(s.handed)))
	c := &Closed{
		Bucket: b.Bucket, Late: b.End() <= s.started.Unix(), Ended: ended, Set: s.set, Had: b.Taken,
		Taken: func(sink string) { s.take(b.Bucket, sink) },
	}
	s.stats.bucket(c)
	s.warn(c)
	s.s.Emit(c)
	if len(s.s.Sinks) == 0 {
		s.take(b.Bucket, "") // nobody will
	}
}

// take notes that a sink is done with a bucket, from any goroutine.
func (s *Stage) take(b store.Bucket, sink string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = append(s.taken, store.Change{Op: store.Take, Bucket: b, Sink: sink})
}

// forget has the store know who is done with what, and deletes what all are done with.
func (s *Stage) forget() {
	s.mu.Lock()
	taken := s.taken
	s.taken = nil
	s.mu.Unlock()
	if len(taken) == 0 {
		return
	}
	for _, c := range taken {
		if left, handed := s.handed[c.Bucket]; handed {
			s.handed[c.Bucket] = slices.DeleteFunc(left, func(sink string) bool { return sink == c.Sink })
		}
	}
	s.changes = s.changes[:0]
	for _, c := range taken {
		switch left, handed := s.handed[c.Bucket]; {
		case !handed: // deleted by one of the changes before
		case len(left) > 0:
			s.changes = append(s.changes, c)
		default:
			s.changes = append(s.changes, store.Change{Op: store.Delete, Bucket: c.Bucket})
			delete(s.handed, c.Bucket)
			delete(s.closed, whole(c.Bucket))
		}
	}
	s.write(s.changes)
	s.stats.undelivered.Set(float64(len(s.handed)))
}

// end hands on what nobody will be there for, and lets go of what was delivered.
func (s *Stage) end(now time.Time) {
	if _, memory := s.store.(*store.Memory); memory && s.s.EmitOpen {
		states, _ := s.store.Buckets() // that of memory has no errors
		defer s.lendSets()()
		for _, fine := range []bool{true, false} {
			for _, b := range states {
				if b.Fine == fine && !s.isHanded(b.Bucket) {
					s.close(b, now)
				}
			}
			states, _ = s.store.Buckets()
		}
	}
	s.forget()
}
