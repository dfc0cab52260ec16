package metric

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// The magic tags: they say what to do with a sample and are never tags of its series. Each counts alone or with any value after a
// colon; a longer key that only starts so is an ordinary tag.
const (
	localOnlyTag  = "veneurlocalonly"
	globalOnlyTag = "veneurglobalonly"
	sinkOnlyTag   = "veneursinkonly"

	originPrefix    = "dd.internal."
	originEntity    = "dd.internal.entity_id"
	originCardinals = "dd.internal.card"
)

// TagSet is what the raw tags of a sample mean. Its zero value is ready; Parse may be called again and again and reuses what it
// holds. The strings are copies and may be kept; the slice is valid until the next Parse. Tags are pieces of one string, so that any
// of them keeps in memory what was written of all.
type TagSet struct {
	Tags     []string // sorted by bytes, unique, without magic and origin tags
	Scope    Scope    // what the magic tags ask for; Mixed when none stands there
	Conflict bool     // both scope tags stood there: Scope is Local
	SinkOnly string   // value of veneursinkonly, or ""

	EntityID    string // value of dd.internal.entity_id, or ""
	Cardinality string // value of dd.internal.card, or ""
}

// Parse reads raw tags of the given form. It reports false when a tag is not UTF-8, or when a run of TagsPairs is cut short; the
// TagSet is then not to be used.
func (t *TagSet) Parse(form TagForm, raw []byte) bool {
	*t = TagSet{Tags: t.Tags[:0]}
	if !utf8.Valid(raw) && form == TagsList {
		return false
	}
	if form == TagsPairs {
		return t.parsePairs(raw)
	}
	for item, rest := "", string(raw); rest != ""; {
		item, rest, _ = strings.Cut(rest, ",")
		if item != "" {
			t.add(item)
		}
	}
	t.sort()
	return true
}

func (t *TagSet) parsePairs(raw []byte) bool {
	var text strings.Builder
	text.Grow(len(raw)) // enough: two lengths of a pair are no shorter than its colon
	for len(raw) > 0 {
		key, rest, ok := cutPrefixed(raw)
		if !ok {
			return false
		}
		value, rest, ok := cutPrefixed(rest)
		if !ok || !utf8.Valid(key) || !utf8.Valid(value) {
			return false
		}
		start := text.Len()
		text.Write(key)
		text.WriteByte(':')
		text.Write(value)
		t.add(text.String()[start:])
		raw = rest
	}
	t.sort()
	return true
}

func cutPrefixed(raw []byte) (item, rest []byte, ok bool) {
	n, size := binary.Uvarint(raw)
	if size <= 0 || n > uint64(len(raw)-size) {
		return nil, nil, false
	}
	end := size + int(n)
	return raw[size:end], raw[end:], true
}

// CountTags returns how many tags stand in raw, magic, empty and repeated ones included: an upper bound of what Parse makes of them, at the
// cost of one look at the bytes.
func CountTags(form TagForm, raw []byte) (n int) {
	if len(raw) == 0 {
		return 0
	}
	if form == TagsList {
		return bytes.Count(raw, []byte{','}) + 1
	}
	for len(raw) > 0 {
		_, rest, ok := cutPrefixed(raw)
		if ok {
			_, rest, ok = cutPrefixed(rest)
		}
		if !ok {
			return n
		}
		raw = rest
		n++
	}
	return n
}

// AppendPair appends one pair in the form of TagsPairs.
func AppendPair(dst []byte, key, value string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(key)))
	dst = append(dst, key...)
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

func (t *TagSet) add(tag string) {
	// Ordinary tags far outnumber the magic ones, and all of these start with one of two letters.
	if tag[0] != 'v' && tag[0] != 'd' {
		t.Tags = append(t.Tags, tag)
		return
	}
	key, value, _ := strings.Cut(tag, ":")
	switch key {
	case localOnlyTag:
		t.Conflict = t.Conflict || t.Scope == Global
		t.Scope = Local
	case globalOnlyTag:
		if t.Scope == Local {
			t.Conflict = true
			return
		}
		t.Scope = Global
	case sinkOnlyTag:
		t.SinkOnly = strings.Clone(value)
	case originEntity:
		t.EntityID = strings.Clone(value)
	case originCardinals:
		t.Cardinality = strings.Clone(value)
	default:
		if !strings.HasPrefix(key, originPrefix) {
			t.Tags = append(t.Tags, tag)
		}
	}
}

func (t *TagSet) sort() {
	slices.Sort(t.Tags)
	t.Tags = slices.Compact(t.Tags)
}

// TagKey returns the key of a tag: what stands before its first colon, or all of it.
func TagKey(tag string) string {
	key, _, _ := strings.Cut(tag, ":")
	return key
}
