package prometheus

import (
	"slices"
	"strings"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
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

// bareValue is the value of a label made of a tag without one. An empty value would be the same as no label.
const bareValue = "true"

// labels makes labels of tags, ordered by name. Values of one name, from one key that stands twice or from keys that became equal, are joined by
// commas in the order of the tags. An empty value is no label: Prometheus cannot tell the two apart, and would find a series twice.
func labels(tags []string) []*dto.LabelPair {
	if len(tags) == 0 {
		return nil
	}
	type pair struct{ name, value string }
	pairs := make([]pair, len(tags))
	for i, tag := range tags {
		key, value, found := strings.Cut(tag, ":")
		if !found {
			value = bareValue
		}
		pairs[i] = pair{labelName(key), validText(value)}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	out := make([]*dto.LabelPair, 0, len(pairs))
	var joined []string
	for i := 0; i < len(pairs); {
		name := pairs[i].name
		joined = joined[:0]
		for ; i < len(pairs) && pairs[i].name == name; i++ {
			joined = append(joined, pairs[i].value)
		}
		if value := strings.Join(joined, ","); value != "" {
			out = append(out, &dto.LabelPair{Name: &name, Value: &value})
		}
	}
	return out
}

// appendLabelsKey appends what tells labels from others, in their order. The separator occurs in no valid text.
func appendLabelsKey(dst []byte, labels []*dto.LabelPair) []byte {
	for _, l := range labels {
		dst = append(dst, *l.Name...)
		dst = append(dst, 0xff)
		dst = append(dst, *l.Value...)
		dst = append(dst, 0xff)
	}
	return dst
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
