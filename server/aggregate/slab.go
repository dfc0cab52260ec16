package aggregate

import (
	"unsafe"

	"github.com/veneurd/veneur/protocol/metric"
)

// slab makes series out of large pieces of memory. Each by itself is three small ones, and those of a flood of a million left 17,000 of the runtime's
// records of spans behind, and their marks, which it never gives back.
//
// A series keeps the pieces that it is in, with those beside it; forgetIdleSeries bounds how many these are, and what is long has a piece of its
// own. The zero value is ready.
type slab struct {
	series []metric.Series
	tags   []string
	text   []byte
	name   string // of the series made last: the next one's is the same more often than not
}

// The lengths of pieces. Shorter ones are more spans, longer ones more that a series keeps.
const (
	slabSeries = 1 << 10   // 64 KiB
	slabTags   = 8 << 10   // 128 KiB
	slabText   = 128 << 10 // 128 KiB

	longTags = 64  // are no part of a piece, nor is
	longText = 512 // so long a text
)

// add makes the series of a sample that c has just read. It keeps nothing of either.
func (b *slab) add(s *metric.Sample, c *canon) *metric.Series {
	if string(s.Name) != b.name {
		b.name = b.copyText(unsafe.String(unsafe.SliceData(s.Name), len(s.Name)))
	}
	tags := b.copyTags(c.tags)
	for i, tag := range tags {
		if !c.rules.shares(tag) {
			tags[i] = b.copyText(tag)
		}
	}
	series := &extend(&b.series, 1, 1, slabSeries)[0]
	*series = metric.Series{Name: b.name, Tags: tags, Kind: s.Kind, Scope: c.scope, SinkOnly: c.sinkOnly}
	return series
}

func (b *slab) copyTags(tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	mine := extend(&b.tags, len(tags), longTags, slabTags)
	copy(mine, tags)
	return mine
}

func (b *slab) copyText(text string) string {
	mine := extend(&b.text, len(text), longText, slabText)
	copy(mine, text)
	return unsafe.String(unsafe.SliceData(mine), len(mine))
}

// extend returns n more of a piece, or of a new one of the given size when that has not enough left. More than most are a piece of their own.
func extend[T any](piece *[]T, n, most, size int) []T {
	if n > most {
		return make([]T, n)
	}
	if len(*piece)+n > cap(*piece) {
		*piece = make([]T, 0, size)
	}
	end := len(*piece) + n
	*piece = (*piece)[:end]
	return (*piece)[end-n : end : end]
}
