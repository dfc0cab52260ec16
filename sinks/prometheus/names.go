package prometheus

import (
	"strings"
	"unicode/utf8"
)

// metricName makes a name that every scraper takes: letters, digits and underscores. Every other character becomes one underscore, colons
// too, which Prometheus keeps for recording rules. Different names can become equal; see family.
func metricName(prefix, name string) string { return appendName([]byte(prefix), name) }

func appendName(dst []byte, name string) string {
	for _, r := range name {
		switch {
		case r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			dst = append(dst, byte(r))
		case '0' <= r && r <= '9':
			if len(dst) == 0 {
				dst = append(dst, '_')
			}
			dst = append(dst, byte(r))
		default:
			dst = append(dst, '_')
		}
	}
	if len(dst) == 0 {
		return "_"
	}
	return string(dst)
}

// labelName does the same for the key of a tag. What has a meaning of its own to Prometheus is moved out of the way, as Prometheus itself does with
// the labels that it adds.
func labelName(key string) string {
	name := appendName(nil, key)
	if name == "le" || name == "quantile" || strings.HasPrefix(name, "__") {
		return "exported_" + name
	}
	return name
}

// validText makes text that a scraper reads: bytes that are no UTF-8 become U+FFFD, and so does NUL, at which Prometheus stops reading and
// refuses the whole page.
func validText(s string) string {
	s = strings.ToValidUTF8(s, replacement)
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", replacement)
	}
	return s
}

const replacement = string(utf8.RuneError)
