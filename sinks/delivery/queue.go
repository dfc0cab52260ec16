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
	toDisk chan struct{} // the same for what writes to disk; nil without a disk

	mu       sync.Mutex
	ledger   Ledger
	parcels  []*parcel // oldest first; in memory
	open     *parcel   // the last of them, while spans may still be added
	current  *parcel   // taken by the worker, not yet done
	moving   *parcel   // taken by what writes to disk, not yet all there
	diskFull bool      // the disk takes nothing now: the worker sends from memory
	ended    bool      // nobody will take anything any more
}

// parcel is what is queued and dropped as a whole: an interval for metrics, a chunkful for spans.
type parcel struct {
	items, bytes int
	born         time.Time
	cuts         []int // where its chunks end, ascending; the last one is items; nil is one chunk
	cargo        cargo
	free, done   func() // see OfferUntil; nil when nobody waits, or when it was called

	settled int  // of items, or moved to disk; under the queue's lock
	moved   int  // of items: the first so many are on disk
	stored  bool // it comes from disk, where all of it still is
}

func newQueue(limits Common, linger time.Duration) queue {
	var toDisk chan struct{}
	if limits.DiskQueue.On() {
		toDisk = make(chan struct{}, 1)
	}
	return queue{limits: limits, linger: linger, wake: make(chan struct{}, 1), toDisk: toDisk}
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
		(q.ledger.Waiting-q.ledger.Stored > uint64(q.limits.QueueItems) || q.ledger.WaitingBytes > uint64(q.limits.QueueBytes)) {
		p := q.pop()
		q.finish(p, overflow)
		p.tell()
	}
}

// tell tells whoever waits that the queue is done with the parcel.
func (p *parcel) tell() {
	p.letGo()
	if p.done != nil {
		p.done()
		p.done = nil
	}
}

// letGo tells whoever waits that the arrays of the parcel are not read any more.
func (p *parcel) letGo() {
	if p.free != nil {
		p.free()
		p.free = nil
	}
}

func (q *queue) pop() *parcel {
	p := q.parcels[0]
	q.parcels[0] = nil // or the array would keep the interval alive
	q.parcels = q.parcels[1:]
	return p
}

// take gives the oldest parcel to the worker when it is ripe. Otherwise it returns after how long to look again, 0 for when woken. With
// a disk the worker gets parcels from there, and from memory only while the disk takes none.
func (q *queue) take(draining bool) (p *parcel, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.toDisk != nil && (!q.diskFull || q.moving != nil) {
		return nil, 0
	}
	p, after = q.ripe(draining)
	q.current = p
	return p, after
}

// ripe takes the oldest parcel out when it is ripe: closed parcels at once, an open one when it has lingered, or at once when draining.
func (q *queue) ripe(draining bool) (*parcel, time.Duration) {
	if len(q.parcels) == 0 {
		return nil, 0
	}
	if p := q.parcels[0]; p == q.open {
		if left := q.linger - time.Since(p.born); left > 0 && !draining {
			return nil, left
		}
		q.open = nil
	}
	return q.pop(), 0
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
	if p.stored {
		q.ledger.Stored -= uint64(n)
	}
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
	p.tell()
}

func (q *queue) finish(p *parcel, o outcome) {
	left := p.items - p.settled
	if p.stored {
		q.ledger.Stored -= uint64(left)
	}
	q.ledger.settle(left, o)
	q.ledger.WaitingBytes -= uint64(p.bytes)
	p.settled = p.items
}

// end expires everything that waits in memory, now and in future. What is on disk stays there.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	for _, p := range []*parcel{q.current, q.moving} {
		if p != nil && !p.stored {
			q.finish(p, expired)
		}
	}
	q.current, q.moving = nil, nil
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
	select {
	case q.toDisk <- struct{}{}: // never, when it is nil
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
	for _, p := range []*parcel{q.current, q.moving} {
		if p != nil && !p.stored {
			held = append([]*parcel{p}, held...)
		}
	}
	for _, p := range held {
		items += p.items - p.settled
		bytes += p.bytes
	}
	l := q.ledger
	if l.Sum() != l.Offered || l.Waiting != l.Stored+uint64(items) || l.WaitingBytes != uint64(bytes) {
		panic("delivery: the ledger does not add up")
	}
}
