package trace

import "sync"

// queue holds the buffers that wait for the sender, oldest first, and empty ones to be used again. Beside what the sender
// fetched itself it holds at most limit bytes.
type queue struct {
	mu      sync.Mutex
	limit   int
	bytes   int // of full and taken
	full    []*buffer
	taken   *buffer // with the sender, who moves it along without the mutex
	inTaken int     // packets of taken that have not left, as of the last settle
	empty   []*buffer
	counted counts // what the sender has done, changed together with full and taken
	own     uint64 // packets that the sender recorded itself

	wake chan struct{} // has room for one: the sender looks at everything when it wakes up
}

// counts is what became of packets that reached the sender.
type counts struct {
	sent       uint64
	bytes      uint64
	flushes    uint64
	reconnects uint64
	dropped    drops
	refusal    error // the last error of a packet that was refused; it is not added up
	unsettled  bool  // the way there is so new that it may be none; it is not added up either
}

// send counts the next n packets of b as sent, and passes over them.
func (c *counts) send(b *buffer, n int) {
	for range n {
		start := b.offset
		b.skip()
		c.sent++
		c.bytes += uint64(b.offset - start)
	}
}

// refuse counts the next packet of b as refused, and passes over it.
func (c *counts) refuse(b *buffer, err error) {
	b.skip()
	c.dropped[dropRefused]++
	c.refusal = err
}

func (c *counts) add(other *counts) {
	c.sent += other.sent
	c.bytes += other.bytes
	c.flushes += other.flushes
	c.reconnects += other.reconnects
	c.dropped.add(&other.dropped)
}

// fresh returns an empty buffer.
func (q *queue) fresh() *buffer {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.empty)
	if n == 0 {
		return newBuffer()
	}
	b := q.empty[n-1]
	q.empty = q.empty[:n-1]
	return b
}

// push adds a buffer and returns true, unless that would be more than may wait. It wakes the sender when some have come together, since waking
// costs the goroutine that records; fewer are found at the next flush interval. The sender forces what is left in the shards when it has
// just emptied the queue.
func (q *queue) push(b *buffer, force bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !force && q.bytes > 0 && q.bytes+len(b.data) > q.limit {
		return false
	}
	q.bytes += len(b.data)
	q.full = append(q.full, b)
	if q.bytes >= min(4*swapSize, q.limit/4) {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// take returns the buffer that the sender has already, or the oldest of the queue, or nil.
func (q *queue) take() *buffer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken == nil && len(q.full) > 0 {
		q.taken = q.full[0]
		n := copy(q.full, q.full[1:])
		q.full[n] = nil
		q.full = q.full[:n]
		q.inTaken = q.taken.waiting()
	}
	return q.taken
}

// settle counts what the sender has done with the buffer it took, and takes the buffer back when all of it has left. Whoever looks at the
// queue sees none of it or all.
func (q *queue) settle(did *counts) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.counted.add(did)
	b := q.taken
	if q.inTaken = b.waiting(); q.inTaken > 0 {
		return
	}
	q.bytes -= len(b.data)
	q.taken = nil
	q.recycle(b)
}

// adopt adds a buffer of packets that the sender made itself.
func (q *queue) adopt(b *buffer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(b.ends) == 0 {
		q.recycle(b)
		return
	}
	q.own += uint64(len(b.ends))
	q.bytes += len(b.data)
	q.full = append(q.full, b)
}

// tooLarge counts a packet of the sender's own that is larger than the limit.
func (q *queue) tooLarge() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.own++
	q.counted.dropped[dropTooLarge]++
}

func (q *queue) recycle(b *buffer) {
	if cap(b.data) <= maxKept {
		b.reset()
		q.empty = append(q.empty, b)
	}
}

// trim lets one empty buffer go when there are more than n: a burst ends, and its memory is given back bit by bit.
func (q *queue) trim(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if last := len(q.empty) - 1; last >= n {
		q.empty[last] = nil
		q.empty = q.empty[:last]
	}
}
