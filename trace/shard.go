package trace

import (
	"sync"

	"github.com/veneurd/veneur/ssf"
)

// shard is one of several places that spans are encoded into, so that cores do not wait for each other. Its mutex is held for one
// encoding, some 150 ns, and by the sender to take the buffer away.
type shard struct {
	mu       sync.Mutex
	active   *buffer // nil until something is recorded
	recorded uint64
	dropped  drops
	closed   bool

	_ [64]byte // the next shard's mutex is on a cache line of another core
}

// record encodes the span into a shard, or drops it. Without count, a span that is too large is neither counted nor dropped: the caller
// splits it. seed chooses the shard.
func (c *Client) record(span *ssf.SSFSpan, seed uint64, count bool) error {
	s := c.lockShard(seed)
	defer s.mu.Unlock()
	if s.closed {
		return s.drop(dropClosed)
	}
	if s.active != nil && len(s.active.data) >= swapSize && !c.swap(s, false) {
		return s.drop(dropFull)
	}
	if s.active == nil {
		s.active = c.queue.fresh()
	}
	if !s.active.append(span, c.format) {
		if !count {
			return ReasonTooLarge
		}
		return s.drop(dropTooLarge)
	}
	s.recorded++
	if len(s.active.data) >= swapSize {
		c.swap(s, false)
	}
	return nil
}

// lockShard locks the shard that seed chooses, or another one when that is taken: the thread that holds it may have lost its core, for
// milliseconds.
func (c *Client) lockShard(seed uint64) *shard {
	mask := uint64(len(c.shards) - 1)
	for i := range uint64(len(c.shards)) {
		if s := &c.shards[(seed+i)&mask]; s.mu.TryLock() {
			return s
		}
	}
	s := &c.shards[seed&mask]
	s.mu.Lock()
	return s
}

// swap gives the active buffer to the sender, unless too much is waiting there. The shard is locked.
func (c *Client) swap(s *shard, force bool) bool {
	if !c.queue.push(s.active, force) {
		return false
	}
	s.active = nil
	return true
}

// sweep takes what all shards hold into the queue.
func (c *Client) sweep() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		if s.active != nil && len(s.active.ends) > 0 {
			c.swap(s, true)
		}
		s.mu.Unlock()
	}
}

// drop counts a span that came and went. The shard is locked.
func (s *shard) drop(reason int) error {
	s.recorded++
	s.dropped[reason]++
	return reasons[reason]
}
