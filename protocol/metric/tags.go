package metric

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
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

// TagSet is what the raw tags of a sample mean. Its zero value is ready; Parse and ParseLent may be called again and again and reuse what it
// holds. The slice Tags is valid until the next call. After Parse its strings may be kept: they are pieces of one copy, so that any of them keeps in
// memory what was written of all. After ParseLent they are lent. The other strings are copies and may be kept.
type TagSet struct {
	Tags     []string // sorted by bytes, unique, without magic and origin tags
	Scope    Scope    // what the magic tags ask for; Mixed when none stands there
	Conflict bool     // both scope tags stood there: Scope is Local
	SinkOnly string   // value of veneursinkonly, or ""

	EntityID    string // value of dd.internal.entity_id, or ""
	Cardinality string // value of dd.internal.card, or ""

	text []byte // of pairs that are lent
}

// Parse reads raw tags of the given form. It reports false when a tag is not UTF-8, or when a run of TagsPairs is cut short; the
// TagSet is then not to be used.
func (t *TagSet) Parse(form TagForm, raw []byte) bool {
	t.reset()
	if form == TagsPairs {
		_, ok := t.parsePairs(raw, make([]byte, 0, len(raw)))
		return ok
	}
	return t.parseList(string(raw))
}

// ParseLent is Parse without a copy: the tags are pieces of raw, or of the TagSet's own memory, and valid until either is written to again. The other
// strings are copies here too.
func (t *TagSet) ParseLent(form TagForm, raw []byte) (ok bool) {
	t.reset()
	if form == TagsPairs {
		if cap(t.text) > maxLentText {
			t.text = nil
		}
		t.text, ok = t.parsePairs(raw, slices.Grow(t.text[:0], len(raw)))
		return ok
	}
	return t.parseList(unsafe.String(unsafe.SliceData(raw), len(raw)))
}

// maxLentText is how much memory a huge list of pairs may leave behind.
const maxLentText = 64 << 10

func (t *TagSet) reset() { *t = TagSet{Tags: t.Tags[:0], text: t.text} }

func (t *TagSet) parseList(rest string) bool {
	if !utf8.ValidString(rest) {
		return false
	}
	for item := ""; rest != ""; {
		item, rest, _ = strings.Cut(rest, ",")
		if item != "" {
			t.add(item)
		}
	}
	t.sort()
	return true
}

// parsePairs writes the pairs to text, of which the tags are pieces, and returns it. It has room for all: two lengths of a pair are no shorter than
// its colon.
func (t *TagSet) parsePairs(raw, text []byte) ([]byte, bool) {
	for len(raw) > 0 {
		key, rest, ok := cutPrefixed(raw)
		if !ok {
			return text, false
		}
		value, rest, ok := cutPrefixed(rest)
		if !ok || !utf8.Valid(key) || !utf8.Valid(value) {
			return text, false
		}
		start := len(text)
		text = append(text, key...)
		text = append(text, ':')
		text = append(text, value...)
		t.add(unsafe.String(&text[start], len(text)-start))
		raw = rest
	}
	t.sort()
	return text, true
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
