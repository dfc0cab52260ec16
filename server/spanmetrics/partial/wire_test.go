package partial

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/ssf"
)

// filled is a set with everything in it: groups, tags, exemplars, excess of services and overall.
func filled(n int) *Set {
	s := New(uniform(3, 5, 12))
	in := stream(rand.New(rand.NewPCG(uint64(n), 0)), n)
	for i := range in {
		in[i].Tags = []ssf.Tag{{Key: "env", Value: "prod"}}
		s.Add(&in[i], int64(i))
	}
	return s
}

func TestWireIsThatOfTheSchema(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000} {
		wire := filled(n).AppendTo(nil)
		var m Aggregate
		require.NoError(t, m.Unmarshal(wire), "%d spans", n)
		want, err := m.Marshal()
		require.NoError(t, err)
		assert.Equal(t, want, wire, "%d spans", n)

		var d decoder
		require.NoError(t, d.decode(wire, new(hll.Sketch)))
		got, err := d.aggregate.Marshal()
		require.NoError(t, err)
		assert.Equal(t, want, got, "%d spans", n)
	}
}

// A decoder's arrays are used again: nothing of one message shows in the next.
func TestDecoderCarriesNothingOver(t *testing.T) {
	var d decoder
	for _, n := range []int{1000, 3, 400, 0, 1000} {
		wire := filled(n).AppendTo(nil)
		require.NoError(t, d.decode(wire, new(hll.Sketch)))
		got, err := d.aggregate.Marshal()
		require.NoError(t, err)
		require.Equal(t, wire, got, "%d spans", n)
	}
}

func TestRefusals(t *testing.T) {
	overflow := &Overflow{Operations: []byte("no estimator")}
	for _, tt := range []struct {
		name string
		m    Aggregate
		want error
	}{
		{"no sub-buckets", Aggregate{}, ErrBuckets},
		{"other sub-buckets", Aggregate{SubBuckets: 32}, ErrBuckets},
		{"bad estimator", Aggregate{SubBuckets: 64, Overflow: overflow}, ErrMessage},
		{"bad estimator of a service", Aggregate{SubBuckets: 64, Services: []Service{{Name: "a", Overflow: overflow}}}, ErrMessage},
		{"bad estimator of services", Aggregate{SubBuckets: 64, OverflowedServices: []byte("no")}, ErrMessage},
		{
			"no such bucket",
			Aggregate{SubBuckets: 64, Services: []Service{{Name: "a", Operations: []Operation{{Duration: loghist.Sketch{Index: loghist.Buckets, Count: 1}}}}}},
			ErrMessage,
		},
	} {
		wire, err := tt.m.Marshal()
		require.NoError(t, err)
		s := New(unlimited)
		require.Equal(t, tt.want, s.Merge(wire), tt.name)
		require.True(t, s.Empty(), "%s: something was added", tt.name)
	}
	wire := filled(300).AppendTo(nil)
	for n := 0; n < len(wire); n += 1 + n/60 {
		s := New(unlimited)
		if err := s.Merge(wire[:n]); err == nil {
			var m Aggregate
			require.NoError(t, m.Unmarshal(wire[:n]), "cut after %d bytes", n)
		}
	}
}

// A message of a later version may hold fields that we do not know.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	wire := filled(10).AppendTo(nil)
	later := append([]byte{15<<3 | wireVarint, 1, 15<<3 | wireBytes, 1, 'x', 15<<3 | wireFixed32, 1, 2, 3, 4, 0xf9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8}, wire...)
	s := New(unlimited)
	require.NoError(t, s.Merge(later))
	assert.Equal(t, show(t, filled(10)), show(t, s))
}

func FuzzMerge(f *testing.F) {
	for _, n := range []int{0, 1, 10, 200} {
		f.Add(filled(n).AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		s := New(uniform(3, 5, 12))
		if s.Merge(wire) != nil {
			require.True(t, s.Empty())
			return
		}
		again := New(uniform(3, 5, 12))
		require.NoError(t, again.Merge(s.AppendTo(nil)))
		require.Equal(t, sumsOf(s), sumsOf(again))
	})
}
