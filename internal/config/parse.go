package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the largest configuration file, in bytes. Parsing takes up to about a hundred times as much memory for a moment.
const MaxSize = 1 << 20

const (
	maxDepth  = 100
	maxFaults = 100
	maxAlias  = 10_000 // values that all aliases together may add
	maxKey    = 200    // bytes
)

// Parse parses one YAML document of keys and values. The error is Faults: a syntax error, or every duplicate key and every
// thing that a configuration has no use for (a second document, tags of one's own, aliases that multiply), with lines. An empty file is a
// fault too, since whoever names one expects it to say something.
func Parse(name string, data []byte) (*Document, error) {
	root, faults := parseTree(data)
	if len(faults) > 0 {
		return nil, faults
	}
	if root.kind == null {
		if len(bytes.TrimSpace(data)) == 0 {
			return nil, Faults{{Line: 1, Column: 1, Message: "the file is empty"}}
		}
		return nil, Faults{{Line: 1, Column: 1, Message: "the file sets nothing: it has comments only"}}
	}
	if root.kind != mapping {
		return nil, Faults{{Line: 1, Column: 1, Message: "expected keys and values (key: value), found " + root.kind.String()}}
	}
	return &Document{Name: name, root: root}, nil
}

// parseTree parses text as YAML of any kind. Without faults the node is not nil.
func parseTree(data []byte) (root *node, faults Faults) {
	// The parser is known not to panic, but a configuration must never stop a process that could say why.
	defer func() {
		if r := recover(); r != nil {
			root, faults = nil, Faults{{Message: fmt.Sprintf("the YAML parser cannot read this: %.200v", r)}}
		}
	}()
	if len(data) > MaxSize {
		return nil, Faults{{Message: fmt.Sprintf("larger than %d bytes", MaxSize)}}
	}
	if line, column, ok := unprintable(data); ok {
		return nil, Faults{{Line: line, Column: column, Message: "a byte that is no UTF-8 text, or a control character"}}
	}
	var first, second yaml.Node
	parser := yaml.NewDecoder(bytes.NewReader(data))
	err := parser.Decode(&first)
	if errors.Is(err, io.EOF) {
		return &node{}, nil
	}
	if err == nil {
		if err = parser.Decode(&second); err == nil {
			return nil, Faults{{Line: second.Line, Column: second.Column, Message: "a second document: only one is read"}}
		}
		if errors.Is(err, io.EOF) {
			c := converter{nodes: map[*yaml.Node]*node{}}
			return c.convert(first.Content[0], 0), c.faults
		}
	}
	return nil, Faults{syntaxFault(data, err)}
}

// unprintable finds the first byte that YAML does not allow in a file. A byte order mark at the start is allowed.
func unprintable(data []byte) (line, column int, found bool) {
	line, column = 1, 1
	for i := 0; i < len(data); column++ {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == '\n':
			line, column = line+1, 0
		case r == '\t' || r == '\r' || r == 0x85:
		case r < ' ', r >= 0x7f && r < 0xa0, r == utf8.RuneError && size == 1, r == 0xfffe, r == 0xffff, r == 0xfeff && i > 0:
			return line, column, true
		}
		i += size
	}
	return 0, 0, false
}

// converter turns the library's nodes into ours and refuses what is no configuration.
type converter struct {
	nodes   map[*yaml.Node]*node // of those that have an anchor; nil while it is being converted
	aliased int                  // values that aliases have added so far
	path    []byte
	faults  Faults
}

func (c *converter) fault(n *yaml.Node, format string, args ...any) {
	c.faults.addCapped(Fault{Path: string(c.path), Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)})
}

func (c *converter) convert(n *yaml.Node, depth int) *node {
	if depth > maxDepth {
		c.fault(n, "nested deeper than %d", maxDepth)
		return &node{}
	}
	if n.Kind == yaml.AliasNode {
		return c.alias(n, depth)
	}
	out := &node{size: 1}
	if n.Anchor != "" {
		c.nodes[n] = nil
		defer func() { c.nodes[n] = out }()
	}
	switch n.Tag {
	case "!!null", "!!bool", "!!int", "!!float", "!!timestamp", "!!str", "!!seq", "!!map", "!!merge", "":
	default:
		c.fault(n, "the tag %.64q means nothing here", n.Tag)
	}
	switch n.Kind {
	case yaml.MappingNode:
		out.kind = mapping
		c.mapping(out, n, depth)
	case yaml.SequenceNode:
		out.kind = sequence
		for i, item := range n.Content {
			outer := len(c.path)
			c.path = appendIndex(c.path, i)
			out.add(child{line: item.Line, column: item.Column, node: c.convert(item, depth+1)})
			c.path = c.path[:outer]
		}
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			out.kind, out.text = scalar, n.Value
		}
	}
	return out
}

func (c *converter) mapping(out *node, n *yaml.Node, depth int) {
	var merges []*yaml.Node
	lines := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode || len(key.Value) > maxKey {
			c.fault(n.Content[i], "a key must be plain text of at most %d bytes", maxKey)
			continue
		}
		if key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		outer := len(c.path)
		c.path = appendKey(c.path, key.Value)
		if first, ok := lines[key.Value]; ok {
			c.fault(n.Content[i], "given twice, first in line %d", first)
		} else {
			lines[key.Value] = n.Content[i].Line
			out.add(child{key: key.Value, line: n.Content[i].Line, column: n.Content[i].Column, node: c.convert(value, depth+1)})
		}
		c.path = c.path[:outer]
	}
	for _, m := range merges {
		c.merge(out, m, lines, depth)
	}
}

// merge adds what stands under a "<<" key: a mapping or a list of them, of which the earlier wins. Keys of the mapping's own win
// over all.
func (c *converter) merge(out *node, from *yaml.Node, lines map[string]int, depth int) {
	n := c.convert(from, depth+1)
	sources := []child{{node: n}}
	if n.kind == sequence {
		sources = n.children
	}
	for _, source := range sources {
		if source.node.kind == null {
			continue
		}
		if source.node.kind != mapping {
			c.fault(from, "<< takes keys and values, or a list of them")
			return
		}
		for _, entry := range source.node.children {
			if _, ok := lines[entry.key]; !ok {
				lines[entry.key] = entry.line
				out.add(entry)
			}
		}
	}
}

func (c *converter) alias(n *yaml.Node, depth int) *node {
	to := c.nodes[n.Alias]
	if to == nil {
		c.fault(n, "the alias *%.64s stands inside what it names", n.Value)
		return &node{}
	}
	if depth+to.height > maxDepth {
		c.fault(n, "nested deeper than %d", maxDepth)
		return &node{}
	}
	if c.aliased+to.size > maxAlias {
		c.fault(n, "aliases add more than %d values", maxAlias)
		return &node{}
	}
	c.aliased += to.size
	return to
}

func (n *node) add(c child) {
	n.children = append(n.children, c)
	n.size += c.node.size
	n.height = max(n.height, 1+c.node.height)
}

// addCapped notes a fault unless there are very many already; one last fault says that more were left out.
func (f *Faults) addCapped(fault Fault) {
	switch {
	case len(*f) < maxFaults:
		*f = append(*f, fault)
	case len(*f) == maxFaults:
		*f = append(*f, Fault{Message: fmt.Sprintf("there are more than %d such lines, the others are not shown", maxFaults)})
	}
}
