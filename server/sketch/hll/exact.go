package hll

// insertExact puts a hash in the table of hashes.
func (s *Sketch) insertExact(h uint64) {
	if h == 0 {
		if !s.zero {
			s.zero = true
			s.checkExact()
		}
		return
	}
	if s.findHash(h) {
		return
	}
	if (int(s.n)+1)*loadDen > len(s.words)*loadNum {
		s.growExact()
	}
	s.addHash(h)
	s.checkExact()
}

// checkExact leaves the exact form once it has more than maxExact members.
func (s *Sketch) checkExact() {
	if s.exactCount() > maxExact {
		s.toSparse()
	}
}

func (s *Sketch) exactCount() int {
	if s.zero {
		return int(s.n) + 1
	}
	return int(s.n)
}

func (s *Sketch) findHash(h uint64) bool {
	if len(s.words) == 0 {
		return false
	}
	mask := uint64(len(s.words) - 1)
	for i := h & mask; s.words[i&mask] != 0; i++ {
		if s.words[i&mask] == h {
			return true
		}
	}
	return false
}

// addHash adds a hash that is not there. There must be room.
func (s *Sketch) addHash(h uint64) {
	mask := uint64(len(s.words) - 1)
	i := h & mask
	for s.words[i] != 0 {
		i = (i + 1) & mask
	}
	s.words[i] = h
	s.n++
}

// growExact makes the table four times as large; a table of 512 is the last to grow.
func (s *Sketch) growExact() {
	var scratch [maxWords / 4]uint64
	old := scratch[:copy(scratch[:], s.words)]
	s.resize(max(2, 4*len(s.words)))
	s.n = 0
	for _, h := range old {
		if h != 0 {
			s.addHash(h)
		}
	}
}
