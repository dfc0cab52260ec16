package dogstatsd

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// What cannot stand in a text of a message besides bytes that are not UTF-8.
const (
	controlsButNewline = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0b\x0c\x0d\x0e\x0f" +
		"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"
	controls = controlsButNewline + "\n"
)

// AppendCleanName appends a metric name given by a stranger so that it stays a name: colons, pipes, control bytes and what is not
// UTF-8 become underscores, and so does the brace by which it would begin an event. An empty name stays empty, and makes no message.
func AppendCleanName(dst []byte, name string) []byte {
	start := len(dst)
	dst = appendClean(dst, name, controls+"|:")
	if bytes.HasPrefix(dst[start:], eventPrefix) {
		dst[start+len(eventPrefix)-1] = '_'
	}
	return dst
}

// AppendCleanTags appends tags given by a stranger as a list in which each stays the one tag it was: commas, pipes, control bytes and
// what is not UTF-8 become underscores. Empty tags are left out.
func AppendCleanTags(dst []byte, tags ...string) []byte {
	start := len(dst)
	for _, tag := range tags {
		if tag == "" {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = appendClean(dst, tag, controls+"|,")
	}
	return dst
}

// AppendCleanText appends a text given by a stranger so that it stays inside its field, on one line: pipes, control bytes and what is
// not UTF-8 become underscores. It serves members of sets, names of checks, hosts, aggregation keys and source types.
func AppendCleanText(dst []byte, text string) []byte {
	return appendClean(dst, text, controls+"|")
}

// AppendCleanMessage does for the message of a check what [AppendCleanText] does, and keeps its newlines for AppendCheck to escape.
func AppendCleanMessage(dst []byte, text string) []byte {
	return appendClean(dst, text, controlsButNewline+"|")
}

// AppendCleanEventText appends a title or text of an event given by a stranger. Their lengths are announced, so that only what is not
// UTF-8 must go.
func AppendCleanEventText(dst []byte, text string) []byte {
	return appendClean(dst, text, "")
}

func appendClean(dst []byte, s, bad string) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 || size == 1 && strings.IndexByte(bad, s[0]) >= 0 {
			dst = append(dst, '_')
		} else {
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}
