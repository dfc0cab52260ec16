package loghist

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var forms = []struct {
	name string
	m    *Sketch
}{
	{"empty", &Sketch{}},
	{"one value", &Sketch{Index: 1500, Count: One, Sum: 7}},
	{"zero", &Sketch{Count: One}},
	{"two", of(map[uint32]uint64{0: 1, Buckets - 1: 2})},
	{"lists longer than a byte tells", func() *Sketch {
		m := new(Sketch)
		for v := int64(1); v < Max; v += 1 + v/40 {
			m.Add(v, One+uint64(v)%5)
		}
		return m
	}()},
}

func TestWireIsThatOfTheSchema(t *testing.T) {
	for _, tt := range forms {
		t.Run(tt.name, func(t *testing.T) {
			want, err := tt.m.Marshal()
			require.NoError(t, err)
			got := tt.m.AppendTo([]byte("before"))
			assert.Equal(t, append([]byte("before"), want...), got)
			d := of(map[uint32]uint64{3: 3, 4: 4})
			require.NoError(t, d.Decode(want))
			assert.Equal(t, buckets(tt.m), buckets(d))
			assert.Equal(t, tt.m.Sum, d.Sum)
			assert.Equal(t, string(want), string(d.AppendTo(nil)))
		})
	}
}

var refusals = []struct {
	name string
	m    Sketch
}{
	{"no such bucket", Sketch{Index: Buckets, Count: 1}},
	{"no such bucket in the list", Sketch{Indexes: []uint32{1, Buckets}, Counts: []uint64{1, 1}}},
	{"not ascending", Sketch{Indexes: []uint32{2, 1}, Counts: []uint64{1, 1}}},
	{"twice", Sketch{Indexes: []uint32{2, 2}, Counts: []uint64{1, 1}}},
	{"a count too few", Sketch{Indexes: []uint32{1, 2}, Counts: []uint64{1}}},
	{"a count too many", Sketch{Counts: []uint64{1}}},
	{"both forms", Sketch{Count: 1, Indexes: []uint32{1, 2}, Counts: []uint64{1, 1}}},
	{"a bucket without a count", Sketch{Index: 3}},
}

func TestRefusals(t *testing.T) {
	for _, tt := range refusals {
		wire, err := tt.m.Marshal()
		require.NoError(t, err)
		d := of(map[uint32]uint64{3: 3})
		assert.Equal(t, ErrSketch, d.Decode(wire), tt.name)
		assert.Empty(t, buckets(d), tt.name)
	}
	for _, b := range []string{"\x08", "\x08\x80", "\x1a\x05\x01", "\x00\x00", "\x1a\x01\x80", "\x0d\x01\x02\x03\x04"} {
		assert.Equal(t, ErrSketch, new(Sketch).Decode([]byte(b)), "%x", b)
	}
	long := forms[len(forms)-1].m.AppendTo(nil)
	for n := 1; n < len(long); n++ {
		if new(Sketch).Decode(long[:n]) == nil {
			var m Sketch
			require.NoError(t, m.Unmarshal(long[:n]), "cut after %d bytes", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, tt := range forms {
		f.Add(tt.m.AppendTo(nil))
	}
	for _, tt := range refusals {
		b, _ := tt.m.Marshal()
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Sketch
		if m.Decode(b) != nil {
			return
		}
		var again Sketch
		require.NoError(t, again.Decode(m.AppendTo(nil)))
		require.Equal(t, buckets(&m), buckets(&again))
		again.Merge(&m)
		again.Quantile(0.5)
	})
}
