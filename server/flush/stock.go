package flush

import (
	"sync"
	"sync/atomic"

	"github.com/veneurd/veneur/internal/invariants"
)

// stock keeps arrays of items that targets are done with, each of pieceLen, for the intervals to come. A million series are 48 MB of points an
// interval: as garbage they bring on a collection of all that is known of those series every other flush, just when the flusher and the readers
// have the most to do, and readers are made to help with it.
type stock[T any] struct {
	mu   sync.Mutex // never held for more than a few assignments: targets give back with locks of theirs held
	free [][]T

	// Of the goroutine that flushes: how many were taken for the interval at hand, and for the one before it.
	taken, before int
}

// begin starts an interval. No more is kept than one of the last two needed, so that a flood is forgotten.
func (s *stock[T]) begin() {
	most := max(s.taken, s.before)
	s.before, s.taken = s.taken, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.free) > most {
		clear(s.free[most:])
		s.free = s.free[:most]
	}
}

// take returns an array of zero items.
func (s *stock[T]) take() []T {
	s.taken++
	s.mu.Lock()
	n := len(s.free) - 1
	if n < 0 {
		s.mu.Unlock()
		return make([]T, pieceLen)
	}
	array := s.free[n]
	s.free[n] = nil
	s.free = s.free[:n]
	s.mu.Unlock()
	clear(array)
	return array
}

// lease is the arrays of one list, while anybody reads them. The one who makes it is the first holder. A nil lease is of arrays that are left
// to the collector.
type lease[T any] struct {
	stock   *stock[T]
	holders atomic.Int32
	arrays  [][]T
}

func newLease[T any](s *stock[T]) *lease[T] {
	l := &lease[T]{stock: s}
	l.holders.Store(1)
	return l
}

// array returns another array for the list.
func (l *lease[T]) array() []T {
	array := l.stock.take()
	l.arrays = append(l.arrays, array)
	return array
}

// hold adds a holder.
func (l *lease[T]) hold() {
	if l != nil {
		l.holders.Add(1)
	}
}

// release is called by each holder once, from any goroutine. The last one gives the arrays back.
func (l *lease[T]) release() {
	if l == nil || l.holders.Add(-1) > 0 {
		return
	}
	if invariants.Enabled { // whoever still reads them shall notice
		for _, array := range l.arrays {
			clear(array)
		}
	}
	s := l.stock
	s.mu.Lock()
	s.free = append(s.free, l.arrays...)
	s.mu.Unlock()
}
