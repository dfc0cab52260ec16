package delivery

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// chunk returns the items [from, to) of b in the order points, digests, events, checks. It shares b's arrays; appending to a field of
// the chunk does not reach them.
func chunk(b *sinks.Batch, from, to int) *sinks.Batch {
	c := &sinks.Batch{End: b.End, Interval: b.Interval, More: to < b.Len()}
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

// What the encoded forms hold beside names, tags and texts, measured on lines of JSON.
const (
	pointBytes  = 128
	digestBytes = 1024 // some fifty centroids; they are not counted, since walking a digest costs more than the estimate is worth
	eventBytes  = 192
	checkBytes  = 128
	tagBytes    = 3 // quotes and a comma
)

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
		p := &b.Points[i]
		c.add(pointBytes + len(p.Name) + tagsSize(p.Series.Tags))
	}
	for i := range b.Distributions {
		s := b.Distributions[i].Series
		c.add(digestBytes + len(s.Name) + tagsSize(s.Tags))
	}
	for i := range b.Events {
		c.add(eventSize(&b.Events[i]))
	}
	for i := range b.Checks {
		k := &b.Checks[i]
		c.add(checkBytes + len(k.Name) + len(k.Message) + len(k.Host) + tagsSize(k.Tags))
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

func eventSize(e *metric.Event) int {
	return eventBytes + len(e.Title) + len(e.Text) + len(e.Host) + len(e.AggregationKey) + len(e.SourceType) + tagsSize(e.Tags)
}

func tagsSize(tags []string) int {
	n := len(tags) * tagBytes
	for _, tag := range tags {
		n += len(tag)
	}
	return n
}
