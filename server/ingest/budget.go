package ingest

import "sync/atomic"

// budget bounds the bytes that all connections of a daemon together hold of messages that are not whole yet. What every connection may hold
// anyway, a few kilobytes, is outside of it, so that small messages get through however much others hold.
type budget struct {
	limit int64
	used  atomic.Int64
}

func newBudget(limit int) *budget { return &budget{limit: int64(limit)} }

// take takes n bytes, or reports false and takes none.
func (b *budget) take(n int) bool {
	for {
		used := b.used.Load()
		if used+int64(n) > b.limit {
			return false
		}
		if b.used.CompareAndSwap(used, used+int64(n)) {
			return true
		}
	}
}

// give gives n bytes back.
func (b *budget) give(n int) { b.used.Add(-int64(n)) }

// ample says that less than half is taken: memory may be spent on speed. The other half is for those who need it.
func (b *budget) ample() bool { return b.used.Load() < b.limit/2 }
