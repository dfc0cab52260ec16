package sinktest

import (
	"math"
	"slices"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// cloneBatch copies b and everything it points to but the digests, which cannot be changed through their interface.
func cloneBatch(b *sinks.Batch) *sinks.Batch {
	c := *b
	series := map[*metric.Series]*metric.Series{}
	copied := func(s *metric.Series) *metric.Series {
		if series[s] == nil {
			n := *s
			n.Tags = slices.Clone(s.Tags)
			series[s] = &n
		}
		return series[s]
	}
	c.Points = slices.Clone(b.Points)
	for i := range c.Points {
		c.Points[i].Series = copied(c.Points[i].Series)
	}
	c.Distributions = slices.Clone(b.Distributions)
	for i := range c.Distributions {
		c.Distributions[i].Series = copied(c.Distributions[i].Series)
	}
	c.Events = slices.Clone(b.Events)
	for i := range c.Events {
		c.Events[i].Tags = slices.Clone(c.Events[i].Tags)
	}
	c.Checks = slices.Clone(b.Checks)
	for i := range c.Checks {
		c.Checks[i].Tags = slices.Clone(c.Checks[i].Tags)
	}
	return &c
}

func cloneSpans(spans []*ssf.SSFSpan) []*ssf.SSFSpan {
	c := make([]*ssf.SSFSpan, len(spans))
	for i, span := range spans {
		s := *span
		s.Tags = slices.Clone(s.Tags)
		s.Metrics = slices.Clone(s.Metrics)
		for j := range s.Metrics {
			s.Metrics[j].Tags = slices.Clone(s.Metrics[j].Tags)
		}
		c[i] = &s
	}
	return c
}

const rubbish = "kept after Send returned"

// mangleBatch writes rubbish over everything of b that belongs to the lender. A series and its text do not: they may be kept.
func mangleBatch(b *sinks.Batch) {
	wrong := &metric.Series{Name: rubbish, Tags: []string{rubbish}}
	for i := range b.Points {
		b.Points[i] = metric.Point{Series: wrong, Name: rubbish, Value: math.NaN(), Time: -1}
	}
	for i := range b.Distributions {
		b.Distributions[i] = metric.DigestPoint{Series: wrong, Digest: NewDigest(math.NaN())}
	}
	for i := range b.Events {
		mangleTags(b.Events[i].Tags)
		b.Events[i] = metric.Event{Title: rubbish, Text: rubbish, Time: -1}
	}
	for i := range b.Checks {
		mangleTags(b.Checks[i].Tags)
		b.Checks[i] = metric.Check{Name: rubbish, Message: rubbish, Time: -1}
	}
	b.Interval = -1
}

func mangleSpans(spans []*ssf.SSFSpan) {
	for i, span := range spans {
		for j := range span.Tags {
			span.Tags[j] = ssf.Tag{Key: rubbish, Value: rubbish}
		}
		for j := range span.Metrics {
			span.Metrics[j] = ssf.SSFSample{Name: rubbish}
		}
		*span = ssf.SSFSpan{TraceId: -1, Name: rubbish, Service: rubbish}
		spans[i] = nil
	}
}

func mangleTags(tags []string) {
	for i := range tags {
		tags[i] = rubbish
	}
}
