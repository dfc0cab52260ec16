package delivery

import (
	"sync"
	"time"

	"github.com/veneurd/veneur/internal/invariants"
)

// queue holds what waits for one sink, and the ledger, under one lock: the ledger's law holds whenever the lock is free. The lock is
// held for a few assignments, never while anything is sent, encoded or logged.
type queue struct {
	limits Common
	linger time.Duration
	wake   chan struct{} // holds a token when the worker should look again

	mu      sync.Mutex
	ledger  Ledger
	parcels []*parcel // oldest first
	open    *parcel   // the last of them, while spans may still be added
	current *parcel   // taken by the worker, not yet done
	ended   bool      // nobody will take anything any more
}

// parcel is what is queued and dropped as a whole: an interval for metrics, a chunkful for spans.
type parcel struct {
	items, bytes int
	born         time.Time
	cuts         []int // where its chunks end, ascending; the last one is items; nil is one chunk
	cargo        cargo

	settled int // of items; under the queue's lock
}

func newQueue(limits Common, linger time.Duration) queue {
	return queue{limits: limits, linger: linger, wake: make(chan struct{}, 1)}
}

// push takes a parcel in, making room for it; nil when the filter left nothing.
func (q *queue) push(p *parcel, filtered int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	q.ledger.Offered += uint64(filtered)
	q.ledger.Filtered += uint64(filtered)
	if p != nil && q.enter(p.items, p.bytes) {
		q.parcels = append(q.parcels, p)
		q.makeRoom()
	}
	q.signal()
}

// enter accounts for items that come in. It returns false after the end: they are expired already, and nothing is to be queued.
func (q *queue) enter(items, bytes int) bool {
	q.ledger.Offered += uint64(items)
	if q.ended {
		q.ledger.Expired += uint64(items)
		return false
	}
	q.ledger.Waiting += uint64(items)
	q.ledger.WaitingBytes += uint64(bytes)
	return true
}

// makeRoom drops the oldest parcels until the limits hold or only the newest is left.
func (q *queue) makeRoom() {
	for len(q.parcels) > 1 &&
		(q.ledger.Waiting > uint64(q.limits.QueueItems) || q.ledger.WaitingBytes > uint64(q.limits.QueueBytes)) {
		q.finish(q.pop(), overflow)
	}
}

func (q *queue) pop() *parcel {
	p := q.parcels[0]
	q.parcels[0] = nil // or the array would keep the interval alive
	q.parcels = q.parcels[1:]
	return p
}

// take gives the oldest parcel to the worker when it is ripe. Otherwise it returns after how long to look again, 0 for when woken.
// Closed parcels are ripe at once; an open one when it has lingered, or at once when draining.
func (q *queue) take(draining bool) (*parcel, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.parcels) == 0 {
		return nil, 0
	}
	if p := q.parcels[0]; p == q.open {
		if left := q.linger - time.Since(p.born); left > 0 && !draining {
			return nil, left
		}
		q.open = nil
	}
	q.current = q.pop()
	return q.current, 0
}

// settle notes what became of n items of the parcel that the worker has. It returns false when Run has given the worker up: its parcel
// is accounted for already.
func (q *queue) settle(p *parcel, n int, o outcome) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.ended {
		return false
	}
	p.settled += n
	q.ledger.settle(n, o)
	return true
}

// done ends the worker's hold on its parcel. What it did not settle is expired.
func (q *queue) done(p *parcel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.ended {
		return
	}
	q.finish(p, expired)
	q.current = nil
}

func (q *queue) finish(p *parcel, o outcome) {
	q.ledger.settle(p.items-p.settled, o)
	q.ledger.WaitingBytes -= uint64(p.bytes)
	p.settled = p.items
}

// end expires everything that waits, now and in future.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.current != nil {
		q.finish(q.current, expired)
		q.current = nil
	}
	for len(q.parcels) > 0 {
		q.finish(q.pop(), expired)
	}
	q.open = nil
	q.ended = true
}

// signal makes the worker look, now or when it is next idle.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) read() Ledger {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ledger
}

// check panics, in invariants builds, when the law does not hold.
func (q *queue) check() {
	if !invariants.Enabled {
		return
	}
	var items, bytes int
	held := q.parcels
	if q.current != nil {
		held = append([]*parcel{q.current}, held...)
	}
	for _, p := range held {
		items += p.items - p.settled
		bytes += p.bytes
	}
	l := q.ledger
	if l.Sum() != l.Offered || l.Waiting != uint64(items) || l.WaitingBytes != uint64(bytes) {
		panic("delivery: the ledger does not add up")
	}
}
