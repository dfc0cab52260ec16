package pebblestore

import (
	"io"

	"github.com/cockroachdb/pebble/v2"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// mergerName is written into the store; one with another merge operator is not opened.
const mergerName = "veneurd.spanmetrics.partial.1"

// merger merges partial aggregates, in goroutines of pebble's.
func (s *Store) merger() *pebble.Merger {
	return &pebble.Merger{
		Name: mergerName,
		Merge: func(_, value []byte) (pebble.ValueMerger, error) {
			m := &merge{store: s, set: s.sets.Get().(*partial.Set)}
			return m, m.MergeNewer(value)
		},
	}
}

// merge is one value in the making. Sums do not depend on the order, so older and newer are one.
type merge struct {
	store *Store
	set   *partial.Set
	value *[]byte
}

// MergeNewer adds an operand. One that is none is left out and counted: an error would have every later read and compaction of the key fail.
func (m *merge) MergeNewer(value []byte) error {
	if m.set.Merge(value) != nil {
		m.store.corrupt.Add(1)
	}
	return nil
}

// MergeOlder is MergeNewer.
func (m *merge) MergeOlder(value []byte) error { return m.MergeNewer(value) }

// Finish returns the value, which is valid until the closer, m itself, is closed. The set is free from now on.
func (m *merge) Finish(bool) ([]byte, io.Closer, error) {
	m.value = m.store.values.Get().(*[]byte)
	*m.value = m.set.AppendTo((*m.value)[:0])
	m.set.Reset()
	m.store.sets.Put(m.set)
	m.set = nil
	return *m.value, m, nil
}

// Close gives the value's memory back.
func (m *merge) Close() error {
	if m.value == nil {
		return nil
	}
	invariants.Mangle(*m.value)
	m.store.values.Put(m.value)
	m.value = nil
	return nil
}
