package store

import "github.com/veneurd/veneur/server/spanmetrics/partial"

// Memory is a store in memory. What it holds of a bucket is one set, however many partitions there are.
type Memory struct {
	limits  partial.Limits
	buckets map[Bucket]*held
	last    Bucket
	wire    []byte
}

type held struct {
	set    *partial.Set // nil when nothing was merged
	closed bool
	taken  []string
}

// NewMemory returns an empty store whose sets have the given limits.
func NewMemory(l partial.Limits) *Memory {
	return &Memory{limits: l, buckets: map[Bucket]*held{}}
}

// Commit makes changes. The error is that of a partial which is none; what came before it was merged.
func (m *Memory) Commit(changes []Change) error {
	m.last = LastClosed(m.last, changes)
	for i := range changes {
		c := &changes[i]
		if c.Op == Delete {
			delete(m.buckets, c.Bucket)
			continue
		}
		h := m.buckets[c.Bucket]
		if h == nil {
			h = &held{}
			m.buckets[c.Bucket] = h
		}
		switch c.Op {
		case Close:
			h.closed = true
		case Take:
			h.taken = AddOnce(h.taken, c.Sink)
		default:
			if h.set == nil {
				h.set = partial.New(m.limits)
			}
			if err := h.set.Merge(c.Partial); err != nil {
				return err
			}
		}
	}
	return nil
}

// Buckets lists the buckets there are.
func (m *Memory) Buckets() ([]State, error) {
	return Sorted(m.buckets, func(b Bucket, h *held) State { return State{b, h.closed, h.taken} }), nil
}

// Last returns the closed bucket that ended last.
func (m *Memory) Last() Bucket { return m.last }

// Read merges what a bucket holds into a set.
func (m *Memory) Read(b Bucket, into *partial.Set) error {
	h := m.buckets[b]
	if h == nil || h.set == nil {
		return nil
	}
	m.wire = h.set.AppendTo(m.wire[:0])
	return into.Merge(m.wire)
}

// Close does nothing.
func (m *Memory) Close() error { return nil }
