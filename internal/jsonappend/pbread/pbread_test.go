package pbread

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestVarint(t *testing.T) {
	for _, v := range []uint64{0, 1, 127, 128, 300, 1<<14 - 1, 1 << 14, 1<<56 - 1, 1 << 56, 1 << 62, 1 << 63, math.MaxUint64} {
		b := append([]byte{0xff}, binary.AppendUvarint(nil, v)...)
		for _, tail := range []string{"", "\xff", strings.Repeat("\xff", 10)} {
			got, after := Varint(append(b, tail...), 1)
			assert.Equal(t, v, got)
			assert.Equal(t, len(b), after)
		}
		for n := 1; n < len(b); n++ {
			_, after := Varint(b[:n], 1)
			assert.Equal(t, Bad, after)
		}
	}
	_, after := Varint([]byte("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 0)
	assert.Equal(t, Bad, after, "eleven bytes")
}

func TestExtent(t *testing.T) {
	for _, tt := range []struct {
		in         string
		start, end int
	}{
		{"\x00", 1, 1},
		{"\x02ab", 1, 3},
		{"\x02a", 1, 3}, // past the end
		{"\x80\x00", 2, 2},
		{"\x80\x01", 0, Bad}, // past the end, too
		{"\x80\x01" + strings.Repeat("a", 128), 2, 130},
		{"", 0, Bad},
		{"\x80", 0, Bad},
		{"\xff\xff\xff\xff\x07", 0, Bad},
		{"\x80\x80\x80\x80\x08", 0, Bad},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 0, Bad},
	} {
		start, end := Extent([]byte(tt.in), 0)
		assert.Equal(t, []int{tt.start, tt.end}, []int{start, end}, "%x", tt.in)
	}
}

// FuzzSkip compares with protobuf's own reader, but for groups that are nested too deep for ours.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{"\x08\x01", "\x09\x00\x00\x00\x00\x00\x00\x00\x00", "\x0a\x01a", "\x0d\x00\x00\x00\x00", "\x0b\x08\x01\x0c", "\x0b\x13\x14\x0c", "\x0b\x14", "\x0c", "\x0f", "\x00\x00", "\x0a\x05a", "", "\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		key, i := Varint(b, 0)
		if i < 0 {
			return
		}
		after := Skip(b, i, key)
		n, wireType := protowire.Number(key>>3), protowire.Type(key&7)
		want := -1
		if key>>3 <= maxField {
			want = protowire.ConsumeFieldValue(n, wireType, b[i:])
		}
		if n < 1 || want < 0 || i+want > len(b) {
			require.Equal(t, Bad, after)
			return
		}
		if wireType == protowire.StartGroupType && after == Bad {
			return // too deep, or a length that ours takes no part in
		}
		require.Equal(t, i+want, after)
	})
}
