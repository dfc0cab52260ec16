package aggregate

import (
	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/protocol/metric"
)

// batch is what AddBatch works out of its samples, pass by pass.
type batch struct {
	hashes  [batchLen]uint64
	metas   [batchLen]meta
	numbers [batchLen]uint32 // of entries; 0 for none
	touched byte             // made of what was read only to have it at hand
}

const (
	// batchLen is how many samples go through the passes together: enough to wait for all that they need at once.
	batchLen = 64
	// batchMin is the number of samples below which the passes cost more than they save.
	batchMin = 4
)

// AddBatch does what Add does for each of the samples, in their order, and sets the outcome of each. It is the faster way, and the more so
// the more series there are: what Add would wait for one by one, a slot, an entry and the text of a key, is asked of the memory for all
// samples before the first needs it.
func (t *Table) AddBatch(samples []metric.Sample, outcomes []Outcome, stamp int64, listener uint16) {
	for len(samples) >= batchMin {
		n := min(len(samples), batchLen)
		t.addBatch(samples[:n], outcomes[:n], stamp, listener)
		samples, outcomes = samples[n:], outcomes[n:]
	}
	for i := range samples {
		outcomes[i] = t.Add(&samples[i], stamp, listener)
	}
}

func (t *Table) addBatch(samples []metric.Sample, outcomes []Outcome, stamp int64, listener uint16) {
	b := &t.batch
	outcomes = outcomes[:len(samples)]
	hashes, metas, numbers := b.hashes[:len(samples)], b.metas[:len(samples)], b.numbers[:len(samples)]
	for i := range samples {
		s := &samples[i]
		metas[i] = metaOf(s)
		hashes[i] = t.seeds.key.of(metas[i], s.Name, s.Tags)
	}

	// The slots, and of each segment the first that may be the key's. To decide that in one loop would stop at each slot that is waited for
	// and guessed wrong.
	dir, shift := t.store.index.dir, t.store.index.shift&63
	for i, hash := range hashes {
		numbers[i] = dir[hash>>shift].slots[slotOf(hash)]
	}
	for i, slot := range numbers {
		if tag := slotTag(hashes[i]); slot != 0 && slot&^maxNumber != tag {
			seg, pos := dir[hashes[i]>>shift], slotOf(hashes[i])
			for slot != 0 && slot&^maxNumber != tag {
				pos = nextSlot(pos)
				slot = seg.slots[pos]
			}
		}
		numbers[i] = slot & maxNumber
	}

	// The entries, and once they are there, their texts from end to end.
	var entries [batchLen]*entry
	pages, touched := t.store.pages, byte(0)
	for i, n := range numbers {
		e := &pages[n/entriesPerPage][n%entriesPerPage]
		entries[i%batchLen] = e
		touched += byte(e.meta)
	}
	for i := range numbers {
		e := entries[i%batchLen]
		if n := int(e.nameLen) + int(e.tagsLen); n > 0 {
			text := textAt(t.store.texts.pages, e.key, n)
			touched += text[0] + text[n-1]
		}
	}
	b.touched = touched

	// What was found so is only a guess: it may be the entry of another key, and the samples before this one may have added or removed some.
	cur, epoch := t.cur&1, t.epoch
	for i := range samples {
		s := &samples[i]
		e, n := entries[i%batchLen], numbers[i]
		switch {
		case e.hash != hashes[i] || e.meta&metaKey != metas[i] || !t.store.isKey(e, s.Name, s.Tags):
			e, n = t.store.find(hashes[i], metas[i], s.Name, s.Tags)
		case e.meta == meta(metric.Counter) && e.epochs[cur] == epoch && len(s.Values) == 1 && s.Rate == 1 && s.Time == 0:
			// What apply would do, for the sample that most are.
			words := &e.words[cur]
			total := counterOf(words)
			if total.add(s.Values[0]) {
				t.gens[t.cur].saturated++
			}
			*words = total.words()
			outcomes[i] = Applied
			if invariants.Enabled {
				t.law.applied(1)
				t.law.sample(s, Applied)
			}
			continue
		}
		outcomes[i] = t.addTo(e, n, s, stamp, listener, newKey{hashes[i], metas[i]})
	}
}
