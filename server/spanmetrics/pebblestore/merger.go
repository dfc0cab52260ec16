package pebblestore

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// mergerName is written into the store; one with another merge operator is not opened.
const mergerName = "veneurd.spanmetrics.partial.1"

// merger merges partial aggregates, in goroutines of pebble's.
func (s *Store) merger() *pebble.Merger {
	sets := &sync.Pool{New: func() any { return partial.New(s.settings.Limits) }}
	return &pebble.Merger{
		Name: mergerName,
		Merge: func(_, value []byte) (pebble.ValueMerger, error) {
			m := &merge{store: s, sets: sets, set: sets.Get().(*partial.Set)}
			return m, m.MergeNewer(value)
		},
	}
}

// merge is one value in the making. Sums do not depend on the order, so older and newer are one.
type merge struct {
	store *Store
	sets  *sync.Pool
	set   *partial.Set
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

// Finish returns the value.
func (m *merge) Finish(bool) ([]byte, io.Closer, error) {
	value := m.set.AppendTo(nil)
	m.set.Reset()
	m.sets.Put(m.set)
	return value, nil, nil
}
