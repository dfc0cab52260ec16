package trace

import (
	"fmt"
	"strings"
)

// Stats is what a client has done since it was made. It counts packets: a span with its samples is one, and so are samples that are
// reported without a span, or several when they do not fit into one. In every Stats that a client returns,
//
//	Recorded = Sent + the sum of Dropped + Waiting.
type Stats struct {
	Recorded   uint64            // came in
	Sent       uint64            // the kernel, or the backend, took them
	Dropped    map[Reason]uint64 // all reasons, those that never occurred with 0
	Waiting    uint64            // in the client's memory
	Bytes      uint64            // of the packets sent, frames' headers included
	Flushes    uint64            // buffers of up to some 48 KiB that were sent
	Reconnects uint64            // connections beside the first
}

// Stats returns a consistent view. It locks out recording for a moment.
func (c *Client) Stats() Stats {
	stats := Stats{Dropped: make(map[Reason]uint64, len(reasons))}
	if c == nil {
		return stats
	}
	var dropped drops
	for i := range c.shards {
		c.shards[i].mu.Lock()
	}
	c.queue.mu.Lock()
	for i := range c.shards {
		s := &c.shards[i]
		stats.Recorded += s.recorded
		dropped.add(&s.dropped)
		if s.active != nil {
			stats.Waiting += uint64(len(s.active.ends))
		}
	}
	q := &c.queue
	stats.Recorded += q.own
	dropped.add(&q.counted.dropped)
	for _, b := range q.full {
		stats.Waiting += uint64(len(b.ends))
	}
	stats.Waiting += uint64(q.inTaken)
	stats.Sent, stats.Bytes = q.counted.sent, q.counted.bytes
	stats.Flushes, stats.Reconnects = q.counted.flushes, q.counted.reconnects
	c.queue.mu.Unlock()
	for i := range c.shards {
		c.shards[i].mu.Unlock()
	}
	for i, reason := range reasons {
		stats.Dropped[reason] = dropped[i]
	}
	return stats
}

// Lost is the sum of Dropped.
func (s Stats) Lost() (n uint64) {
	for _, v := range s.Dropped {
		n += v
	}
	return n
}

// String returns it as one line for a log, such as "recorded 12, sent 10, dropped 2 (full 2), waiting 0, …".
func (s Stats) String() string {
	var list []string
	for _, reason := range reasons {
		if n := s.Dropped[reason]; n > 0 {
			list = append(list, fmt.Sprintf("%s %d", string(reason), n))
		}
	}
	why := ""
	if len(list) > 0 {
		why = " (" + strings.Join(list, ", ") + ")"
	}
	return fmt.Sprintf("recorded %d, sent %d, dropped %d%s, waiting %d, bytes %d, flushes %d, reconnects %d",
		s.Recorded, s.Sent, s.Lost(), why, s.Waiting, s.Bytes, s.Flushes, s.Reconnects)
}
