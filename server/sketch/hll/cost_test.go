package hll

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pooled sketch goes through its forms, is united, written and read without allocating.
func TestNoAllocationWhenReused(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	members := make([][]byte, 5000)
	for i := range members {
		members[i] = member(i)
	}
	s, u, d := fill(0, 5000), fill(0, 5000), fill(0, 5000)
	var wire []byte
	cycle := func(n int) func() {
		return func() {
			s.Reset()
			u.Reset()
			for _, m := range members[:n] {
				s.Insert(m)
			}
			u.Insert(members[0])
			u.Merge(s)
			wire = u.AppendBinary(wire[:0])
			if err := d.Decode(wire); err != nil || d.Estimate() == 0 {
				t.Error(err)
			}
		}
	}
	for _, n := range []int{1, 900, 2000, 5000} {
		run := cycle(n)
		run()
		assert.Zero(t, testing.AllocsPerRun(5, run), "%d members", n)
	}
}

// What lies about its size takes no memory by it.
func TestB141Allocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := New()
	for _, b := range [][]byte{
		{1, Precision, 0, 1, 0xff, 0xff, 0xff, 0xff},
		{2, Precision, 0, 0, 0xff, 0xff, 0xff, 0xff},
		{1, Precision, 0, 1, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff},
	} {
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			if s.Decode(b) == nil {
				t.Error("accepted")
			}
		}), "%x", b)
	}
	// Keys of one byte each are the densest input.
	for _, n := range []int{1, 2, 7, 100, 385, 1023, 3000} {
		b := []byte{1, Precision, 0, 1, 0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n), 0, 0, 0, 0, 0, 0, byte(n >> 8), byte(n)}
		key := 0
		for range n {
			step := 2
			if !validKey(uint32(key + step)) {
				step = 4
			}
			key += step
			b = append(b, byte(step))
		}
		b[12], b[13], b[14], b[15] = byte(key>>24), byte(key>>16), byte(key>>8), byte(key)
		s := New()
		require.NoError(t, s.Decode(b))
		assert.LessOrEqual(t, 8*cap(s.words), 10*len(b), "%d keys", n)
	}
}

// BenchmarkSetInsert adds members of 18 bytes, in intervals of 65,536 distinct ones: all forms are passed through, and
// the dense one is where most of the time goes.
func BenchmarkSetInsert(b *testing.B) {
	const n = 1 << 16
	members := make([][]byte, n)
	for i := range members {
		members[i] = fmt.Appendf(nil, "customer-id-%06d", i)
	}
	s := New()
	b.SetBytes(18)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Insert(members[i])
		if i++; i == n {
			i = 0
			s.Reset()
		}
	}
}
