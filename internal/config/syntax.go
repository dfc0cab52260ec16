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
	text := lineOf(data, line)
	if indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]; bytes.ContainsRune(indent, '\t') {
		fault.Message = "a tab in the indentation: YAML takes spaces only"
	}
	return fault
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

func lineOf(data []byte, line int) []byte {
	for ; line > 1; line-- {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	text, _, _ := bytes.Cut(data, []byte("\n"))
	return text
}
