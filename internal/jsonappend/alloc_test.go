package jsonappend

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAllocations(t *testing.T) {
	attributes := message(nil, 6, message(message(nil, 1, keyValue("b..c", message(nil, 5, message(nil, 1, text(nil, 1, "x"))))), 1, keyValue("\xff", number(nil, 3, 1))))
	keys := make([]string, 200)
	for i := range keys {
		keys[i] = fmt.Sprint("same beginning ", i*7919%200/2)
	}
	var o Order
	var c Counts
	var tree Tree
	w := Writer{Style: Style{Keys: Keys{Paths: true, Dot: '@', Reserved: []string{"a"}, Max: 30}, MaxText: 5, Escapes: EscapeAsStdlib}}
	rules := w.Keys
	buf := make([]byte, 0, 64<<10)
	for name, do := range map[string]func(){
		"values": func() {
			b := Float(Strings(String(buf[:0], "name\n\xff"), []string{"a:b"}), 1.5)
			b, _ = Float32(b, 1.0/3, PointedFloats)
			b, _ = Time(b, 1, 1)
			b = MillisNanos(ID32(ID16(Bytes(Int(b, 5), buf[:7]), 1), 1, 2), -1)
			_ = StringEscaped(b, "<>", EscapeAsStdlib)
		},
		"keys": func() {
			o.Reset()
			for i, key := range keys {
				o.Add(key, i, &rules, &c)
			}
			o.Sort(&c)
		},
		"a tree from the wire": func() {
			tree.Reset()
			if tree.AnyValue("", attributes) != nil {
				t.Fatal("refused")
			}
			if _, err := w.Tree(buf[:0], &tree); err != nil {
				t.Fatal(err)
			}
		},
		"a tree that is refused": func() {
			tree.Reset()
			if tree.AnyValue("", attributes[:len(attributes)-1]) == nil {
				t.Fatal("not refused")
			}
		},
	} {
		require.Zero(t, testing.AllocsPerRun(100, do), name)
	}
}

// TestWhatOneHugeObjectTookIsLetGo: a stranger's object must not stay for ever.
func TestWhatOneHugeObjectTookIsLetGo(t *testing.T) {
	var o Order
	var c Counts
	var tree Tree
	tree.BeginMap("")
	for i := range 100_000 {
		o.Add(strings.Repeat(".", i%50), i, &Keys{Paths: true}, &c)
		tree.Int("k", 1)
	}
	tree.End()
	o.Reset()
	tree.Reset()
	require.LessOrEqual(t, cap(o.items), maxKeptItems)
	require.LessOrEqual(t, cap(o.keys), 2*maxKeptItems)
	require.LessOrEqual(t, cap(o.text), maxKeptText)
	require.LessOrEqual(t, cap(tree.nodes), maxKeptNodes)
}
