package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// ids numbers the series of the daemon, for all tables, from 1. A number is free again once no table holds it. It belongs to the
// interner's lock.
//
// A series is known by 96 bits of a keyed hash over everything that identifies it; its text stands in the tables alone. With ten million
// series the chance that any two agree is below 1e-14.
type ids struct {
	index   index
	records paged[record]
	used    uint32 // numbers ever given, the one numbered 0 included
	free    uint32 // the first of the free ones; lo of each is the next
	live    int
	classes [classes]int

	names map[uint64]nameState // by the keyed hash of the name
	bases map[uint64]uint32    // series named like an aggregate of a histogram, by the hash of that histogram's name

	// forward gives the number of each series in the ids that come after these, once it has moved.
	forward paged[uint32]

	contested  bool // somewhere a name has, or had, series whose points can be equal
	manyScopes bool // somewhere a name has, or had, series of unequal scope

	flagChanges uint32 // how often that has changed for series that were there
}

// record is a series that has a number.
type record struct {
	lo    uint64
	hi    uint32
	holds uint16 // tables that have an entry of it
	class metric.Kind
	scope metric.Scope
}

// nameState is what the series of one name have in common.
type nameState struct {
	series  uint32
	classes uint8 // a bit for each class that has been there while the name had series
	scopes  uint8 // the same for scopes
}

// classes is how many values Kind.Class has, gaps included.
const classes = int(metric.Set) + 1

func newIDs() *ids {
	return &ids{index: newIndex(), used: 1, names: map[uint64]nameState{}, bases: map[uint64]uint32{}}
}

// identity is what tells a series from all others, as hashes.
type identity struct {
	lo    uint64
	hi    uint32
	class metric.Kind
	scope metric.Scope
	name  uint64
	base  uint64 // of the histogram for whose aggregate the name could be taken, or 0
}

// pointClasses are those whose points have the bare name of their series.
const pointClasses = 1<<metric.Counter | 1<<metric.Gauge | 1<<metric.Set

// find returns the number of a series, or 0.
func (s *ids) find(id *identity) uint32 {
	seg, tag := s.index.segment(id.lo), slotTag(id.lo)
	for pos := slotOf(id.lo); seg.slots[pos] != 0; pos = nextSlot(pos) {
		if slot := seg.slots[pos]; slot&^maxNumber == tag {
			if r := s.records.at(slot & maxNumber); r.lo == id.lo && r.hi == id.hi {
				return slot & maxNumber
			}
		}
	}
	return 0
}

// create numbers a series that has no number. Nobody holds it yet.
func (s *ids) create(id *identity) uint32 {
	n := s.free
	if n != 0 {
		s.free = uint32(s.records.at(n).lo)
	} else {
		n = s.used
		s.used++
	}
	*s.records.at(n) = record{lo: id.lo, hi: id.hi, class: id.class, scope: id.scope}
	s.index.insert(id.lo, n, s.hashOf)
	s.live++
	s.classes[id.class]++
	s.addName(id)
	return n
}

func (s *ids) hashOf(n uint32) uint64 { return s.records.at(n).lo }

// release ends the hold of one table, and says whether it was the last: the number is then free. name and base are those of the identity.
func (s *ids) release(n uint32, name, base uint64) (freed bool) {
	r := s.records.at(n)
	if r.holds--; r.holds > 0 {
		return false
	}
	s.index.remove(r.lo, n, s.hashOf)
	s.live--
	s.classes[r.class]--
	state := s.names[name]
	flagged := s.isContested(r.class, name, base) || several(state.scopes)
	last := state.series == 1
	if last {
		delete(s.names, name)
	} else {
		state.series--
		s.names[name] = state
	}
	if base != 0 && r.class != metric.Histogram {
		if s.bases[base]--; s.bases[base] == 0 {
			last = true
			delete(s.bases, base)
		}
	}
	if flagged && last {
		s.flagChanges++
	}
	*r = record{lo: uint64(s.free)}
	s.free = n
	return true
}

// addName notes what a new series means for those of its name.
func (s *ids) addName(id *identity) {
	before := s.names[id.name]
	state := before
	state.series++
	state.classes |= 1 << id.class
	state.scopes |= 1 << id.scope
	s.names[id.name] = state
	first := state.classes != before.classes || state.scopes != before.scopes
	if id.base != 0 && id.class != metric.Histogram {
		first = first || s.bases[id.base] == 0
		s.bases[id.base]++
	}
	contested, manyScopes := s.isContested(id.class, id.name, id.base), several(state.scopes)
	s.contested = s.contested || contested
	s.manyScopes = s.manyScopes || manyScopes
	if first && (contested || manyScopes) {
		s.flagChanges++
	}
}

// isContested says whether a series may give a point with the whole name of another series' point: a counter and a gauge x, or a gauge
// x.min beside a histogram x. Their tags may still differ.
func (s *ids) isContested(class metric.Kind, name, base uint64) bool {
	if class == metric.Histogram {
		return s.bases[name] > 0
	}
	return several(s.names[name].classes&pointClasses) || base != 0 && s.hasHistogram(base)
}

func (s *ids) hasHistogram(name uint64) bool { return s.names[name].classes&(1<<metric.Histogram) != 0 }

// several says whether more than one bit is set.
func several(bits uint8) bool { return bits&(bits-1) != 0 }

// bytes returns roughly the memory the numbers take. A map takes some 26 bytes a name.
func (s *ids) bytes() int {
	return s.index.bytes() + len(s.records.pages)*pageLen*16 + 26*len(s.names)
}

// hollow says whether most numbers are free and enough of them to be worth a fresh start.
func (s *ids) hollow() bool { return s.used > minHollow && s.live < int(s.used)/4 }

const minHollow = 4 << 10
