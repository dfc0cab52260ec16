package jsondoc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// odd are packets of forms that no encoder of ours writes, and some that are none.
var odd = []string{
	"", "\x80", "\x10", "\x10\x80\x80", "\x42\x05ab", "\x42\x80", "\x52", "\x52\x05\x12", "\x52\x03\x12\x05\x61bcd", "\x52\x04\x1d\x00\x00\x00", "\x5a", "\x5a\x04\x0a\x05k1", "\x5a\x02\x08\x01",
	"\x00\x00", "\x7e", "\x7f", "\x12\x01a", "\x53\x54", "\x7c", "\x7b", "\x7b\x7c", "\x79\x00", "\x7a\x03\x00", "\x6a\x01b\x42\x01a", "\x10\x01\x10\x02\x42\x01a\x42\x00", "\x10\x81\x80\x80\x00",
	"\x90\x00\x05", "\x08\x81\x80\x80\x80\x10", "\x38\x02\x60\x80\x01", "\x48\x01\x10\x07", "\x52\x00", "\x52\x06\x08\x07\x30\x08\x50\x09", "\x5a\x03\x0a\x01k", "\x5a\x03\x12\x01v", "\x5a\x00",
	"\x5a\x06\x12\x01v\x0a\x01k", "\x5a\x09\x0a\x01j\x12\x01v\x0a\x01k", "\x5a\x08\x0a\x01k\x12\x01v\x18\x01", "\x5a\x06\x0a\x01k\x12\x01v\x5a\x06\x0a\x01k\x12\x01w", "\x42\x01\xff", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
	"\x52\x09\x19\x00\x00\x00\x00\x00\x00\x00\x00", "\x52\x02\x78\x01", "\x52\x08\x42\x06\x0a\x01k\x12\x01v\x10\x01",
}

// FuzzWire: from the packet come the same bytes as from the span that the decoder makes of it, the same counts, and the same refusals.
func FuzzWire(f *testing.F) {
	for mode := range byte(16) {
		for _, s := range spans() {
			f.Add(ssf.AppendSpan(nil, s), mode)
		}
		for _, shape := range ssftest.Shapes() {
			f.Add(ssf.AppendSpan(nil, shape.Span), mode)
		}
		for _, packet := range odd {
			f.Add([]byte(packet), mode)
		}
	}
	f.Fuzz(func(t *testing.T, packet []byte, mode byte) {
		o := optionsOf(mode)
		wire, whole := jsondoc.New(o), jsondoc.New(o)
		var d ssf.Decoder
		for range 2 { // the second time into what the first one has left
			span, wantErr := d.Decode(packet)
			got, err := wire.AppendWireSpan([]byte("before"), packet)
			require.Equal(t, wantErr, err)
			if err != nil {
				require.Equal(t, "before", string(got))
				require.Equal(t, whole.Counts, wire.Counts)
				continue
			}
			want, err := whole.AppendSpan([]byte("before"), span)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
			require.Equal(t, whole.Counts, wire.Counts)

			doc := got[len("before"):]
			require.True(t, utf8.Valid(doc))
			require.False(t, strings.ContainsAny(string(doc), "\n\r"))
			require.True(t, json.Valid(doc))
			if mode == 1 {
				require.Equal(t, ofStdlib(t, spanMap(span, true)), string(doc))
			}
		}
	})
}

// optionsOf makes options of a fuzzer's byte.
func optionsOf(mode byte) jsondoc.Options {
	o := jsondoc.Options{Samples: mode&1 != 0}
	if mode&2 != 0 {
		o.Keys = jsonappend.Keys{Paths: true, Reserved: []string{"env", "region"}, Max: 20}
		o.Floats = jsonappend.PointedFloats
	}
	if mode&4 != 0 {
		o.Keys.Dot = '_'
		o.MaxText = 10
	}
	if mode&8 != 0 {
		o.Escapes = jsonappend.EscapeAsStdlib | jsonappend.EscapeDelete
		o.Times = jsonappend.EpochMillisNanos
	}
	return o
}

func TestManyElementsInOnePacket(t *testing.T) {
	for _, tt := range []struct{ name, element string }{{"samples", "\x52\x00"}, {"tags", "\x5a\x04\x0a\x00\x12\x00"}, {"tags of samples", "\x52\x06\x42\x04\x0a\x00\x12\x00"}} {
		t.Run(tt.name, func(t *testing.T) {
			e := jsondoc.New(jsondoc.Options{Samples: true})
			n := 1 << 18
			if strings.HasPrefix(tt.name, "tags of") {
				n /= 2
			}
			_, err := e.AppendWireSpan(nil, []byte(strings.Repeat(tt.element, n)))
			require.NoError(t, err)
			got, err := e.AppendWireSpan([]byte("before"), []byte(strings.Repeat(tt.element, n+1)))
			require.Equal(t, ssf.ReasonElements, err)
			require.Equal(t, "before", string(got))
		})
	}
}
