package delivery

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

func TestFilterPoints(t *testing.T) {
	f := filter{nameLength: 5, tagLength: 4, tags: 2}
	tests := []struct {
		name, point string
		tags        []string
		value       float64
		want        Reason
	}{
		{"at every limit", "12345", []string{"a:12", "b:12"}, 1, ""},
		{"name", "123456", nil, 1, NameTooLong},
		{"bytes, not letters", "größe", nil, 1, NameTooLong},
		{"tag", "x", []string{"a", "b:123"}, 1, TagTooLong},
		{"tags", "x", []string{"a", "b", "c"}, 1, TooManyTags},
		{"B093 no number", "x", nil, math.NaN(), NotFinite},
		{"B093 infinite", "x", nil, math.Inf(1), NotFinite},
		{"B093 infinite below", "x", nil, math.Inf(-1), NotFinite},
		{"largest", "x", nil, math.MaxFloat64, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := metric.Point{Series: &metric.Series{Tags: tt.tags}, Name: tt.point, Value: tt.value}
			assert.Equal(t, tt.want, f.point(&p))
		})
	}
}

func TestFilterWithoutLimits(t *testing.T) {
	var f filter
	tags := make([]string, 1000)
	for i := range tags {
		tags[i] = strings.Repeat("t", 10_000)
	}
	assert.Empty(t, f.limit(strings.Repeat("n", 10_000), tags))
}

func TestB093OneBadPointLosesNothingElse(t *testing.T) {
	point := func(name string, v float64) metric.Point {
		return metric.Point{Series: &metric.Series{Name: name}, Name: name, Value: v}
	}
	b := &sinks.Batch{
		Points: []metric.Point{point("a", 1), point("bad", math.NaN()), point("b", 2), point("worse", math.Inf(1)), point("c", 3)},
		Events: []metric.Event{{Title: strings.Repeat("events have no name", 10)}},
		Checks: []metric.Check{{Name: "long name"}, {Name: "ok"}},
	}
	before := *b
	dropped := map[Reason]int{}
	f := filter{nameLength: 5}
	got := f.apply(b, func(r Reason) { dropped[r]++ })
	assert.Equal(t, []metric.Point{b.Points[0], b.Points[2], b.Points[4]}, got.Points)
	assert.Equal(t, b.Checks[1:], got.Checks)
	assert.Equal(t, b.Events, got.Events)
	assert.Equal(t, map[Reason]int{NotFinite: 2, NameTooLong: 1}, dropped)
	require.Len(t, b.Points, len(before.Points))
	assert.True(t, math.IsNaN(b.Points[1].Value), "the shared batch is as it was")
}

// badDigest is a digest with a sum that overflowed.
type badDigest struct{ metric.Digest }

func (badDigest) Count() float64 { return 2 }
func (badDigest) Sum() float64   { return math.Inf(1) }
func (badDigest) Min() float64   { return 1 }
func (badDigest) Max() float64   { return 1e308 }

func TestB093DigestWithAnInfiniteSum(t *testing.T) {
	var f filter
	d := metric.DigestPoint{Series: &metric.Series{Name: "h"}, Digest: badDigest{}}
	assert.Equal(t, NotFinite, f.digest(&d))
}

func TestFilterThatDropsNothingCopiesNothing(t *testing.T) {
	b := &sinks.Batch{Points: make([]metric.Point, 100)}
	for i := range b.Points {
		b.Points[i].Series = &metric.Series{}
	}
	f := filter{nameLength: 10, tagLength: 10, tags: 10}
	got := f.apply(b, func(Reason) { t.Error("dropped") })
	assert.Same(t, &b.Points[0], &got.Points[0])
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { f.apply(b, nil) }), 4.0, "the copy of the batch, not of its points")
}

func TestChunkIsClipped(t *testing.T) {
	b := &sinks.Batch{Points: make([]metric.Point, 10), Events: make([]metric.Event, 4), Checks: make([]metric.Check, 2)}
	tests := []struct{ from, to, points, events, checks int }{
		{0, 16, 10, 4, 2}, {0, 10, 10, 0, 0}, {3, 5, 2, 0, 0}, {9, 11, 1, 1, 0}, {10, 14, 0, 4, 0}, {13, 16, 0, 1, 2}, {15, 16, 0, 0, 1},
	}
	for _, tt := range tests {
		c := chunk(b, tt.from, tt.to)
		assert.Len(t, c.Points, tt.points)
		assert.Len(t, c.Events, tt.events)
		assert.Len(t, c.Checks, tt.checks)
		assert.Equal(t, len(c.Points), cap(c.Points), "an append must not reach the shared array")
	}
}
