package hll

import "math/bits"

// A key is how axiomhq/hyperloglog tells sparse members apart: the upper 25 bits of the hash (the register's 14 and 11
// more), shifted left by one. When the 11 are all zero, a register's value cannot be read from them: then the 25 bits
// are shifted left by seven, and the number of zeros that follow in the hash, plus one, stands in between with a one at
// the end.
const (
	keyBits  = 25
	moreBits = keyBits - Precision
	maxRho   = 64 - Precision + 1 // the largest value of a register
)

func keyOf(h uint64) uint32 {
	top := uint32(h >> (64 - keyBits))
	if top&(1<<moreBits-1) != 0 {
		return top << 1
	}
	zeros := uint32(bits.LeadingZeros64(h<<keyBits|1<<(keyBits-1))) + 1
	return top<<7 | zeros<<1 | 1
}

// position returns the register that a hash belongs to, and the value it asks for: the number of zeros after the
// register's bits, plus one.
func position(h uint64) (register uint32, rho uint8) {
	return uint32(h >> (64 - Precision)), uint8(bits.LeadingZeros64(h<<Precision|1<<(Precision-1))) + 1
}

// keyPosition is position for the key of a hash.
func keyPosition(k uint32) (register uint32, rho uint8) {
	if k&1 == 0 {
		return k >> (moreBits + 1), uint8(bits.LeadingZeros32(k<<(32-moreBits-1))) + 1
	}
	return k >> (32 - Precision), uint8(k>>1&63) + moreBits
}

// validKey says whether k is the key of some hash.
func validKey(k uint32) bool {
	if k&1 == 0 {
		return k>>(keyBits+1) == 0 && k>>1&(1<<moreBits-1) != 0
	}
	zeros := k >> 1 & 63
	return k>>7&(1<<moreBits-1) == 0 && zeros >= 1 && zeros <= 64-keyBits+1
}

// insertKey adds a key to a sketch that is not exact.
func (s *Sketch) insertKey(k uint32) {
	if s.form == dense {
		s.raise(keyPosition(k))
		return
	}
	if s.findKey(k) {
		return
	}
	if int(s.n) == maxSparse {
		s.toDense()
		s.raise(keyPosition(k))
		return
	}
	if (int(s.n)+1)*loadDen > 2*len(s.words)*loadNum {
		s.rebuildSparse(2 * len(s.words))
	}
	s.addKey(k)
}

// findKey looks a key up. 0 is the key of no hash and marks a free slot.
func (s *Sketch) findKey(k uint32) bool {
	if len(s.words) == 0 {
		return false
	}
	mask := uint32(2*len(s.words) - 1)
	for i := spread(k); ; i++ {
		switch s.key(i & mask) {
		case k:
			return true
		case 0:
			return false
		}
	}
}

// addKey adds a key that is not there. There must be room.
func (s *Sketch) addKey(k uint32) {
	mask := uint32(2*len(s.words) - 1)
	i := spread(k) & mask
	for s.key(i) != 0 {
		i = (i + 1) & mask
	}
	s.words[i/2] |= uint64(k) << (32 * (i & 1))
	s.n++
}

func (s *Sketch) key(i uint32) uint32 { return uint32(s.words[i/2] >> (32 * (i & 1))) }

// spread makes the low bits of a key, which are often alike, choose a slot well.
func spread(k uint32) uint32 {
	k *= 0x9e3779b1 // the golden ratio, after Knuth
	return k ^ k>>15
}

func (s *Sketch) eachKey(f func(uint32)) {
	for _, w := range s.words {
		if k := uint32(w); k != 0 {
			f(k)
		}
		if k := uint32(w >> 32); k != 0 {
			f(k)
		}
	}
}

// toSparse leaves the exact form.
func (s *Sketch) toSparse() {
	if s.form == exact {
		s.rebuildSparse(len(s.words))
	}
}

// rebuildSparse puts what the sketch has in a table of keys of so many words, which must have room.
func (s *Sketch) rebuildSparse(words int) {
	var scratch [maxSparse]uint32
	keys := s.appendKeys(scratch[:0])
	s.resize(max(1, words))
	*s = Sketch{words: s.words, form: sparse}
	for _, k := range keys {
		if !s.findKey(k) {
			s.addKey(k)
		}
	}
}

// appendKeys appends the keys of a sketch that is not dense; from the exact form some may be there twice.
func (s *Sketch) appendKeys(keys []uint32) []uint32 {
	if s.form == sparse {
		s.eachKey(func(k uint32) { keys = append(keys, k) })
		return keys
	}
	if s.zero {
		keys = append(keys, keyOf(0))
	}
	for _, h := range s.words {
		if h != 0 {
			keys = append(keys, keyOf(h))
		}
	}
	return keys
}
