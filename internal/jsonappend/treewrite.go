package jsonappend

import (
	"math"
	"unsafe"
)

// Tree appends the tree, the keys of each map in the order of their bytes and each once. On an error, which is a Reason, dst comes back as
// it was.
func (w *Writer) Tree(dst []byte, t *Tree) ([]byte, error) {
	if err := t.Err(); err != nil {
		return dst, err
	}
	if len(t.nodes) == 0 {
		return append(dst, "null"...), nil
	}
	w.order.Reset()
	return w.node(dst, t.nodes, 0), nil
}

// node appends one value. Its depth was bounded when the tree was built.
func (w *Writer) node(dst []byte, nodes []node, i int) []byte {
	n := &nodes[i]
	switch n.kind {
	case kindBool:
		return Bool(dst, n.bits != 0)
	case kindInt:
		return Int(dst, int64(n.bits))
	case kindUint:
		return Uint(dst, n.bits)
	case kindFloat64:
		dst, _ = Float64(dst, math.Float64frombits(n.bits), w.Floats)
		return dst
	case kindFloat32:
		dst, _ = Float32(dst, math.Float32frombits(uint32(n.bits)), w.Floats)
		return dst
	case kindNonFinite:
		w.Counts.NonFinite++
		return append(dst, "null"...)
	case kindText:
		return w.Text(dst, n.text)
	case kindBytes:
		return w.Bytes(dst, unsafe.Slice(unsafe.StringData(n.text), len(n.text)))
	case kindTime:
		dst, _ = w.Time(dst, int64(n.bits), int64(n.sub))
		return dst
	case kindList:
		return w.list(dst, nodes, i)
	case kindMap:
		return w.object(dst, nodes, i)
	default:
		return append(dst, "null"...)
	}
}

func (w *Writer) list(dst []byte, nodes []node, i int) []byte {
	dst = append(dst, '[')
	end := int(nodes[i].next)
	for c := i + 1; c < end; c = int(nodes[c].next) {
		if c > i+1 {
			dst = append(dst, ',')
		}
		dst = w.node(dst, nodes, c)
	}
	return append(dst, ']')
}

func (w *Writer) object(dst []byte, nodes []node, i int) []byte {
	o := &w.order
	outer, end := o.begin(), int(nodes[i].next)
	for c := i + 1; c < end; c = int(nodes[c].next) {
		o.Add(nodes[c].key, c, &w.Keys, &w.Counts)
	}
	o.Sort(&w.Counts)
	dst = append(dst, '{')
	first := true
	// Objects further in put their keys behind these, and take them away again.
	for e, last := outer.items, len(o.items); e < last; e++ {
		c := int(o.items[e].at)
		if nodes[c].kind == kindNonFinite {
			w.Counts.NonFinite++
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = o.AppendKey(dst, e)
		dst = w.node(dst, nodes, c)
	}
	o.end(outer)
	return append(dst, '}')
}
