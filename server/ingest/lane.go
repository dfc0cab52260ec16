package ingest

import (
	"sync"

	"github.com/veneurd/veneur/server/aggregate"
)

// Lane owns one table of series. Its lock is held for a whole batch of what arrives, by one reader, whom nobody contends with; the
// flusher takes it only to flip the table to a new generation.
type Lane struct {
	mu    sync.Mutex
	table *aggregate.Table
}

// newLane returns a lane over table, which belongs to it from then on.
func newLane(table *aggregate.Table) *Lane { return &Lane{table: table} }

// Table returns the lane's table. Only methods that the table allows without the lane's lock may be called on it outside of WithLock.
func (l *Lane) Table() *aggregate.Table { return l.table }

// Flip starts a new generation of the table, and returns how much the one before holds. It takes the lane's lock, for as long as no more than a
// few words change.
func (l *Lane) Flip() (held int) {
	l.WithLock(func() {
		held = l.table.Held()
		l.table.Flip()
	})
	return held
}

// Held returns how much the table's present generation holds.
func (l *Lane) Held() (held int) {
	l.WithLock(func() { held = l.table.Held() })
	return held
}

// WithLock calls f while nothing is added to the table. The lane's reader waits, and the kernel's buffer fills, until it returns.
func (l *Lane) WithLock(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}
