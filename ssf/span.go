package ssf

import (
	"math"
	"strings"
	"time"
)

// Duration is the time from start to end. It is never negative: of a span that ends before it starts it is 0, and reversed says
// so, for whoever counts such spans. What is longer than 292 years counts as that.
func (m *SSFSpan) Duration() (d time.Duration, reversed bool) {
	if m.EndTimestamp < m.StartTimestamp {
		return 0, true
	}
	if d = time.Duration(m.EndTimestamp - m.StartTimestamp); d < 0 {
		return math.MaxInt64, false
	}
	return d, false
}

// Clone gives a copy that shares nothing with the span and is the caller's for ever. It costs at most five allocations, whatever
// the number of samples and tags: all strings are pieces of one, all tags of one array.
func (m *SSFSpan) Clone() *SSFSpan {
	if m == nil {
		return nil
	}
	size, tags := len(m.Service)+len(m.Name)+tagsSize(m.Tags), len(m.Tags)
	for i := range m.Metrics {
		s := &m.Metrics[i]
		size += len(s.Name) + len(s.Message) + len(s.Unit) + tagsSize(s.Tags)
		tags += len(s.Tags)
	}
	c := cloner{tags: make([]Tag, 0, tags)}
	c.text.Grow(size)

	out := *m
	out.Service, out.Name = c.string(m.Service), c.string(m.Name)
	out.Tags = c.tagList(m.Tags)
	out.Metrics = make([]SSFSample, len(m.Metrics))
	for i := range m.Metrics {
		s := m.Metrics[i]
		s.Name, s.Message, s.Unit = c.string(s.Name), c.string(s.Message), c.string(s.Unit)
		s.Tags = c.tagList(s.Tags)
		out.Metrics[i] = s
	}
	return &out
}

func tagsSize(tags []Tag) (n int) {
	for i := range tags {
		n += len(tags[i].Key) + len(tags[i].Value)
	}
	return n
}

// cloner hands out pieces of a string and an array that were made large enough.
type cloner struct {
	text strings.Builder
	tags []Tag
}

func (c *cloner) string(s string) string {
	n := c.text.Len()
	c.text.WriteString(s)
	return c.text.String()[n:]
}

func (c *cloner) tagList(tags []Tag) []Tag {
	n := len(c.tags)
	for _, t := range tags {
		c.tags = append(c.tags, Tag{Key: c.string(t.Key), Value: c.string(t.Value)})
	}
	// Cut to its capacity: what is appended to one list must not run into the next.
	return c.tags[n:len(c.tags):len(c.tags)]
}
