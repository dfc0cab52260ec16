package delivery

import "github.com/veneurd/veneur/sinks"

// chunk returns the items [from, to) of b in the order points, digests, events, checks. It shares b's arrays; appending to a field of
// the chunk does not reach them.
func chunk(b *sinks.Batch, from, to int) *sinks.Batch {
	c := &sinks.Batch{End: b.End, Interval: b.Interval, More: b.More || to < b.Len(), Exemplars: b.Exemplars}
	c.Points = window(b.Points, &from, &to)
	c.Distributions = window(b.Distributions, &from, &to)
	c.Events = window(b.Events, &from, &to)
	c.Checks = window(b.Checks, &from, &to)
	return c
}

// window cuts [from, to) out of all, as far as it reaches, and moves both on to what comes after all.
func window[T any](all []T, from, to *int) []T {
	lo, hi := min(*from, len(all)), min(*to, len(all))
	*from, *to = max(0, *from-len(all)), max(0, *to-len(all))
	if lo == hi {
		return nil
	}
	return all[lo:hi:hi]
}

// cutter finds where the chunks of a batch end.
type cutter struct {
	maxItems, maxBytes int

	cuts         []int
	items, bytes int // of the whole
	from, filled int // where the open chunk begins, and its bytes
}

// cut returns the ends of b's chunks and the estimated size of b. No chunk is over the limits unless it is a single item.
func cut(b *sinks.Batch, maxItems, maxBytes int) (cuts []int, bytes int) {
	c := cutter{maxItems: maxItems, maxBytes: maxBytes}
	for i := range b.Points {
		c.add(pointSize(&b.Points[i]))
	}
	for i := range b.Distributions {
		c.add(digestSize(&b.Distributions[i]))
	}
	for i := range b.Events {
		c.add(eventSize(&b.Events[i]))
	}
	for i := range b.Checks {
		c.add(checkSize(&b.Checks[i]))
	}
	if c.items > 0 {
		c.cuts = append(c.cuts, c.items)
	}
	return c.cuts, c.bytes
}

func (c *cutter) add(size int) {
	n := c.items - c.from
	if n > 0 && (n == c.maxItems || c.filled+size > c.maxBytes) {
		c.cuts = append(c.cuts, c.items)
		c.from, c.filled = c.items, 0
	}
	c.items++
	c.bytes += size
	c.filled += size
}
