package jsonappend

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Keys are the rules for keys that strangers have chosen. The zero value only replaces bytes that are no UTF-8. The others apply in the
// order in which they stand here, and a key that is changed is counted.
type Keys struct {
	// Max is how many bytes of a key are written, see Cut; 0 is any number.
	Max int
	// Paths makes every key one that Elasticsearch and OpenSearch take for a path of fields: a dot at an end of the key or beside another
	// dot becomes an underscore, and so does every blank of a part that is nothing but blanks. An empty key becomes one underscore.
	Paths bool
	// Dot, when not 0, is the ASCII character that every dot becomes.
	Dot byte
	// Reserved are keys that the object has already, or must not have. An underscore is put before such a key, and another one for as long as
	// the result is reserved as well. It should be a short list: every key is compared with each.
	Reserved []string
}

// append writes the key as the rules will have it, without quotes and escapes.
func (k *Keys) append(dst []byte, key string, c *Counts) []byte {
	if k.Max > 0 {
		if cut := Cut(key, k.Max); len(cut) < len(key) {
			key = cut
			c.CutKeys++
		}
	}
	start := len(dst)
	dst = appendRepaired(dst, key)
	changed := false
	if k.Paths {
		dst, changed = mendPath(dst, start)
	}
	if k.Dot != 0 {
		for i := start; i < len(dst); i++ {
			if dst[i] == '.' {
				dst[i] = k.Dot
				changed = true
			}
		}
	}
	if changed {
		c.RewrittenKeys++
	}
	if k.reserves(string(dst[start:])) {
		c.ReservedKeys++
		for k.reserves(string(dst[start:])) {
			dst = slices.Insert(dst, start, '_')
		}
	}
	return dst
}

func (k *Keys) reserves(key string) bool {
	for _, r := range k.Reserved {
		if r == key {
			return true
		}
	}
	return false
}

func appendRepaired(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r) // a range gives U+FFFD for each bad byte
	}
	return dst
}

// mendPath applies the rule of Paths to dst[start:].
func mendPath(dst []byte, start int) (_ []byte, changed bool) {
	if start == len(dst) {
		return append(dst, '_'), true
	}
	out := start
	for i := start; i < len(dst); {
		if dst[i] == '.' {
			end := i + 1
			for end < len(dst) && dst[end] == '.' {
				end++
			}
			alone := i > start && end < len(dst) && end == i+1
			for ; i < end; i++ {
				if dst[out] = '.'; !alone {
					dst[out] = '_'
					changed = true
				}
				out++
			}
			continue
		}
		end, blank := i, true
		for end < len(dst) && dst[end] != '.' {
			r, size := utf8.DecodeRune(dst[end:])
			blank = blank && isBlank(r)
			end += size
		}
		if !blank {
			out += copy(dst[out:], dst[i:end])
			i = end
			continue
		}
		changed = true
		for i < end {
			_, size := utf8.DecodeRune(dst[i:])
			i += size
			dst[out] = '_'
			out++
		}
	}
	return dst[:out], changed
}

// isBlank is true for what Java, in which those servers are written, takes for white space, and for what Unicode does.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// isPath is true for a key of ASCII that the rule of Paths leaves alone.
func isPath(key string) bool {
	blank := true // since the last dot
	for i := range len(key) {
		c := key[i]
		if c == '.' {
			if blank {
				return false
			}
			blank = true
		} else if c > ' ' {
			blank = false
		}
	}
	return !blank
}
