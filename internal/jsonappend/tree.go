package jsonappend

import (
	"math"
	"unsafe"
)

// Tree is one value, of any type that other systems send: null, bool, integers, floats, text, bytes, instants, lists and maps, nested. It is
// built value by value, in the order of a walk: a list or a map is begun, filled and ended. Its memory is used again after Reset, so that
// a stream of like trees costs no allocation. The zero value is ready and stands for null.
//
//	t.Reset()
//	t.BeginMap("")
//	t.Text("a", "x")
//	t.BeginList("b")
//	t.Int("", 1)
//	t.End()
//	t.End()
//	dst, err = w.Tree(dst, &t)
//
// The key is that of the value in the map it is put into; in a list, and for the outermost value, it is not read. Text, bytes and keys
// are lent to the tree: they must not change until Reset. A Tree must not be used by two goroutines at once.
type Tree struct {
	// MaxDepth is how deep lists and maps may be nested; 0 is DefaultDepth. It is read when one begins.
	MaxDepth int

	nodes  []node
	open   []int32 // lists and maps that have not ended
	reason error   // a Reason; as an error, since to make one of it would allocate
}

// DefaultDepth is how deep lists and maps may be nested by default, and the depth of objects that Elasticsearch takes by default.
const DefaultDepth = 20

// Reason says why a tree could not be written or read. It is an error by itself, and fit for the tag of a counter: there are only the
// constants of this package.
type Reason string

// Error says what kind of thing was refused, and why.
func (r Reason) Error() string { return "value: " + string(r) }

// Why there is no tree, or no JSON of it.
const (
	// ReasonDepth: lists and maps nested deeper than the limit.
	ReasonDepth Reason = "depth"
	// ReasonElements: more than 262,144 values.
	ReasonElements Reason = "elements"
	// ReasonTime: an instant outside of the years 0 to 9999.
	ReasonTime Reason = "time"
	// ReasonShape: a list or map that has not ended, or an end too many, or a second outermost value.
	ReasonShape Reason = "shape"
	// ReasonWire: the bytes are not the protobuf message that they should be.
	ReasonWire Reason = "wire"
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindInt
	kindUint
	kindFloat64
	kindFloat32
	kindText
	kindBytes
	kindTime
	kindNonFinite
	kindList
	kindMap
)

// node is a value. Those of a list or map stand behind it.
type node struct {
	key  string
	text string
	bits uint64
	next int32 // the node behind this one and all that is in it
	kind kind
	sub  uint32 // nanoseconds of an instant
}

const (
	maxKeptNodes = 1 << 14
	// maxNodes bounds a tree. Without it the two bytes of an empty value would cost fifty of memory, and a message of 16 MiB half a gigabyte.
	maxNodes = 1 << 18
)

// Reset makes the tree null, and ends the lease of what was put in. What one huge tree has grown is let go.
func (t *Tree) Reset() {
	if cap(t.nodes) > maxKeptNodes {
		t.nodes = nil
	}
	t.nodes, t.open, t.reason = t.nodes[:0], t.open[:0], nil
}

func (t *Tree) add(n node) {
	if len(t.open) == 0 && len(t.nodes) > 0 {
		t.fail(ReasonShape)
		return
	}
	if len(t.nodes) >= maxNodes {
		t.fail(ReasonElements)
		return
	}
	n.next = int32(len(t.nodes) + 1)
	t.nodes = append(t.nodes, n)
}

// fail keeps the first reason.
func (t *Tree) fail(r error) {
	if t.reason == nil {
		t.reason = r
	}
}

// Null adds a null.
func (t *Tree) Null(key string) { t.add(node{key: key}) }

// Bool adds a truth value.
func (t *Tree) Bool(key string, v bool) {
	n := node{key: key, kind: kindBool}
	if v {
		n.bits = 1
	}
	t.add(n)
}

// Int adds a whole number.
func (t *Tree) Int(key string, v int64) { t.add(node{key: key, kind: kindInt, bits: uint64(v)}) }

// Uint adds a whole number that may be above 2^63.
func (t *Tree) Uint(key string, v uint64) { t.add(node{key: key, kind: kindUint, bits: v}) }

// Float64 adds a number. One that is not finite is left out of a map, and null in a list.
func (t *Tree) Float64(key string, v float64) {
	n := node{key: key, kind: kindFloat64, bits: math.Float64bits(v)}
	if v-v != 0 {
		n.kind = kindNonFinite
	}
	t.add(n)
}

// Float32 is Float64 with the digits of a float32.
func (t *Tree) Float32(key string, v float32) {
	n := node{key: key, kind: kindFloat32, bits: uint64(math.Float32bits(v))}
	if v-v != 0 {
		n.kind = kindNonFinite
	}
	t.add(n)
}

// Text adds a text.
func (t *Tree) Text(key, v string) { t.add(node{key: key, kind: kindText, text: v}) }

// Bytes adds bytes, which are written in base64.
func (t *Tree) Bytes(key string, v []byte) {
	t.add(node{key: key, kind: kindBytes, text: lend(v)})
}

// Time adds an instant, seconds and nanoseconds since 1970. The nanoseconds may be any number and count from the second on.
func (t *Tree) Time(key string, seconds, nanos int64) {
	carry := floorDiv(nanos, nanosPerSecond)
	if seconds < firstSecond-carry || seconds > lastSecond-carry {
		t.fail(ReasonTime)
		return
	}
	t.add(node{key: key, kind: kindTime, bits: uint64(seconds + carry), sub: uint32(nanos - carry*nanosPerSecond)})
}

// BeginList begins a list.
func (t *Tree) BeginList(key string) { t.begin(node{key: key, kind: kindList}) }

// BeginMap begins a map. Of a key that stands twice in it the last one counts.
func (t *Tree) BeginMap(key string) { t.begin(node{key: key, kind: kindMap}) }

func (t *Tree) begin(n node) {
	limit := t.MaxDepth
	if limit == 0 {
		limit = DefaultDepth
	}
	if len(t.open) >= limit {
		t.fail(ReasonDepth)
	}
	at := int32(len(t.nodes))
	if t.reason == nil {
		t.add(n)
	}
	if t.reason != nil {
		at = -1 // nothing of the tree will be written, but the ends must still match
	}
	t.open = append(t.open, at)
}

// End ends the list or map that was begun last.
func (t *Tree) End() {
	n := len(t.open) - 1
	if n < 0 {
		t.fail(ReasonShape)
		return
	}
	if at := t.open[n]; at >= 0 {
		t.nodes[at].next = int32(len(t.nodes))
	}
	t.open = t.open[:n]
}

// Err gives the Reason why the tree cannot be written, or nil.
func (t *Tree) Err() error {
	if t.reason == nil && len(t.open) > 0 {
		return ReasonShape
	}
	return t.reason
}

// lend gives bytes as a string without a copy.
func lend(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
