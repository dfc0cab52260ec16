package jsonappend

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
	"unsafe"
)

// String appends s as a JSON string. Escaped are the quote, the backslash and the control characters below the blank; bytes that are no
// UTF-8 become U+FFFD. It costs about a nanosecond for eight bytes.
//
// Whole words are looked at and stored at once, the last of them over the one before it: a call to copy each of the short texts that
// documents are made of would take longer than the copying.
func String(dst []byte, s string) []byte {
	n := len(dst)
	dst = reserve(dst, len(s)+2+wordSize)
	b := dst[n:cap(dst)]
	b[0] = '"'
	b = b[1:]
	if len(s) < wordSize {
		w := shortWord(s)
		// What stands past the end is 0, and would look like a control character.
		if unusual(w|shortFill[len(s)&7]) != 0 {
			return appendEscaped(dst[:n+1], s, 0, 0)
		}
		binary.LittleEndian.PutUint64(b, w)
		b[len(s)] = '"'
		return dst[:n+len(s)+2]
	}
	src := unsafe.Slice(unsafe.StringData(s), len(s))
	last := len(src) - wordSize
	for i := 0; i < last; i += wordSize {
		w := binary.LittleEndian.Uint64(src[i:])
		if unusual(w) != 0 {
			return appendEscaped(dst[:n+1+i], s, i, 0)
		}
		binary.LittleEndian.PutUint64(b[i:], w)
	}
	w := binary.LittleEndian.Uint64(src[last:])
	if unusual(w) != 0 {
		return appendEscaped(dst[:n+1+last&^(wordSize-1)], s, last&^(wordSize-1), 0)
	}
	binary.LittleEndian.PutUint64(b[last:], w)
	b[len(s)] = '"'
	return dst[:n+len(s)+2]
}

// reserve makes room for n more bytes.
func reserve(dst []byte, n int) []byte {
	if cap(dst)-len(dst) < n {
		return slices.Grow(dst, n)
	}
	return dst
}

// copyText copies s to b, which has room for one word more, and gives its length.
func copyText(b []byte, s string) int {
	if len(s) < wordSize {
		binary.LittleEndian.PutUint64(b, shortWord(s))
		return len(s)
	}
	src := unsafe.Slice(unsafe.StringData(s), len(s))
	last := len(src) - wordSize
	for i := 0; i < last; i += wordSize {
		binary.LittleEndian.PutUint64(b[i:], binary.LittleEndian.Uint64(src[i:]))
	}
	binary.LittleEndian.PutUint64(b[last:], binary.LittleEndian.Uint64(src[last:]))
	return len(s)
}

// Strings appends list as an array; nil is [].
func Strings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = String(dst, s)
	}
	return append(dst, ']')
}

// wordSize is how many bytes are looked at, and copied, at once.
const wordSize = 8

const (
	everyByte = 0x0101010101010101
	topBits   = 0x80 * everyByte
)

// unusual is not 0 if a byte of the word must not be copied as it is: one of a control character, a quote, a backslash, or one that is not
// ASCII. Which one it is cannot be told from the bits: a subtraction borrows from the byte after a hit.
func unusual(w uint64) uint64 {
	return (w | (w - ' '*everyByte) | ((w ^ '"'*everyByte) - everyByte) | ((w ^ '\\'*everyByte) - everyByte)) & topBits
}

// word reads the eight bytes of s at i.
func word(s string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}

// shortFill has blanks where a text of that length has no byte in its word.
var shortFill = [wordSize]uint64{
	0x2020202020202020, 0x2020202020202000, 0x2020202020200000, 0x2020202020000000,
	0x2020202000000000, 0x2020200000000000, 0x2020000000000000, 0x2000000000000000,
}

// shortWord gives the bytes of a text shorter than a word, the first one lowest, and zeros past its end.
func shortWord(s string) uint64 {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	switch n := len(b); {
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(uint(n-4)*8)
	case n >= 2:
		return uint64(binary.LittleEndian.Uint16(b)) | uint64(binary.LittleEndian.Uint16(b[n-2:]))<<(uint(n-2)*8)
	case n == 1:
		return uint64(b[0])
	}
	return 0
}

// Escapes says what is escaped beside that which must be.
type Escapes uint8

const (
	// EscapeHTML escapes <, > and &, so that the text may stand in a page.
	EscapeHTML Escapes = 1 << iota
	// EscapeSeparators escapes U+2028 and U+2029, which JavaScript and some that cut lines take for ends of lines.
	EscapeSeparators
	// EscapeDelete escapes 0x7f, which some terminals obey.
	EscapeDelete
)

// EscapeAsStdlib escapes what encoding/json does. Bytes that are no UTF-8 become U+FFFD itself all the same.
const EscapeAsStdlib = EscapeHTML | EscapeSeparators

// StringEscaped is String with more escapes.
func StringEscaped(dst []byte, s string, e Escapes) []byte {
	if e&EscapeHTML == 0 && (e == 0 || isPlain(s)) {
		return String(dst, s)
	}
	return appendEscaped(append(dst, '"'), s, 0, e)
}

// isPlain says whether a text has ASCII characters only, and no 0x7f.
func isPlain(s string) bool {
	if len(s) < wordSize {
		return isPlainWord(shortWord(s))
	}
	last := len(s) - wordSize
	for i := 0; i < last; i += wordSize {
		if !isPlainWord(word(s, i)) {
			return false
		}
	}
	return isPlainWord(word(s, last))
}

func isPlainWord(w uint64) bool { return (w|(w+everyByte))&topBits == 0 }

const hexDigits = "0123456789abcdef"

// appendEscaped appends s[start:], of which nothing is known, and the closing quote.
func appendEscaped(dst []byte, s string, start int, e Escapes) []byte {
	for i := start; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if asciiEscapes[c] == 0 || asciiEscapes[c]&uint8(e|always) == 0 {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
			start = i + size
		case e&EscapeSeparators != 0 && (r == '\u2028' || r == '\u2029'):
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
	}
}

// always is the bit of what must be escaped.
const always Escapes = 1 << 7

// asciiEscapes says by which of the Escapes each byte is escaped.
var asciiEscapes = func() (t [utf8.RuneSelf]uint8) {
	for c := range byte(' ') {
		t[c] = uint8(always)
	}
	t['"'], t['\\'] = uint8(always), uint8(always)
	t['<'], t['>'], t['&'] = uint8(EscapeHTML), uint8(EscapeHTML), uint8(EscapeHTML)
	t[0x7f] = uint8(EscapeDelete)
	return t
}()
