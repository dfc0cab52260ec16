package hll

// raise brings a register of a dense sketch up to rho.
func (s *Sketch) raise(register uint32, rho uint8) {
	w := &s.words[register/8]
	shift := register % 8 * 8
	if old := uint8(*w >> shift); rho > old {
		*w += uint64(rho-old) << shift
	}
}

// toDense enters the dense form from another.
func (s *Sketch) toDense() {
	if s.form == dense {
		return
	}
	var scratch [maxSparse]uint32
	keys := s.appendKeys(scratch[:0])
	s.resize(maxWords)
	*s = Sketch{words: s.words, form: dense}
	for _, k := range keys {
		s.raise(keyPosition(k))
	}
}

// maxBytes returns the larger of each pair of bytes, all of which must be below 128.
func maxBytes(x, y uint64) uint64 {
	const high = 0x8080808080808080
	less := (x | high) - y & ^uint64(high)
	less = ^less & high // where x < y
	less = less - less>>7 | less
	return x&^less | y&less
}
