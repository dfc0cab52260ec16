package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// entry is one key of a table: 64 bytes, a cache line, without pointers.
//
// The fields that come in twos are one a generation. The table writes those of its present generation, the collector reads the others; an
// entry's identity does not change while a generation that lists it waits to be collected.
type entry struct {
	hash uint64
	// words are the values so far, of one generation each:
	//	counter    the sum and what rounding took off it, as float64 bits
	//	gauge      the value as float64 bits; the stamp, shifted left, and gaugeRelative
	//	histogram  the index of the digest; how many values it got
	//	set        the index of the sketch; how many members it got
	//	alias      words[0] are the number and the hash of the series' own entry
	words [2][2]uint64
	// epochs say to which interval words belong: see Table.epoch.
	epochs  [2]uint32
	id      uint32 // of the series; 0 when the entry is free
	key     uint32 // of the texts: name and tags as they came
	tagsLen uint32
	nameLen uint16
	meta    meta
}

// meta is a key's identity beside its bytes, and what the entry is.
type meta uint16

const (
	formShift  = 3
	scopeShift = 4

	metaKind  meta = 1<<formShift - 1
	metaKey   meta = 1<<6 - 1 // kind, form, scope
	metaAlias meta = 1 << 6   // another entry has the values
	metaOver  meta = 1 << 7   // the key's own series was kept out by a limit; id is an overflow series
)

// metaOf returns the part of a sample's identity that is not in its name and tags. Delta is none: a gauge is set and changed in one place.
func metaOf(s *metric.Sample) meta {
	return meta(s.Kind) | meta(s.Form)<<formShift | meta(s.Scope)<<scopeShift
}

func (m meta) kind() metric.Kind { return metric.Kind(m & metaKind) }

func (m meta) form() metric.TagForm { return metric.TagForm(m >> formShift & 1) }

// sample returns the key as the sample it came with, pointing into pages.
func (e *entry) sample(pages [][]byte) metric.Sample {
	text := textAt(pages, e.key, int(e.nameLen)+int(e.tagsLen))
	return metric.Sample{
		Kind:  e.meta.kind(),
		Form:  e.meta.form(),
		Scope: metric.Scope(e.meta >> scopeShift & 3),
		Name:  text[:e.nameLen:e.nameLen],
		Tags:  text[e.nameLen:],
	}
}

// last returns the latest epoch in which the entry was used.
func (e *entry) last() uint32 { return max(e.epochs[0], e.epochs[1]) }
