package jsonappend

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// FuzzStruct takes bytes both as JSON, of which structpb makes a message whose tree must give encoding/json's text, and as a message, of
// which structpb and the tree must think the same.
func FuzzStruct(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"b":[1.5,"x",null,true,{"c":{}}],"":""}`, `{"z":1e21,"y":-0.000001,"x":"\u2028<\n"}`, `[]`, `{"a":{"a":{"a":{"a":[[[[]]]]}}}}`,
	} {
		f.Add([]byte(s))
		var m map[string]any
		if json.Unmarshal([]byte(s), &m) == nil {
			v, err := structpb.NewStruct(m)
			require.NoError(f, err)
			b, err := proto.Marshal(v)
			require.NoError(f, err)
			f.Add(b)
			f.Add(append(b, 0x10, 1))
			f.Add(b[:len(b)/2])
		}
	}
	for _, s := range []string{"\x0a\x00", "\x0a\x03\x0a\x01k", "\x0a\x02\x12\x00", "\x08\x01", "\x0b\x0c", "\x0a\x04\x12\x02\x2a\x00", "\x0a\x05\x12\x03\x32\x01\x0a", "\x0a\x06\x12\x04\x1a\x02\xff\xfe", "\x00", "\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var tree Tree
		var w Writer
		var m map[string]any
		if json.Unmarshal(in, &m) == nil && m != nil {
			if v, err := structpb.NewStruct(m); err == nil {
				b, err := proto.Marshal(v)
				require.NoError(t, err)
				err = tree.Struct("", b)
				got, writeErr := w.Tree(nil, &tree)
				if err != nil || writeErr != nil {
					require.Equal(t, ReasonDepth, err)
					require.Equal(t, ReasonDepth, writeErr)
				} else {
					require.Equal(t, listed(ofStdlib(t, m)), string(got))
				}
			}
		}

		tree.Reset()
		w.Counts = Counts{}
		err := tree.Struct("", in)
		got, writeErr := w.Tree([]byte("before"), &tree)
		if err != nil {
			require.Contains(t, []error{ReasonWire, ReasonDepth}, err)
			require.Error(t, writeErr)
			require.Equal(t, "before", string(got))
			return
		}
		require.NoError(t, writeErr)
		require.True(t, utf8.Valid(got))
		require.True(t, json.Valid(got[len("before"):]), "%s", got)
		var v structpb.Struct
		if proto.Unmarshal(in, &v) != nil {
			return // text that is not UTF-8, or something malformed in a field that stands again later
		}
		if b, err := (proto.MarshalOptions{Deterministic: true}).Marshal(&v); err == nil && proto.Size(&v) == len(in) && len(b) == len(in) && w.Counts.NonFinite == 0 {
			// Without a field twice, which protobuf may merge, nothing unknown, and no NaN, of which AsMap makes a text.
			if back, err := json.Marshal(v.AsMap()); err == nil {
				require.JSONEq(t, strings.ReplaceAll(string(back), `\ufffd`, "\ufffd"), string(got[len("before"):]))
			}
		}
	})
}

// message appends a field that holds a message.
func message(b []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), content)
}

func text(b []byte, number protowire.Number, s string) []byte { return message(b, number, []byte(s)) }

func number(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func double(b []byte, number protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, number, protowire.Fixed64Type), math.Float64bits(v))
}

func keyValue(key string, value []byte) []byte { return message(text(nil, 1, key), 2, value) }

func TestAnyValue(t *testing.T) {
	minusOne := int64(-1)
	for _, tt := range []struct {
		name string
		in   []byte
		want string
	}{
		{"nothing", nil, `null`},
		{"text", text(nil, 1, "a\"b"), `"a\"b"`},
		{"empty text", text(nil, 1, ""), `""`},
		{"true", number(nil, 2, 1), `true`},
		{"false", number(nil, 2, 0), `false`},
		{"integer", number(nil, 3, uint64(minusOne)), `-1`},
		{"large integer", number(nil, 3, 1<<62+1), `4611686018427387905`},
		{"double", double(nil, 4, 0.1), `0.1`},
		{"not finite", double(nil, 4, math.NaN()), `null`},
		{"empty array", message(nil, 5, nil), `[]`},
		{"array", message(nil, 5, message(message(nil, 1, text(nil, 1, "a")), 1, nil)), `["a",null]`},
		{"empty map", message(nil, 6, nil), `{}`},
		{"map", message(nil, 6, message(message(nil, 1, keyValue("b", number(nil, 3, 1))), 1, keyValue("a", double(nil, 4, math.Inf(1))))), `{"b":1}`},
		{"a key without a value", message(nil, 6, message(nil, 1, text(nil, 1, "k"))), `{"k":null}`},
		{"a key twice", message(nil, 6, message(message(nil, 1, keyValue("k", number(nil, 3, 1))), 1, keyValue("k", number(nil, 3, 2)))), `{"k":2}`},
		{"bytes", text(nil, 7, "\xff\x00"), `"/wA="`},
		{"the last of two", number(text(nil, 1, "a"), 3, 5), `5`},
		{"an unknown field", number(text(nil, 1, "a"), 99, 5), `"a"`},
		{"bad UTF-8", text(nil, 1, "\xff"), "\"\ufffd\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tree Tree
			require.NoError(t, tree.AnyValue("", tt.in))
			var w Writer
			got, err := w.Tree(nil, &tree)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
}

// TestAttributes is how the attributes of an OTLP span, which are fields of it, become a map.
func TestAttributes(t *testing.T) {
	var tree Tree
	tree.BeginMap("")
	require.NoError(t, tree.KeyValue(keyValue("http.method", text(nil, 1, "GET"))))
	require.NoError(t, tree.KeyValue(keyValue("bytes", number(nil, 3, 17))))
	tree.End()
	var w Writer
	got, err := w.Tree(nil, &tree)
	require.NoError(t, err)
	require.Equal(t, `{"bytes":17,"http.method":"GET"}`, string(got))
}

func TestMalformedValues(t *testing.T) {
	deep := text(nil, 1, "a")
	for range 21 {
		deep = message(nil, 5, message(nil, 1, deep))
	}
	for _, tt := range []struct {
		name string
		in   []byte
		want error
	}{
		{"cut short", text(nil, 1, "abc")[:4], ReasonWire},
		{"a key cut short", []byte{0x80}, ReasonWire},
		{"text as a number", number(nil, 1, 1), ReasonWire},
		{"field 0", []byte{0, 0}, ReasonWire},
		{"wire type 7", []byte{0x0f}, ReasonWire},
		{"an array's value as a number", message(nil, 5, number(nil, 1, 1)), ReasonWire},
		{"a pair's key as a number", message(nil, 6, message(nil, 1, number(nil, 1, 1))), ReasonWire},
		{"a pair cut short", message(nil, 6, message(nil, 1, []byte{0x0a})), ReasonWire},
		{"too deep", deep, ReasonDepth},
		{"an unknown group without an end", []byte{0xfb, 0x01}, ReasonWire},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tree Tree
			require.Equal(t, tt.want, tree.AnyValue("", tt.in))
			require.Error(t, tree.Err())
		})
	}
}

// FuzzAnyValue: whatever the bytes, there is a reason or one line of JSON.
func FuzzAnyValue(f *testing.F) {
	f.Add(message(nil, 6, message(nil, 1, keyValue("a.", message(nil, 5, message(nil, 1, text(nil, 1, "x")))))))
	f.Add(text(nil, 7, "\xff"))
	f.Add(double(nil, 4, math.NaN()))
	f.Add([]byte{0xfb, 0x01, 0xfc, 0x01})
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, in []byte) {
		var tree Tree
		err := tree.AnyValue("", in)
		w := Writer{Style: Style{Keys: Keys{Paths: true}}}
		got, writeErr := w.Tree(nil, &tree)
		require.Equal(t, err == nil, writeErr == nil)
		if err == nil {
			require.True(t, json.Valid(got))
			require.True(t, utf8.Valid(got))
			require.NotContains(t, string(got), "\n")
		}
	})
}
