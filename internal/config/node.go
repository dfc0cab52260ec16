package config

// node is one value of a document, independent of the library that parsed it. Nodes behind YAML aliases are shared, not copied,
// so the tree is really a graph without cycles.
type node struct {
	kind     kind
	text     string  // of a scalar
	quoted   bool    // when printed: text, whatever it looks like
	children []child // of a mapping or a sequence
	size     int     // values below and with this one, aliases counted as if copied
	height   int     // levels below this one

	// variable is the environment variable the value comes from. Such text is taken as it is, and may stand for a list.
	variable string
	// A patch changes what is there instead of replacing it: a mapping some keys, a sequence only the element at index.
	patch bool
	index int
}

type kind uint8

const (
	null kind = iota
	scalar
	mapping
	sequence
)

func (k kind) String() string {
	return [...]string{"nothing", "text", "keys and values", "a list"}[k]
}

// child is a value where it stands: under a key, or in a list with no key. The position is that of the key or the element.
type child struct {
	key    string
	name   string // the key that key is an alias of, known once decoded; else ""
	line   int
	column int
	node   *node
}

// find returns the child under a key or its alias, or nil.
func (n *node) find(key string) *child {
	if n.kind != mapping {
		return nil
	}
	for i := range n.children {
		if c := &n.children[i]; c.key == key || c.name == key {
			return c
		}
	}
	return nil
}

// empty says that the value says nothing: null, "", [] or {}.
func (n *node) empty() bool {
	switch n.kind {
	case null:
		return true
	case scalar:
		return n.text == ""
	default:
		return len(n.children) == 0
	}
}

// merge returns n with the patch applied, sharing what has not changed.
func (n *node) merge(patch *node) *node {
	if n == nil || !patch.patch || n.kind != mapping || patch.kind != mapping {
		return patch
	}
	merged := *n
	merged.children = append([]child(nil), n.children...)
	for _, p := range patch.children {
		if old := merged.find(p.key); old != nil {
			old.node = old.node.merge(p.node)
			continue
		}
		merged.children = append(merged.children, p)
	}
	return &merged
}
