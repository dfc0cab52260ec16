package config

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// appendBlock appends the entries of a mapping or sequence that has some, one a line.
func appendBlock(dst []byte, n *node, indent int) []byte {
	for i := range n.children {
		if i > 0 || !bytes.HasSuffix(dst, []byte("- ")) { // the first entry stands behind the dash of its element
			dst = append(dst, strings.Repeat(" ", indent)...)
		}
		dst = appendEntry(dst, n, i, indent)
	}
	return dst
}

func appendEntry(dst []byte, n *node, i, indent int) []byte {
	c := n.children[i]
	block := len(c.node.children) > 0
	if n.kind == sequence {
		dst = append(dst, "- "...)
		if block {
			return appendBlock(dst, c.node, indent+2)
		}
		return append(appendFlow(dst, c.node), '\n')
	}
	dst = append(appendKeyText(dst, c.key), ':')
	if block && !isFlat(c.node) {
		return appendBlock(append(dst, '\n'), c.node, indent+2)
	}
	return append(appendFlow(append(dst, ' '), c.node), '\n')
}

// isFlat says that a list of plain values is short enough for one line.
func isFlat(n *node) bool {
	const width = 80
	length := 0
	for _, c := range n.children {
		if c.node.kind != scalar {
			return false
		}
		length += len(c.node.text) + 2
	}
	return n.kind == sequence && length <= width
}

// appendFlow appends a value on one line.
func appendFlow(dst []byte, n *node) []byte {
	switch {
	case n == nil || n.kind == null:
		return append(dst, "null"...)
	case n.kind == scalar && n.quoted:
		return appendText(dst, n.text)
	case n.kind == scalar:
		return append(dst, n.text...)
	}
	brackets := "[]"
	if n.kind == mapping {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, c := range n.children {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if n.kind == mapping {
			dst = append(appendKeyText(dst, c.key), ": "...)
		}
		dst = appendFlow(dst, c.node)
	}
	return append(dst, brackets[1])
}

var (
	// plainText needs no quotes anywhere in YAML, unless it reads as something else.
	plainText   = regexp.MustCompile(`^[A-Za-z_/.…][A-Za-z0-9_/.@+…-]*$`)
	notJustText = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n|\.nan|\.inf|\.[0-9].*)$`)
)

// appendText appends a value so that it loads back as itself.
func appendText(dst []byte, text string) []byte {
	return appendKeyText(dst, strings.ReplaceAll(text, "${", "$${"))
}

// appendKeyText appends a key, in which no variables are replaced.
func appendKeyText(dst []byte, text string) []byte {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if plainText.MatchString(text) && !notJustText.MatchString(text) {
		return append(dst, text...)
	}
	return strconv.AppendQuote(dst, text)
}

func appendJSON(dst []byte, n *node) []byte {
	switch n.kind {
	case null:
		return append(dst, "null"...)
	case scalar:
		if json.Valid([]byte(n.text)) && !n.quoted {
			return append(dst, n.text...)
		}
		return appendJSONText(dst, n.text)
	}
	brackets := "[]"
	if n.kind == mapping {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, c := range n.children {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == mapping {
			dst = append(appendJSONText(dst, c.key), ':')
		}
		dst = appendJSON(dst, c.node)
	}
	return append(dst, brackets[1])
}

func appendJSONText(dst []byte, text string) []byte {
	b, _ := json.Marshal(text) // a string always has a JSON form
	return append(dst, b...)
}
