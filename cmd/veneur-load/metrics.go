package main

import (
	"fmt"
	"strconv"
	"strings"
)

// metrics is a page in the Prometheus text format.
type metrics []reading

// reading is a line of it.
type reading struct {
	name   string
	labels map[string]string
	value  float64
}

// parseMetrics reads a page. Times that stand behind values are passed over.
func parseMetrics(page string) (metrics, error) {
	var m metrics
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		r, err := parseReading(line)
		if err != nil {
			return nil, fmt.Errorf("line %.80q of the daemon's metrics: %w", line, err)
		}
		m = append(m, r)
	}
	return m, nil
}

func parseReading(line string) (r reading, err error) {
	end := strings.IndexAny(line, "{ ")
	if end < 1 {
		return r, strconv.ErrSyntax
	}
	r.name = line[:end]
	rest := line[end:]
	if rest[0] == '{' {
		if r.labels, rest, err = parseLabels(rest[1:]); err != nil {
			return r, err
		}
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	r.value, err = strconv.ParseFloat(value, 64)
	return r, err
}

// parseLabels reads up to the closing brace and returns what follows it.
func parseLabels(s string) (labels map[string]string, rest string, err error) {
	labels = map[string]string{}
	for {
		s = strings.TrimLeft(s, " ,")
		if after, done := strings.CutPrefix(s, "}"); done {
			return labels, after, nil
		}
		key, after, found := strings.Cut(s, `="`)
		if !found {
			return nil, "", strconv.ErrSyntax
		}
		value, after, found := unquote(after)
		if !found {
			return nil, "", strconv.ErrSyntax
		}
		labels[key], s = value, after
	}
}

// unquote reads up to the closing quote and returns what follows it.
func unquote(s string) (value, rest string, found bool) {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return out.String(), s[i+1:], true
		case c == '\\' && i+1 < len(s):
			i++
			if c = s[i]; c == 'n' {
				c = '\n'
			}
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	return "", "", false
}

// sum adds up all readings of a name that have these labels, given as key, value, key, value.
func (m metrics) sum(name string, labels ...string) float64 {
	total := 0.0
	for _, r := range m {
		if r.name == name && r.has(labels) {
			total += r.value
		}
	}
	return total
}

func (r *reading) has(labels []string) bool {
	for i := 0; i+1 < len(labels); i += 2 {
		if r.labels[labels[i]] != labels[i+1] {
			return false
		}
	}
	return true
}

// label returns a label of the first reading of a name, "" without one.
func (m metrics) label(name, key string) string {
	for _, r := range m {
		if r.name == name {
			return r.labels[key]
		}
	}
	return ""
}
