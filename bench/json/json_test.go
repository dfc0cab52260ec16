package json

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// library is one way to write a value that was made before.
type library struct {
	name string
	make func(tb testing.TB, v any) func(dst []byte) []byte
}

func check(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

var libraries = []library{
	{"stdlib", func(tb testing.TB, v any) func([]byte) []byte {
		var buf bytes.Buffer
		e := json.NewEncoder(&buf)
		e.SetEscapeHTML(false)
		return func([]byte) []byte {
			buf.Reset()
			check(tb, e.Encode(v))
			return buf.Bytes()[:buf.Len()-1]
		}
	}},
	{"goccy", func(tb testing.TB, v any) func([]byte) []byte {
		return func([]byte) []byte {
			b, err := goccy.MarshalNoEscape(v)
			check(tb, err)
			return b
		}
	}},
	{"segmentio", func(tb testing.TB, v any) func([]byte) []byte {
		return func(dst []byte) []byte {
			dst, err := segmentio.Append(dst, v, segmentio.SortMapKeys)
			check(tb, err)
			return dst
		}
	}},
	{"sonic", func(tb testing.TB, v any) func([]byte) []byte {
		api := sonic.Config{SortMapKeys: true}.Froze()
		return func([]byte) []byte {
			b, err := api.Marshal(v)
			check(tb, err)
			return b
		}
	}},
}

// way is a named way to write one document.
type way struct {
	name  string
	write func(dst []byte) []byte
}

func waysOf(tb testing.TB, ours func(dst []byte) ([]byte, error), forms map[string]any, order ...string) []way {
	ways := []way{{"ours", func(dst []byte) []byte {
		dst, err := ours(dst)
		check(tb, err)
		return dst
	}}}
	for _, form := range order {
		for _, l := range libraries {
			ways = append(ways, way{l.name + "-" + form, l.make(tb, forms[form])})
		}
	}
	return ways
}

func spanWays(tb testing.TB) []way {
	e, s := jsondoc.New(jsondoc.Options{Samples: true}), typical()
	return waysOf(tb, func(dst []byte) ([]byte, error) { return e.AppendSpan(dst, s) },
		map[string]any{"map": spanMap(s), "struct": spanStruct(s)}, "map", "struct")
}

func wireWays(tb testing.TB) []way {
	e, packet := jsondoc.New(jsondoc.Options{Samples: true}), ssf.AppendSpan(nil, typical())
	return waysOf(tb, func(dst []byte) ([]byte, error) { return e.AppendWireSpan(dst, packet) },
		map[string]any{"map": spanMap(typical())}, "map")
}

func valueWays(tb testing.TB) []way {
	w, t := &jsonappend.Writer{}, valueTree()
	return waysOf(tb, func(dst []byte) ([]byte, error) { return w.Tree(dst, t) }, map[string]any{"map": valueMap()}, "map")
}

func TestAllWriteTheSame(t *testing.T) {
	for name, ways := range map[string][]way{"span": spanWays(t), "value": valueWays(t), "wire": wireWays(t)} {
		want := string(ways[0].write(nil))
		for _, w := range ways[1:] {
			if got := string(w.write(nil)); got != want {
				t.Errorf("%s %s\n got %s\nwant %s", name, w.name, got, want)
			}
		}
	}
}

func bench(b *testing.B, ways []way) {
	for _, w := range ways {
		b.Run(w.name, func(b *testing.B) {
			buf := w.write(nil)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = w.write(buf[:0])
			}
		})
	}
}

// BenchmarkJSONSpan writes a span of 8 tags and 3 samples.
func BenchmarkJSONSpan(b *testing.B) { bench(b, spanWays(b)) }

// BenchmarkJSONWire has ours read the packet as well, which the others do not.
func BenchmarkJSONWire(b *testing.B) { bench(b, wireWays(b)) }

// BenchmarkJSONValue writes a tree of typed values.
func BenchmarkJSONValue(b *testing.B) {
	v, err := structpb.NewStruct(valueMap())
	check(b, err)
	bench(b, append(valueWays(b), way{"protojson", func(dst []byte) []byte {
		dst, err := protojson.MarshalOptions{}.MarshalAppend(dst, v)
		check(b, err)
		return dst
	}}))
}
