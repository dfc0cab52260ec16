package aggregate

import (
	"cmp"
	"slices"
	"strings"
	"unsafe"

	"github.com/veneurd/veneur/protocol/metric"
)

// stamped is an event or a check with the time it was received: that is the order in which those of all lanes are delivered.
type stamped[T any] struct {
	item  T
	stamp int64
}

// AddEvent adds an event, which belongs to the table from then on, its tags included. extend_tags and tags_exclude apply to it. stamp is as
// for Add. The lane's lock is held.
func (t *Table) AddEvent(e metric.Event, stamp int64) Outcome {
	e.Tags = packed(t.in.rules.apply(e.Tags))
	if !t.in.reserve(eventBytes(&e)) {
		return RefusedEventLimit
	}
	t.gens[t.cur].events.Push(stamped[metric.Event]{e, stamp})
	return Applied
}

// AddCheck adds a service check under the same terms. Checks are not merged: each is delivered, in the order in which they were received.
func (t *Table) AddCheck(c metric.Check, stamp int64) Outcome {
	c.Tags = packed(t.in.rules.apply(c.Tags))
	if !t.in.reserve(checkBytes(&c)) {
		return RefusedEventLimit
	}
	t.gens[t.cur].checks.Push(stamped[metric.Check]{c, stamp})
	return Applied
}

// packed makes the tags, in their own memory, pieces of one string that has nothing else: one that they were cut from may be longer, by
// tags that were repeated or excluded, than what reserve counts.
func packed(tags []string) []string {
	text := strings.Join(tags, "")
	for i, tag := range tags {
		tags[i], text = text[:len(tag)], text[len(tag):]
	}
	return tags
}

// inOrder returns the items by stamp; those of one receive call stay as they came. It empties its argument.
func inOrder[T any](all *List[stamped[T]]) (items List[T]) {
	order := make([]int32, all.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(all.At(int(a)).stamp, all.At(int(b)).stamp) })
	for _, i := range order {
		items.Push(all.At(int(i)).item)
	}
	*all = List[stamped[T]]{}
	return items
}

// reserve takes room for one event or check, if there is any.
func (in *Interner) reserve(size int) bool {
	items, total := in.eventItems.Add(1), in.eventBytes.Add(int64(size))
	if items > int64(in.config.MaxEvents) || total > int64(in.config.MaxEventBytes) {
		in.unreserve(size)
		return false
	}
	return true
}

func (in *Interner) unreserve(size int) {
	in.eventItems.Add(-1)
	in.eventBytes.Add(-int64(size))
}

// What an event or a check takes beside its texts: many short tags are mostly headers.
const (
	eventSize = int(unsafe.Sizeof(stamped[metric.Event]{}))
	checkSize = int(unsafe.Sizeof(stamped[metric.Check]{}))
	tagSize   = int(unsafe.Sizeof(""))
)

func eventBytes(e *metric.Event) int {
	return eventSize + len(e.Title) + len(e.Text) + len(e.Host) + len(e.AggregationKey) + len(e.SourceType) + len(e.SinkOnly) + tagBytes(e.Tags)
}

func checkBytes(c *metric.Check) int {
	return checkSize + len(c.Name) + len(c.Message) + len(c.Host) + len(c.SinkOnly) + tagBytes(c.Tags)
}

func tagBytes(tags []string) (n int) {
	for _, tag := range tags {
		n += tagSize + len(tag)
	}
	return n
}
