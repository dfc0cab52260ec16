package prometheus

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"
)

// endOfLabel ends each label of a series' labels, which are one text: name:value, ordered by name. It occurs in no valid text, and
// no name has a colon. One string instead of a list of pairs is a fifth of the memory, and compares at once.
const endOfLabel = 0xff

// bareValue is the value of a label made of a tag without one. An empty value would be the same as no label.
const bareValue = "true"

// appendLabels appends the labels that are made of tags. Values of one name, from one key that stands twice or from keys that became equal,
// are joined by commas in the order of the tags. An empty value is no label: Prometheus cannot tell the two apart, and would find a series
// twice.
func appendLabels(dst []byte, tags []string) []byte {
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
	var joined []string
	for i := 0; i < len(pairs); {
		name := pairs[i].name
		joined = joined[:0]
		for ; i < len(pairs) && pairs[i].name == name; i++ {
			joined = append(joined, pairs[i].value)
		}
		if value := strings.Join(joined, ","); value != "" {
			dst = append(append(append(append(dst, name...), ':'), value...), endOfLabel)
		}
	}
	return dst
}

// areLabels says whether tags are, as they stand, what appendLabels makes of them.
func areLabels(tags []string) bool {
	before := ""
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, ":")
		if value == "" || key <= before || !isLabelName(key) || !utf8.ValidString(value) || strings.IndexByte(value, 0) >= 0 {
			return false
		}
		before = key
	}
	return true
}

// isLabelName says whether labelName changes nothing.
func isLabelName(key string) bool {
	for i := range len(key) {
		c := key[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9' || i == 0) {
			return false
		}
	}
	return key != "" && key != "le" && key != "quantile" && !strings.HasPrefix(key, "__")
}

// eachLabel ranges over names and values.
func eachLabel(labels string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for labels != "" {
			end := strings.IndexByte(labels, endOfLabel)
			name, value, _ := strings.Cut(labels[:end], ":")
			if !yield(name, value) {
				return
			}
			labels = labels[end+1:]
		}
	}
}

// countLabels returns how many there are.
func countLabels(labels string) int { return strings.Count(labels, string([]byte{endOfLabel})) }
