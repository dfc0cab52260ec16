package jsondoc

import (
	"strings"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/ssf"
)

// AppendTags appends the tags as an object: keys by the rules, in the order of their bytes, each once. Without tags it is {}.
func (e *Encoder) AppendTags(dst []byte, tags []ssf.Tag) []byte {
	dst = append(dst, '{')
	dst = e.AppendTagMembers(dst, tags)
	return append(dst, '}')
}

// AppendTagMembers appends what AppendTags does, without the braces, to an object in which other fields may stand already; their keys
// must be reserved, or one may stand there twice.
func (e *Encoder) AppendTagMembers(dst []byte, tags []ssf.Tag) []byte {
	o := e.order(tags)
	for i := range o.Len() {
		dst = comma(dst)
		_, at := o.At(i)
		dst = o.AppendKey(dst, i)
		dst = e.Text(dst, tags[at].Value)
	}
	return dst
}

// Sorted gives the tags as AppendTags writes them: keys by the rules, in the order of their bytes, each once. Values are as they came: they
// are for Text to write. The list, and the text of its keys, are lent until the next call of the Encoder's that writes tags, a document or
// a tree.
func (e *Encoder) Sorted(tags []ssf.Tag) []ssf.Tag {
	if cap(e.tags) > maxKeptTags {
		e.tags = nil
	}
	o := e.order(tags)
	e.tags = e.tags[:0]
	for i := range o.Len() {
		key, at := o.At(i)
		e.tags = append(e.tags, ssf.Tag{Key: key, Value: tags[at].Value})
	}
	return e.tags
}

const maxKeptTags = 1 << 14

func (e *Encoder) order(tags []ssf.Tag) *jsonappend.Order {
	o := e.Order()
	for i := range tags {
		o.Add(tags[i].Key, i, &e.Keys, &e.Counts)
	}
	o.Sort(&e.Counts)
	return o
}

// AppendMetricTags appends the tags of a series, "key:value" or "key" alone, as an object. A key alone has an empty value; a key with several
// values has them in a list, in the order of the tags.
func (e *Encoder) AppendMetricTags(dst []byte, tags []string) []byte {
	dst = append(dst, '{')
	dst = e.AppendMetricTagMembers(dst, tags)
	return append(dst, '}')
}

// AppendMetricTagMembers appends what AppendMetricTags does, without the braces, to an object in which other fields may stand already;
// their keys must be reserved, or one may stand there twice.
func (e *Encoder) AppendMetricTagMembers(dst []byte, tags []string) []byte {
	o := e.Order()
	o.ResetAll()
	for i, tag := range tags {
		key, _, _ := strings.Cut(tag, ":")
		o.Add(key, i, &e.Keys, &e.Counts)
	}
	o.Sort(&e.Counts)
	for i := 0; i < o.Len(); {
		key, at := o.At(i)
		dst = comma(dst)
		dst = o.AppendKey(dst, i)
		open := len(dst)
		dst = e.Text(dst, valueOf(tags[at]))
		n := 1
		for i++; i < o.Len(); i++ {
			next, at := o.At(i)
			if next != key {
				break
			}
			if n == 1 {
				dst = append(dst, 0)
				copy(dst[open+1:], dst[open:])
				dst[open] = '['
			}
			n++
			dst = append(dst, ',')
			dst = e.Text(dst, valueOf(tags[at]))
		}
		if n > 1 {
			dst = append(dst, ']')
		}
	}
	return dst
}

func valueOf(tag string) string {
	_, value, _ := strings.Cut(tag, ":")
	return value
}

// comma separates a member from what stands before it in its object.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// AppendTraceID appends a trace's id as a string of 32 hexadecimal digits: SSF's 64 bits with zeros before them.
func AppendTraceID(dst []byte, id int64) []byte { return jsonappend.ID32(dst, 0, uint64(id)) }

// AppendSpanID appends a span's id as a string of 16 hexadecimal digits.
func AppendSpanID(dst []byte, id int64) []byte { return jsonappend.ID16(dst, uint64(id)) }
