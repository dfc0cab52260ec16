package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// AddEvent adds an event, which belongs to the table from then on, its tags included. extend_tags and tags_exclude apply to it. The
// lane's lock is held.
func (t *Table) AddEvent(e metric.Event) Outcome {
	e.Tags = t.in.rules.apply(e.Tags)
	if !t.in.reserve(eventBytes(&e)) {
		return RefusedEventLimit
	}
	t.gens[t.cur].events.push(e)
	return Applied
}

// AddCheck adds a service check under the same terms. Checks are not merged: each is delivered, those of a lane in the order they were
// added in.
func (t *Table) AddCheck(c metric.Check) Outcome {
	c.Tags = t.in.rules.apply(c.Tags)
	if !t.in.reserve(checkBytes(&c)) {
		return RefusedEventLimit
	}
	t.gens[t.cur].checks.push(c)
	return Applied
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

func eventBytes(e *metric.Event) int {
	return len(e.Title) + len(e.Text) + len(e.Host) + len(e.AggregationKey) + len(e.SourceType) + len(e.SinkOnly) + tagBytes(e.Tags)
}

func checkBytes(c *metric.Check) int {
	return len(c.Name) + len(c.Message) + len(c.Host) + len(c.SinkOnly) + tagBytes(c.Tags)
}

func tagBytes(tags []string) (n int) {
	for _, tag := range tags {
		n += len(tag)
	}
	return n
}
