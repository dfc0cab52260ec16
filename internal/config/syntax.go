package config

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var syntaxError = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// syntaxFault turns the parser's error into a fault with the line where an editor should look.
func syntaxFault(data []byte, err error) Fault {
	m := syntaxError.FindStringSubmatch(err.Error())
	if m == nil {
		return Fault{Message: err.Error()}
	}
	line, _ := strconv.Atoi(m[1])
	fault := Fault{Message: m[2]}
	switch {
	case strings.HasPrefix(m[2], "exceeded max depth"):
		fault.Message = "nested deeper than " + strconv.Itoa(maxDepth)
		return fault
	case strings.Contains(m[2], "expected ',' or"):
		// The parser means the line of the opening bracket, and counts from 0.
		line++
	case line == 0 || strings.HasPrefix(m[2], "did not find expected"):
		// The parser means the line where the block around the error begins, counted from 0, or none at all.
		line = firstFailingLine(data, m[2], line)
	}
	fault.Line = line
	if tab := tabbedLine(data, line, strings.Contains(m[2], "tab character")); tab > 0 {
		return Fault{Line: tab, Message: "a tab in the indentation: YAML takes spaces only"}
	}
	fault.Message += hints[m[2]]
	return fault
}

// hints say what usually is behind the parser's words.
var hints = map[string]string{
	"mapping values are not allowed in this context": ": wrong indentation, or a value with a colon that needs quotes",
	"did not find expected key":                      ": wrong indentation, or text behind a closing quote",
	"did not find expected '-' indicator":            ": wrong indentation, or a list that ends where it should not",
	"did not find expected ',' or ']'":               " for the list that begins here",
	"did not find expected ',' or '}'":               " for what begins here with {",
	"found unexpected end of stream":                 ": a quote that is not closed",
	"found character that cannot start any token":    ": put the value in quotes",
}

// tabbedLine returns the line if a tab is in its indentation, or the first such line after it when the parser complained of a tab; or 0.
func tabbedLine(data []byte, line int, search bool) int {
	for range line - 1 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	for ; len(data) > 0; line++ {
		indent := data[:len(data)-len(bytes.TrimLeft(data, " \t"))]
		if bytes.ContainsRune(indent, '\t') {
			return line
		}
		if !search {
			break
		}
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return 0
}

// firstFailingLine finds the line with which the document begins to fail in this way: the first n lines of it fail, n-1 do
// not. That takes some fifteen more parses, so of a large document the hint is returned as it is.
func firstFailingLine(data []byte, message string, hint int) int {
	const large = 256 << 10
	if len(data) > large {
		return max(hint, 1)
	}
	var ends []int // offsets after each line
	for i := 0; i < len(data); {
		end := bytes.IndexByte(data[i:], '\n')
		if end < 0 {
			end = len(data) - i - 1
		}
		i += end + 1
		ends = append(ends, i)
	}
	good, bad := 0, len(ends)
	for bad-good > 1 {
		middle := (good + bad) / 2
		var n yaml.Node
		err := yaml.Unmarshal(data[:ends[middle-1]], &n)
		if err != nil && strings.HasSuffix(err.Error(), message) {
			bad = middle
		} else {
			good = middle
		}
	}
	return max(bad, 1)
}
