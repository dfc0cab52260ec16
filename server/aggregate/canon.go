package aggregate

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/veneurd/veneur/protocol/metric"
)

// canon reads what a key means: the series that all keys of equal meaning share. It belongs to one goroutine at a time.
type canon struct {
	rules   *tagRules
	seeds   *seeds
	set     metric.TagSet
	scratch []byte

	tags     []string // lent, as their strings are, until the next read or until the sample's memory is written to
	scope    metric.Scope
	sinkOnly string
	conflict bool // both scopes were asked for
}

// seeds are the keys of this process's hashes, so that nobody outside can aim at a slot.
type seeds struct {
	key          keyHash
	name, lo, hi maphash.Seed
}

func newSeeds() *seeds {
	return &seeds{newKeyHash(), maphash.MakeSeed(), maphash.MakeSeed(), maphash.MakeSeed()}
}

func (s *seeds) nameHash(name []byte) uint64 { return maphash.Bytes(s.name, name) }

// read reads a sample's key. It reports false when the name or a tag is not UTF-8.
func (c *canon) read(s *metric.Sample) bool {
	if cap(c.set.Tags) > maxScratchTags {
		c.set.Tags = nil
	}
	if !utf8.Valid(s.Name) || !c.set.ParseLent(s.Form, s.Tags) {
		return false
	}
	c.tags = c.rules.apply(c.set.Tags)
	c.set.Tags = c.tags // whichever array has grown is reused
	c.sinkOnly = c.set.SinkOnly
	c.scope, c.conflict = c.set.Scope, c.set.Conflict
	if s.Scope != metric.Mixed {
		if c.scope != metric.Mixed && c.scope != s.Scope {
			c.conflict = true
		}
		c.scope = s.Scope
	}
	if c.conflict {
		c.scope = metric.Local
	}
	if s.Kind == metric.Distribution && c.scope == metric.Mixed {
		c.scope = metric.Global
	}
	return true
}

// identity returns what identifies the series of the sample last read.
func (c *canon) identity(s *metric.Sample) identity {
	class := s.Kind.Class()
	b := append(c.scratch[:0], byte(class), byte(c.scope))
	b = appendCounted(b, c.sinkOnly)
	b = binary.AppendUvarint(b, uint64(len(s.Name)))
	b = append(b, s.Name...)
	for _, tag := range c.tags {
		b = appendCounted(b, tag)
	}
	c.scratch = b
	if cap(b) > maxScratch {
		c.scratch = nil
	}
	return identity{
		lo:    maphash.Bytes(c.seeds.lo, b),
		hi:    uint32(maphash.Bytes(c.seeds.hi, b)),
		class: class,
		scope: c.scope,
		name:  c.seeds.nameHash(s.Name),
		base:  c.seeds.base(s.Name),
	}
}

// The memory that a huge key may leave behind.
const (
	maxScratch     = 64 << 10
	maxScratchTags = 1 << 10
)

func appendCounted(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// base returns the hash of the name x when the given one is that of an aggregate of a histogram x, else 0.
func (s *seeds) base(name []byte) uint64 {
	dot := bytes.LastIndexByte(name, '.')
	if dot <= 0 || !isAggregate(name[dot+1:]) {
		return 0
	}
	return maphash.Bytes(s.name, name[:dot])
}

// isAggregate says whether a word can be the suffix of a histogram's point, by any configuration.
func isAggregate(word []byte) bool {
	switch string(word) {
	case "min", "max", "median", "avg", "count", "sum", "hmean":
		return true
	}
	digits := len(word) - len("percentile")
	if digits < 1 || string(word[digits:]) != "percentile" {
		return false
	}
	for _, c := range word[:digits] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// tagRules are what the configuration does to the tags of everything.
type tagRules struct {
	exclude map[string]bool // keys
	extend  []string        // sorted, unique
	replace map[string]bool // keys of extend
}

func newTagRules(c Config) *tagRules {
	r := &tagRules{exclude: map[string]bool{}, replace: map[string]bool{}}
	for _, entry := range c.TagsExclude {
		if !strings.Contains(entry, "|") {
			r.exclude[entry] = true
		}
	}
	for _, tag := range c.ExtendTags {
		if key := metric.TagKey(tag); !r.exclude[key] {
			r.extend = append(r.extend, tag)
			r.replace[key] = true
		}
	}
	slices.Sort(r.extend)
	r.extend = slices.Compact(r.extend)
	return r
}

// shares says whether a tag that apply returned is one of the configuration, whose text is there anyway.
func (r *tagRules) shares(tag string) bool {
	return len(r.replace) > 0 && r.replace[metric.TagKey(tag)]
}

// apply returns the tags, in the memory of those given where it is enough, sorted and unique like them.
func (r *tagRules) apply(tags []string) []string {
	if len(r.exclude) == 0 && len(r.extend) == 0 {
		return tags
	}
	tags = slices.DeleteFunc(tags, func(tag string) bool {
		key := metric.TagKey(tag)
		return r.exclude[key] || r.replace[key]
	})
	if len(r.extend) > 0 {
		tags = append(tags, r.extend...)
		slices.Sort(tags)
	}
	return tags
}
