package aggregate

import (
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// newKey is what is worked out already of a key that the table does not know.
type newKey struct {
	hash uint64
	meta meta
}

// addNew adds a sample whose key the table does not know: it takes the key in, or, past a bound, adds the sample without.
func (t *Table) addNew(s *metric.Sample, stamp int64, listener uint16, key newKey) Outcome {
	if t.old != nil {
		if old, _ := t.old.find(key.hash, key.meta, s.Name, s.Tags); old != nil {
			if e, n := t.adopt(old); e != nil {
				if e.meta&metaAlias == 0 {
					return t.apply(e, n, s, stamp)
				}
				return t.addAlias(e, n, s, stamp, listener, key)
			}
		}
	}
	if s.Time != 0 && isTimed(s.Kind) && t.timedIsFull() {
		return RefusedTimedLimit
	}
	if !t.canon.read(s) {
		return RefusedUTF8
	}
	if t.canon.conflict {
		t.gens[t.cur].conflicts++
	}
	n, v := t.own(s, key, false)
	if v != admitted {
		return t.addOver(s, stamp, listener, key, v)
	}
	return t.apply(t.store.entry(n), n, s, stamp)
}

// own returns the entry with the values of the series that was last read, which is made under the given key if the table has none; if it
// has, the key becomes an alias as far as there is room.
func (t *Table) own(s *metric.Sample, key newKey, overflow bool) (uint32, verdict) {
	if len(s.Name) > math.MaxUint16 {
		return 0, overAll
	}
	size := keySize(s.Form, s.Name, s.Tags)
	identity := t.canon.identity(s)
	id, v := t.in.resolve(t, &identity, size, overflow)
	if v != admitted {
		return 0, v
	}
	n := t.store.primary.get(id)
	if n == 0 {
		_, n = t.store.insert(key.hash, key.meta, s.Name, s.Tags, id)
		return n, admitted
	}
	if t.roomForAlias(size, false) {
		t.insertAlias(s, key, n, 0)
	}
	return n, admitted
}

// insertAlias makes a key lead to the entry n.
func (t *Table) insertAlias(s *metric.Sample, key newKey, n uint32, over meta) {
	e, _ := t.store.insertAlias(key.hash, key.meta|over, s.Name, s.Tags, n)
	t.touch(e)
}

// addOver adds a sample whose series a limit keeps out to the overflow series in its place.
func (t *Table) addOver(s *metric.Sample, stamp int64, listener uint16, key newKey, v verdict) Outcome {
	t.in.offenders.note(s.Name, t.canon.tags, listener)
	over, ok := t.overflowOf(s, v)
	if !ok {
		return RefusedSeriesLimit
	}
	m := metaOf(over)
	hash := t.seeds.key.of(m, over.Name, over.Tags)
	_, n := t.store.find(hash, m, over.Name, over.Tags)
	if n == 0 {
		if !t.canon.read(over) {
			return RefusedSeriesLimit
		}
		if n, v = t.own(over, newKey{hash, m}, true); v != admitted {
			return RefusedSeriesLimit
		}
	}
	e := t.store.entry(n)
	if e.meta&metaAlias != 0 {
		if e, n = t.store.ownEntry(e); e == nil {
			return RefusedSeriesLimit
		}
	}
	if len(s.Name) <= math.MaxUint16 && t.roomForAlias(keySize(s.Form, s.Name, s.Tags), true) {
		t.insertAlias(s, key, n, metaOver)
	}
	if outcome := t.apply(e, n, s, stamp); outcome != Applied {
		return outcome
	}
	return Overflowed
}

// overflowName is the name of the series for samples of names that came when the daemon was full.
const overflowName = "veneur.overflow"

// overflowOf returns the key of the series that stands in for the one last read: it has the scope, and goes to the sinks, that that one
// would have had. There is none for values that make no sense across names.
func (t *Table) overflowOf(s *metric.Sample, v verdict) (over *metric.Sample, ok bool) {
	b := t.scratch[:0]
	name := s.Name
	switch {
	case v == overName:
		b = metric.AppendPair(b, "veneur_overflow", "true")
	case s.Kind == metric.Counter || s.Kind == metric.Set:
		b = metric.AppendPair(b, "kind", s.Kind.String())
		name = []byte(overflowName)
	default:
		return nil, false
	}
	if t.canon.sinkOnly != "" {
		b = metric.AppendPair(b, "veneursinkonly", t.canon.sinkOnly)
	}
	t.scratch = b
	t.stand = metric.Sample{Kind: s.Kind, Form: metric.TagsPairs, Scope: t.canon.scope, Name: name, Tags: b}
	return &t.stand, true
}
