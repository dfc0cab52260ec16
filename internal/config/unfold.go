package config

import "strings"

// unfold parses a value from the environment where more than a plain value is wanted: a list may be separated by commas, everything
// else is YAML on one line, and so JSON. It returns nil after a syntax error, which it reports.
func (d *decoder) unfold(k kind, n *node) *node {
	if n.kind != scalar || n.variable == "" {
		return n
	}
	trimmed := strings.TrimSpace(n.text)
	if k == sequence && !strings.HasPrefix(trimmed, "[") {
		list := &node{kind: sequence, variable: n.variable}
		if trimmed == "" {
			return list
		}
		for item := range strings.SplitSeq(trimmed, ",") {
			list.children = append(list.children, child{node: &node{kind: scalar, text: strings.TrimSpace(item), variable: n.variable}})
		}
		return list
	}
	parsed, faults := parseTree([]byte(trimmed))
	if len(faults) > 0 {
		for _, f := range faults {
			d.fault("%s", f.Message)
		}
		return nil
	}
	if parsed.kind == scalar {
		return n // it is not what was wanted, or only a Raw's to know
	}
	parsed.comeFrom(n.variable)
	return parsed
}

// comeFrom marks a tree as the value of a variable.
func (n *node) comeFrom(variable string) {
	if n.variable != "" {
		return // an alias led here before
	}
	n.variable = variable
	for i := range n.children {
		n.children[i].line, n.children[i].column = 0, 0
		n.children[i].node.comeFrom(variable)
	}
}

// want returns the node if it is of this kind, and otherwise reports it and returns nil.
func (d *decoder) want(k kind, n *node) *node {
	n = d.unfold(k, n)
	if n != nil && n.kind != k {
		d.expected(k.String(), n)
		return nil
	}
	return n
}
