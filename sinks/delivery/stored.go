package delivery

import "time"

// This file is the part of queue that knows of a disk. What is there counts as waiting, and as stored.

// replay takes in what was found on disk.
func (q *queue) replay(items int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	n := uint64(items)
	q.ledger.Offered += n
	q.ledger.Replayed += n
	q.ledger.Waiting += n
	q.ledger.Stored += n
}

// takeToMove gives the oldest parcel to what writes to disk when it is ripe, else says when to look again, as take does.
func (q *queue) takeToMove(draining bool) (*parcel, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, after := q.ripe(draining)
	q.moving = p
	return p, after
}

// moved notes that n more items of p are on disk, or that what stands before the place to is done with in another way. It says whether the
// disk took nothing before.
func (q *queue) moved(p *parcel, n, to int) (again bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.ended { // what is on disk all the same is offered again after the next start
		return false
	}
	p.settled += n
	p.moved = to
	q.ledger.Stored += uint64(n)
	again, q.diskFull = q.diskFull, false
	q.signal()
	return again
}

// doneMoving lets go of a parcel all of which is on disk.
func (q *queue) doneMoving(p *parcel) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.ended {
		return
	}
	q.finish(p, overflow) // of nothing
	q.moving = nil
	p.tell()
	q.signal()
}

// backFromMoving puts back a parcel that the disk did not take, to be sent from memory. It says whether the disk did take what came before.
func (q *queue) backFromMoving(p *parcel) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if q.ended {
		return false
	}
	q.moving = nil
	q.parcels = append([]*parcel{p}, q.parcels...)
	q.makeRoom()
	first, q.diskFull = !q.diskFull, true
	q.signal()
	return first
}

// takeStored gives the worker a parcel from the disk. It returns false after the end.
func (q *queue) takeStored(p *parcel) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return false
	}
	q.current = p
	return true
}

// lose notes what became of items that are on disk no more and that nobody has.
func (q *queue) lose(items int, o outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.check()
	if items == 0 || q.ended {
		return
	}
	q.ledger.Stored -= uint64(items)
	q.ledger.settle(items, o)
}

// giveBack ends the worker's hold on a parcel when the time is over: what is on disk stays there, the rest is expired.
func (q *queue) giveBack(p *parcel) {
	if !p.stored {
		p.free, p.done = nil, nil
		q.done(p)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.current = nil
}

// empty says that nothing waits in memory.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.parcels) == 0 && q.moving == nil
}

func (q *queue) isDiskFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.diskFull
}
