package delivery

import (
	"math"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// Reason says why an item was filtered.
type Reason string

// The reasons.
const (
	NotFinite   Reason = "not_finite"  // its value is no number or infinite
	NameTooLong Reason = "name_length" // more bytes than max_name_length
	TagTooLong  Reason = "tag_length"  // a tag of more bytes than max_tag_length
	TooManyTags Reason = "tags"        // more tags than max_tags
)

var reasons = []Reason{NotFinite, NameTooLong, TagTooLong, TooManyTags}

// filter holds one sink's limits; 0 is none. An event has no name and a sender's own text, so events are not filtered.
type filter struct {
	nameLength, tagLength, tags int
}

// apply returns what of b the sink may see, calling drop for each item it may not. Nothing is copied unless something is dropped.
func (f *filter) apply(b *sinks.Batch, drop func(Reason)) *sinks.Batch {
	kept := *b
	kept.Points = keep(b.Points, drop, f.point)
	kept.Distributions = keep(b.Distributions, drop, f.digest)
	kept.Checks = keep(b.Checks, drop, f.check)
	return &kept
}

// keep returns the elements for which test finds no reason to drop them.
func keep[T any](all []T, drop func(Reason), test func(*T) Reason) []T {
	for i := range all {
		if test(&all[i]) == "" {
			continue
		}
		kept := append(make([]T, 0, len(all)-1), all[:i]...)
		for j := i; j < len(all); j++ {
			if reason := test(&all[j]); reason != "" {
				drop(reason)
			} else {
				kept = append(kept, all[j])
			}
		}
		return kept
	}
	return all
}

func (f *filter) point(p *metric.Point) Reason {
	if !finite(p.Value) {
		return NotFinite
	}
	return f.limit(p.Name, p.Series.Tags)
}

func (f *filter) digest(p *metric.DigestPoint) Reason {
	d := p.Digest
	if !finite(d.Count()) || !finite(d.Sum()) || !finite(d.Min()) || !finite(d.Max()) {
		return NotFinite
	}
	return f.limit(p.Series.Name, p.Series.Tags)
}

func (f *filter) check(c *metric.Check) Reason {
	return f.limit(c.Name, c.Tags)
}

func (f *filter) limit(name string, tags []string) Reason {
	if f.nameLength > 0 && len(name) > f.nameLength {
		return NameTooLong
	}
	if f.tags > 0 && len(tags) > f.tags {
		return TooManyTags
	}
	if f.tagLength > 0 {
		for _, tag := range tags {
			if len(tag) > f.tagLength {
				return TagTooLong
			}
		}
	}
	return ""
}

func finite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
