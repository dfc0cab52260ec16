package aggregate

import (
	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/protocol/metric"
)

// Table adds up what one lane receives. It belongs to the lane: its methods are called with the lane's lock held. Only the flusher's
// goroutine calls Flip.
type Table struct {
	store store
	seeds *seeds
	cur   int // which half of every entry is of the present interval
	// epoch is the present interval's number times two, plus one. In an entry it says that the words are of this interval; one less, that
	// the entry was of use in it but has no value: an alias, or a series with nothing but timed points.
	epoch uint32
	gens  [2]generation

	in       *Interner
	canon    canon
	digests  spares[digest]
	sketches spares[sketch]
	stand    metric.Sample // the key of an overflow series
	scratch  []byte        // its tags
	batch    batch

	old   *store // being left, entry by entry; nil most of the time
	next  *ids   // to start afresh with at the next flip; nil most of the time
	sweep uint32 // the entry at which the search for idle ones goes on

	law law
}

// generation is what a table has of one interval beside the words of its entries.
type generation struct {
	active   List[uint32] // entries with values, in the order of their first sample
	digests  List[*digest]
	sketches List[*sketch]
	timed    List[timedPoint]
	events   List[stamped[metric.Event]]
	checks   List[stamped[metric.Check]]

	saturated uint64
	conflicts uint64

	view    view // set by the flip that ended it
	pending bool // ended and not yet collected; the flusher's
}

func newTable(in *Interner, ids *ids) *Table {
	t := &Table{store: newStore(ids), seeds: in.seeds, in: in, canon: canon{rules: in.rules, seeds: in.seeds}}
	t.epoch = 2*firstInterval + 1
	t.cur = firstInterval & 1
	return t
}

// firstInterval is not 0: an entry's zero epoch must not be that of the present.
const firstInterval = 1

// Add adds a sample: all values of one line, which have one outcome. The sample is read and not kept. stamp is when it was received, in
// nanoseconds on one clock for all lanes that never goes back, and later for each line of a receive call: the gauge of the latest wins, also among
// series that are merged in the end because they differ in scope alone. listener says where it came in, for the report of who exceeds a limit. It
// does not allocate when the key is known.
func (t *Table) Add(s *metric.Sample, stamp int64, listener uint16) Outcome {
	key := newKey{meta: metaOf(s)}
	key.hash = t.seeds.key.of(key.meta, s.Name, s.Tags)
	e, n := t.store.find(key.hash, key.meta, s.Name, s.Tags)
	return t.addTo(e, n, s, stamp, listener, key)
}

// addTo adds a sample whose key has the entry e, numbered n, or none.
func (t *Table) addTo(e *entry, n uint32, s *metric.Sample, stamp int64, listener uint16, key newKey) Outcome {
	var outcome Outcome
	switch {
	case e == nil:
		outcome = t.addNew(s, stamp, listener, key)
	case e.meta&metaAlias == 0:
		outcome = t.apply(e, n, s, stamp)
	default:
		outcome = t.addAlias(e, n, s, stamp, listener, key)
	}
	if invariants.Enabled {
		t.law.sample(s, outcome)
	}
	return outcome
}

// addAlias adds a sample whose key has an entry, but no values of its own.
func (t *Table) addAlias(e *entry, n uint32, s *metric.Sample, stamp int64, listener uint16, key newKey) Outcome {
	own, number := t.store.ownEntry(e)
	if own == nil {
		t.store.remove(n)
		return t.addNew(s, stamp, listener, key)
	}
	over := e.meta&metaOver != 0
	if !over {
		t.touch(e)
	}
	outcome := t.apply(own, number, s, stamp)
	if outcome == Applied && over {
		// Not touched, the key leaves when its time is up however often it is used, and the limits are asked again: the flood
		// that kept it out may be over.
		outcome = Overflowed
	}
	return outcome
}

// apply adds a sample's values to an entry that has values.
func (t *Table) apply(e *entry, n uint32, s *metric.Sample, stamp int64) Outcome {
	if s.Time != 0 && isTimed(s.Kind) {
		return t.addTimed(e, n, s)
	}
	if e.epochs[t.cur&1] != t.epoch {
		t.begin(e, n)
	}
	words := &e.words[t.cur&1]
	switch s.Kind {
	case metric.Counter:
		t.addCounter(words, s)
	case metric.Gauge:
		t.addGauge(words, s, stamp)
	case metric.Set:
		t.addMember(words, s)
	default:
		t.addHistogram(words, s)
	}
	return Applied
}

// begin makes an entry part of the present interval.
func (t *Table) begin(e *entry, n uint32) {
	words := &e.words[t.cur]
	*words = [2]uint64{}
	switch e.meta.kind() {
	case metric.Counter:
	case metric.Gauge:
		words[1] = gaugeRelative
	case metric.Set:
		t.beginSet(words, &e.words[t.cur^1])
	default:
		t.beginHistogram(words, &e.words[t.cur^1])
	}
	e.epochs[t.cur] = t.epoch
	t.gens[t.cur].active.Push(n)
}

// touch keeps an entry from being idle without making it part of the interval.
func (t *Table) touch(e *entry) {
	if e.epochs[t.cur] < t.epoch-1 {
		e.epochs[t.cur] = t.epoch - 1
	}
}

// Held returns how much the present interval holds: series with values, points with times of their own, events and checks.
func (t *Table) Held() int {
	g := &t.gens[t.cur]
	return g.active.Len() + g.timed.Len() + g.events.Len() + g.checks.Len()
}

// Flip ends the interval: from now on samples go to the other generation, and Collect reads this one. Its cost does not depend on what
// the table holds. While the generation before is not yet collected it does nothing: the interval goes on, and nothing is lost.
func (t *Table) Flip() {
	g := &t.gens[t.cur]
	if t.gens[t.cur^1].pending {
		return
	}
	if invariants.Enabled {
		t.law.check()
	}
	g.pending = true
	g.view = t.store.view()
	if t.next != nil {
		old := t.store
		t.old = &old
		t.store = newStore(t.next)
		t.next = nil
	}
	t.cur ^= 1
	t.epoch += 2
}
