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
}

// batchLen is how many samples go through the passes together: enough to have all memory waited for at once.
const batchLen = 64

// AddBatch does what Add does for each of the samples, in their order, and sets the outcome of each. It is the faster way, and the more so
// the more series there are.
//
// A processor looks ahead, and has slots, entries and texts of several keys on their way from memory, as long as it guesses right how each will
// compare. About slots it often guesses wrong, learns so only when the slot has come, and loses what it has begun behind it. So the slots of
// all samples are read before one of them is judged. To read entries and texts ahead as well costs more than it saves.
func (t *Table) AddBatch(samples []metric.Sample, outcomes []Outcome, stamp int64, listener uint16) {
	for len(samples) > 0 {
		n := min(len(samples), batchLen)
		t.addBatch(samples[:n], outcomes[:n], stamp, listener)
		samples, outcomes, stamp = samples[n:], outcomes[n:], stamp+int64(n)
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

	dir, shift := t.store.index.dir, t.store.index.shift&63
	for i, hash := range hashes {
		numbers[i] = dir[hash>>shift].slots[slotOf(hash)]
	}
	for i, slot := range numbers { // made the first number that may be the key's
		if tag := slotTag(hashes[i]); slot != 0 && slot&^maxNumber != tag {
			seg, pos := dir[hashes[i]>>shift], slotOf(hashes[i])
			for slot != 0 && slot&^maxNumber != tag {
				pos = nextSlot(pos)
				slot = seg.slots[pos]
			}
		}
		numbers[i] = slot & maxNumber
	}

	// It may still be that of another key, and the samples before this one may have added or removed some.
	cur, epoch := t.cur&1, t.epoch
	for i := range samples {
		s := &samples[i]
		n := numbers[i]
		e := t.store.entry(n)
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
		outcomes[i] = t.addTo(e, n, s, stamp+int64(i), listener, newKey{hashes[i], metas[i]})
	}
}
