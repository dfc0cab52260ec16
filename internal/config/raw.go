package config

import (
	"fmt"
	"reflect"
)

// Raw is a subtree of a document whose struct is known only later, such as the configuration of a kind of sink. The zero Raw is a
// key that was not given. Copies share the subtree.
type Raw struct{ subtree *subtree }

type subtree struct {
	doc     *Document
	child   child
	path    string
	decoded any
}

// IsZero says that the key was not given, or is null.
func (r Raw) IsZero() bool { return r.subtree == nil }

// Decode writes the subtree over *into, like Document.Decode: its Faults have the whole path in the document and the line. A zero Raw
// leaves the defaults. The Raw remembers into, so that AppendYAML and AppendJSON print what was made of the subtree.
func (r Raw) Decode(into any) error {
	v, err := target(into)
	if err != nil || r.subtree == nil {
		return err
	}
	r.subtree.decoded = into
	d := decoder{doc: r.subtree.doc, path: []byte(r.subtree.path)}
	d.child(&r.subtree.child, v)
	return d.faults.Err()
}

// Format prints the keys, and "…" for every value, with any verb: what is secret among them is known only to the struct.
func (r Raw) Format(f fmt.State, _ rune) {
	var n *node
	if r.subtree != nil {
		n = hidden(r.subtree.child.node)
	}
	_, _ = f.Write(appendFlow(nil, n))
}

// MarshalJSON prints what AppendJSON prints.
func (r Raw) MarshalJSON() ([]byte, error) { return AppendJSON(nil, r), nil }

// raw keeps a subtree for later. A value from the environment changes some keys of it.
func (d *decoder) raw(n *node, v reflect.Value) {
	old := v.Interface().(Raw).subtree
	if n = d.unfold(mapping, n); n == nil {
		return
	}
	s := &subtree{doc: d.doc, path: string(d.path), child: child{line: d.at.line, column: d.at.column, node: n}}
	if old != nil {
		s.doc, s.child.line, s.child.column = old.doc, old.child.line, old.child.column
		s.child.node = old.child.node.merge(n)
	}
	v.Set(reflect.ValueOf(Raw{s}))
}

// hidden returns a copy with the plain values replaced.
func hidden(n *node) *node {
	if n.kind == null {
		return n
	}
	if n.kind == scalar {
		return &node{kind: scalar, text: "…", quoted: true}
	}
	out := *n
	out.children = make([]child, len(n.children))
	for i, c := range n.children {
		out.children[i] = child{key: c.key, node: hidden(c.node)}
	}
	return &out
}
