package jsonappend

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// grower makes a tree, and the value that encoding/json writes the same of, from bytes of a fuzzer's.
type grower struct {
	in   []byte
	tree *Tree
	nan  uint64
	deep bool
}

func (g *grower) next() byte {
	if len(g.in) == 0 {
		return 0
	}
	c := g.in[0]
	g.in = g.in[1:]
	return c
}

func (g *grower) text() string {
	n := min(int(g.next())%24, len(g.in))
	s := string(g.in[:n])
	g.in = g.in[n:]
	return s
}

func (g *grower) bits() (v uint64) {
	for range 8 {
		v = v<<8 | uint64(g.next())
	}
	return v
}

// skipped is what is left out of a map and null in a list.
type skipped struct{}

// grow adds one value under the key, and gives its twin.
func (g *grower) grow(key string, depth int) any {
	switch g.next() % 13 {
	case 0:
		g.tree.Null(key)
		return nil
	case 1:
		v := g.next()&1 == 1
		g.tree.Bool(key, v)
		return v
	case 2:
		v := int64(g.bits())
		g.tree.Int(key, v)
		return v
	case 3:
		v := g.bits()
		g.tree.Uint(key, v)
		return v
	case 4:
		v := math.Float64frombits(g.bits())
		g.tree.Float64(key, v)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return skipped{}
		}
		return v
	case 5:
		v := math.Float32frombits(uint32(g.bits()))
		g.tree.Float32(key, v)
		if v-v != 0 {
			return skipped{}
		}
		return v
	case 6:
		v := float64(int16(g.bits())) / 100
		g.tree.Float64(key, v)
		return v
	case 7:
		v := g.text()
		b := []byte(v)
		g.tree.Bytes(key, b)
		return b
	case 8:
		at := time.Unix(int64(g.bits())%lastSecond, int64(g.bits()%nanosPerSecond)).UTC()
		if at.Year() < 0 {
			at = time.Unix(0, 0).UTC()
		}
		g.tree.Time(key, at.Unix(), int64(at.Nanosecond()))
		return strings.Trim(at.Format(nineDigits), `"`)
	case 9:
		g.deep = g.deep || depth >= DefaultDepth
		g.tree.BeginList(key)
		list := []any{}
		for range g.next() % 8 {
			v := g.grow(g.text(), depth+1) // a key, which is not read
			if _, ok := v.(skipped); ok {
				g.nan++
				v = nil
			}
			list = append(list, v)
		}
		g.tree.End()
		return list
	case 10:
		g.deep = g.deep || depth >= DefaultDepth
		g.tree.BeginMap(key)
		all, m := map[string]any{}, map[string]any{}
		for range g.next() % 32 {
			key := g.text()
			all[string([]rune(key))] = g.grow(key, depth+1)
		}
		for key, v := range all {
			if _, ok := v.(skipped); ok {
				continue
			}
			m[key] = v
		}
		g.tree.End()
		return m
	default:
		v := g.text()
		g.tree.Text(key, v)
		return string([]rune(v))
	}
}

// FuzzTree compares whole trees with what encoding/json writes of the same maps.
func FuzzTree(f *testing.F) {
	for _, s := range []string{
		"", "\x0a\x02\x01a\x01\x01\x01b\x02\x00\x00\x00\x00\x00\x00\x00\x07", "\x09\x03\x00\x00\x00\x01\x00\x0b\x03abc", "\x0a\x03\x01b\x00\x01a\x0a\x02\x01d\x00\x01c\x00\x01b\x0b\x01x",
		"\x0a\x01\x01k\x04\x7f\xf8\x00\x00\x00\x00\x00\x01", "\x09\x01\x00\x04\x7f\xf8\x00\x00\x00\x00\x00\x01", strings.Repeat("\x09\x01\x00", 25), strings.Repeat("\x0a\x01\x01k", 21),
		"\x0a\x1f" + strings.Repeat("\x02zk\x00\x02ak\x0b\x02vv", 15), "\x08\x80\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x09", "\x07\x05\xff\x00\xfe><", strings.Repeat("\x09\x01\x00", 20) + "\x09\x00", strings.Repeat("\x09\x01\x00", 19) + "\x0a\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var tree Tree
		var w Writer
		for range 2 { // the second time into what the first one has left
			tree.Reset()
			g := grower{in: in, tree: &tree}
			w.Counts = Counts{}
			want := g.grow("not read", 0)
			got, err := w.Tree([]byte("x"), &tree)
			if err != nil {
				require.Equal(t, ReasonDepth, err)
				require.True(t, g.deep)
				require.Equal(t, "x", string(got))
				continue
			}
			require.False(t, g.deep)
			if _, ok := want.(skipped); ok {
				want = nil
			}
			require.Equal(t, "x"+listed(ofStdlib(t, want)), string(got))
			require.True(t, utf8.Valid(got))
			require.True(t, json.Valid(got[1:]))
		}
	})
}

func TestTree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		style Style
		build func(*Tree)
		want  string
		count Counts
	}{
		{"nothing", Style{}, func(*Tree) {}, `null`, Counts{}},
		{"empty map", Style{}, func(t *Tree) { t.BeginMap(""); t.End() }, `{}`, Counts{}},
		{"empty list", Style{}, func(t *Tree) { t.BeginList(""); t.End() }, `[]`, Counts{}},
		{"uint", Style{}, func(t *Tree) { t.Uint("", math.MaxUint64) }, `18446744073709551615`, Counts{}},
		{"whole float", Style{Floats: PointedFloats}, func(t *Tree) { t.Float64("", 1) }, `1.0`, Counts{}},
		{"float32", Style{}, func(t *Tree) { t.Float32("", 0.1) }, `0.1`, Counts{}},
		{"the last of equal keys, after one that was rewritten", Style{Keys: Keys{Paths: true}}, func(t *Tree) {
			t.BeginMap("")
			t.Int("_x", 1)
			t.Int(".x", 2)
			t.BeginMap("in")
			t.Int("..", 3)
			t.End()
			t.End()
		}, `{"_x":2,"in":{"__":3}}`, Counts{DuplicateKeys: 1, RewrittenKeys: 2}},
		{"a NaN is left out, and with it what it replaced", Style{}, func(t *Tree) {
			t.BeginMap("")
			t.Int("b", 1)
			t.Float64("b", math.NaN())
			t.Float32("a", float32(math.Inf(1)))
			t.BeginList("c")
			t.Float64("", math.Inf(-1))
			t.End()
			t.End()
		}, `{"c":[null]}`, Counts{DuplicateKeys: 1, NonFinite: 3}},
		{"millis", Style{Times: EpochMillis}, func(t *Tree) { t.Time("", -1, 999_999_999) }, `-1`, Counts{}},
		{"text that is cut", Style{MaxText: 3}, func(t *Tree) { t.Text("", "aéb") }, `"aé"`, Counts{CutTexts: 1}},
		{"bytes that are cut", Style{MaxText: 7}, func(t *Tree) { t.Bytes("", []byte("abcd")) }, `"YWJj"`, Counts{CutTexts: 1}},
		{"bytes that are not", Style{MaxText: 4}, func(t *Tree) { t.Bytes("", []byte("abc")) }, `"YWJj"`, Counts{}},
		{"html", Style{Escapes: EscapeHTML}, func(t *Tree) { t.Text("", "<") }, `"\u003c"`, Counts{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tree Tree
			tt.build(&tree)
			w := Writer{Style: tt.style}
			got, err := w.Tree(nil, &tree)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
			assert.Equal(t, tt.count, w.Counts)
		})
	}
}

func TestTreesThatAreRefused(t *testing.T) {
	test := t
	nest := func(n int) func(*Tree) {
		return func(t *Tree) {
			for range n {
				t.BeginMap("k")
			}
			t.Int("k", 1)
			for range n {
				t.End()
			}
		}
	}
	for _, tt := range []struct {
		name  string
		depth int
		build func(*Tree)
		err   error
	}{
		{"20 deep", 0, nest(20), nil},
		{"21 deep", 0, nest(21), ReasonDepth},
		{"a limit of its own", 2, nest(3), ReasonDepth},
		{"thousands deep", 0, nest(100_000), ReasonDepth},
		{"after the year 9999", 0, func(t *Tree) { t.Time("", lastSecond+1, 0) }, ReasonTime},
		{"by nanoseconds", 0, func(t *Tree) { t.Time("", lastSecond, nanosPerSecond) }, ReasonTime},
		{"before the year 0", 0, func(t *Tree) { t.Time("", firstSecond, -1) }, ReasonTime},
		{"too many values", 0, func(t *Tree) {
			t.BeginList("")
			for range maxNodes {
				t.Null("")
			}
			t.End()
		}, ReasonElements},
		{"too many values on the wire", 0, func(t *Tree) {
			require.Equal(test, ReasonElements, t.AnyValue("", message(nil, 5, []byte(strings.Repeat("\x0a\x00", maxNodes)))))
		}, ReasonElements},
		{"not ended", 0, func(t *Tree) { t.BeginMap("") }, ReasonShape},
		{"an end too many", 0, func(t *Tree) { t.End() }, ReasonShape},
		{"two outermost values", 0, func(t *Tree) { t.Int("", 1); t.Int("", 2) }, ReasonShape},
		{"two outermost maps", 0, func(t *Tree) { t.BeginMap(""); t.End(); t.BeginMap(""); t.End() }, ReasonShape},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tree := Tree{MaxDepth: tt.depth}
			tt.build(&tree)
			var w Writer
			got, err := w.Tree([]byte("before"), &tree)
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tt.err, err)
			require.Equal(t, "before", string(got))
			tree.Reset()
			got, err = w.Tree(nil, &tree)
			require.NoError(t, err)
			require.Equal(t, "null", string(got))
		})
	}
}

func TestTreeBytes(t *testing.T) {
	var tree Tree
	tree.Bytes("", []byte{0xff, 0xfe})
	var w Writer
	got, err := w.Tree(nil, &tree)
	require.NoError(t, err)
	require.Equal(t, `"`+base64.StdEncoding.EncodeToString([]byte{0xff, 0xfe})+`"`, string(got))
}
