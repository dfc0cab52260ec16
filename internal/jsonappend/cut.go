package jsonappend

import "unicode/utf8"

// Cut gives the longest beginning of s that takes no more than limit bytes once written, escapes not counted, and that does not end within a
// character. A byte that is no UTF-8 counts as the three of U+FFFD, so that the limit holds for what a reader gets.
func Cut(s string, limit int) string {
	if len(s) <= limit/len("\ufffd") {
		return s
	}
	end := 0
	for i := 0; i < len(s); {
		size, written := 1, 1
		if s[i] >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			written = utf8.RuneLen(r)
		}
		if end += written; end > limit {
			return s[:i]
		}
		i += size
	}
	return s
}
