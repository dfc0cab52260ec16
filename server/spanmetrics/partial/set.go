package partial

import (
	"math"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/ssf"
)

// Set is a partial aggregate in memory. Make it by New.
type Set struct {
	limits Limits
	counts [families]int // groups, over all services

	index   map[string]int32 // entries by key
	entries []entry
	present uint32 // what Reset raises
	kept    int    // entries that were let in in the present bucket
	bucket  uint32 // what Use raises, and Reset where nothing is shared
	known   *Known // whom to ask for a place; nil where the limits are those of the set alone

	services []Service
	excess   []*Excess  // of services, nil where there is none
	overall  *Excess    // of services that have no place, nil when there are none
	nameless hll.Sketch // which services those are
	spare    []*Excess

	service []byte // the key of the service at hand
	key     []byte // the key of the group at hand
	whole   []byte // both, as estimates have them

	decoder decoder
	scratch hll.Sketch
}

// entry is a key that is known, if only from a generation before: then its place may be taken without copying it again.
type entry struct {
	key        string
	generation uint32
	bucket     uint32 // in which it was let in last
	at         int32  // its place in its list
}

// Excess is what came of keys that have no group.
type Excess struct {
	Sums Overflow // its estimators are empty
	keys [families]hll.Sketch
}

// Keys estimates for how many keys of a family the excess stands.
func (e *Excess) Keys(f Family) uint64 { return e.keys[f].Estimate() }

// New returns an empty set.
func New(l Limits) *Set {
	return &Set{limits: l, index: map[string]int32{}, present: 1, bucket: 1}
}

// Add counts a span, which came at a time in unix seconds. It says whether its duration was cut to what a sketch can tell. It costs two
// or three look-ups, and allocates only where a key or the bucket of a sketch is new.
func (s *Set) Add(m *derive.Measure, now int64) (clamped bool) {
	home := s.findService(m.Service, m.Tags)
	weight := uint64(math.Round(m.Weight * loghist.One))
	switch m.Family {
	case derive.Request:
		if at := s.findGroup(home, &group{family: Operations, failed: m.Failed, name: m.Name}); at >= 0 {
			o := &s.services[home.at].Operations[at]
			clamped = o.Duration.Add(m.Duration, weight)
			o.slowestOf(uint64(m.Duration), uint64(m.TraceID))
			if m.Failed {
				o.latestOf(uint64(now), uint64(m.TraceID), uint64(m.Duration))
			}
		} else {
			clamped = s.excessOf(home).Sums.OperationDuration.Add(m.Duration, weight)
		}
		var ok, failed uint64 = weight, 0
		if m.Failed {
			ok, failed = 0, weight
		}
		if at := s.findGroup(home, &group{family: Kinds, name: m.Kind}); at >= 0 {
			k := &s.services[home.at].Kinds[at]
			k.Duration.Add(m.Duration, weight)
			k.Ok, k.Failed = loghist.Plus(k.Ok, ok), loghist.Plus(k.Failed, failed)
		} else {
			s.excessOf(home).addKind(nil, m.Duration, weight, ok, failed)
		}
	case derive.Dependency:
		duration := m.Duration
		if duration > loghist.Max {
			duration, clamped = loghist.Max, true
		}
		sum := loghist.Times(duration, weight)
		g := group{family: Dependencies, failed: m.Failed, kind: m.TargetKind, target: m.Target, name: m.Name}
		if at := s.findGroup(home, &g); at >= 0 {
			d := &s.services[home.at].Dependencies[at]
			d.Weight, d.Sum = loghist.Plus(d.Weight, weight), loghist.Plus(d.Sum, sum)
		} else {
			s.excessOf(home).addDependency(weight, sum)
		}
	}
	return clamped
}

func (e *Excess) addKind(more *loghist.Sketch, duration int64, weight, ok, failed uint64) {
	if more != nil {
		e.Sums.KindDuration.Merge(more)
	} else {
		e.Sums.KindDuration.Add(duration, weight)
	}
	e.Sums.Ok, e.Sums.Failed = loghist.Plus(e.Sums.Ok, ok), loghist.Plus(e.Sums.Failed, failed)
}

func (e *Excess) addDependency(weight, sum uint64) {
	e.Sums.DependencyWeight = loghist.Plus(e.Sums.DependencyWeight, weight)
	e.Sums.DependencySum = loghist.Plus(e.Sums.DependencySum, sum)
}

// slowestOf keeps the trace that took longest; of two, that of the greater id, so that no order shows.
func (m *Operation) slowestOf(duration, trace uint64) {
	if trace != 0 && (duration > m.Slowest || m.SlowestTrace == 0 || duration == m.Slowest && trace > m.SlowestTrace) {
		m.Slowest, m.SlowestTrace = duration, trace
	}
}

// latestOf keeps the failed trace that came last.
func (m *Operation) latestOf(at, trace, took uint64) {
	if trace != 0 && (at > m.Latest || m.LatestTrace == 0 || at == m.Latest && (trace > m.LatestTrace || trace == m.LatestTrace && took > m.LatestTook)) {
		m.Latest, m.LatestTrace, m.LatestTook = at, trace, took
	}
}

// Empty says that nothing was counted, and no service seen.
func (s *Set) Empty() bool { return len(s.services) == 0 && s.overall == nil }

// Services returns what the services gave, in no order that means anything. It is lent.
func (s *Set) Services() []Service { return s.services }

// Excess returns what came of keys of a service that have no group, nil if there are none. It is lent.
func (s *Set) Excess(service int) *Excess { return s.excess[service] }

// Overall returns what came of services that have no place, nil if there are none, and an estimate of how many those are.
func (s *Set) Overall() (e *Excess, services uint64) {
	if s.overall == nil {
		return nil, 0
	}
	return s.overall, s.nameless.Estimate()
}

// Count returns how many groups of a family there are.
func (s *Set) Count(f Family) int { return s.counts[f] }

// idleEntries is how many keys may be kept that are not in use.
const idleEntries = 1024

// Reset empties the set. Its keys and arrays stay for what comes next, unless a third of them was not in use, in the bucket where the set is
// filled for one.
func (s *Set) Reset() {
	if len(s.entries) > s.kept+s.kept/2+idleEntries {
		*s = Set{limits: s.limits, index: map[string]int32{}, present: 1, bucket: 1, known: s.known, service: s.service, key: s.key, whole: s.whole}
		return
	}
	for i, e := range s.excess {
		if e != nil {
			s.spare = append(s.spare, e)
			s.excess[i] = nil
		}
	}
	if s.overall != nil {
		s.spare = append(s.spare, s.overall)
		s.overall = nil
	}
	s.nameless.Reset()
	s.services, s.excess = s.services[:0], s.excess[:0]
	s.counts = [families]int{}
	s.present++
	if s.known == nil {
		s.bucket++
		s.kept = 0
	}
}

// place is where a service is: the number of its entry and its index among the services. Of one that has no place the index is negative.
type place struct{ number, at int32 }

// findService returns the place of a service, which it makes if there is room.
func (s *Set) findService(name string, tags []ssf.Tag) place {
	s.service = appendService(s.service[:0], name, tags)
	number, known := s.index[string(s.service)]
	if known && s.entries[number].generation == s.present {
		return place{number, s.entries[number].at}
	}
	if !s.letIn(number, known) {
		if s.overall == nil {
			s.overall = s.newExcess()
		}
		s.nameless.Insert(s.service)
		return place{0, -1}
	}
	if !known {
		number = s.addEntry(s.service)
	}
	e := s.enter(number, len(s.services))
	var m *Service
	s.services, m = extend(s.services)
	rest := ""
	m.Name, rest = cutText(e.key[1:])
	m.Tags, m.Overflow = m.Tags[:0], nil
	for rest != "" {
		var tag ssf.Tag
		tag.Key, rest = cutText(rest)
		tag.Value, rest = cutText(rest)
		m.Tags = append(m.Tags, tag)
	}
	m.Operations, m.Kinds, m.Dependencies = m.Operations[:0], m.Kinds[:0], m.Dependencies[:0]
	s.excess = append(s.excess, nil)
	return place{number, e.at}
}

func (s *Set) addEntry(key []byte) int32 {
	number := int32(len(s.entries))
	s.entries = append(s.entries, entry{key: string(key)})
	s.index[s.entries[number].key] = number
	return number
}

// enter takes an entry into the present generation.
func (s *Set) enter(number int32, at int) *entry {
	e := &s.entries[number]
	if e.bucket != s.bucket {
		e.bucket = s.bucket
		s.kept++
	}
	e.generation, e.at = s.present, int32(at)
	return e
}

// extend makes a list one longer. What is in the new place is stale.
func extend[T any](list []T) ([]T, *T) {
	n := len(list)
	if n < cap(list) {
		list = list[:n+1]
	} else {
		var zero T
		list = append(list, zero)
	}
	return list, &list[n]
}
