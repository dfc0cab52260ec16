package aggregate

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// find is what a table and the interner do by themselves, without a call a slot.
func (x *index) find(hash uint64, hashOf func(uint32) uint64) uint32 {
	s := x.segment(hash)
	for pos := slotOf(hash); s.slots[pos] != 0; pos = nextSlot(pos) {
		if n := s.slots[pos] & maxNumber; s.slots[pos]&^maxNumber == slotTag(hash) && hashOf(n) == hash {
			return n
		}
	}
	return 0
}

func TestIndexAgainstMap(t *testing.T) {
	tests := []struct {
		name string
		hash func(r *rand.Rand) uint64
	}{
		{"any hashes", func(r *rand.Rand) uint64 { return r.Uint64() }},
		{"hashes of one segment for long", func(r *rand.Rand) uint64 { return r.Uint64() >> 12 }},
		{"hashes of few slots", func(r *rand.Rand) uint64 { return r.Uint64() & 0xffff_ffff_0000_03ff }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			x := newIndex()
			hashes := []uint64{0}
			numbers := map[uint64]uint32{}
			hashOf := func(n uint32) uint64 { return hashes[n] }
			for range 20_000 {
				h := tt.hash(r)
				if _, ok := numbers[h]; ok {
					continue // drawn twice
				}
				hashes = append(hashes, h)
				n := uint32(len(hashes) - 1)
				numbers[h] = n
				x.insert(h, n, hashOf)
			}
			for h, n := range numbers {
				if r.IntN(3) > 0 {
					x.remove(h, n, hashOf)
					delete(numbers, h)
				}
			}
			for n := 1; n < len(hashes); n++ {
				if got, want := x.find(hashes[n], hashOf), numbers[hashes[n]]; got != want {
					t.Fatalf("%x is number %d, want %d", hashes[n], got, want)
				}
			}
			for h, n := range numbers {
				x.remove(h, n, hashOf)
			}
			for _, s := range x.dir {
				require.True(t, *s == segment{depth: s.depth}, "a segment is not empty")
			}
		})
	}
}
