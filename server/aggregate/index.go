package aggregate

// index finds numbers by a hash. It is an extendible hash table: a directory of segments, chosen by the upper bits of the hash, each with
// open addressing. A full segment splits in two, so no insertion ever moves more than one segment's numbers, however large the table.
//
// A slot is a number of 24 bits and 8 bits of the hash, to look at other entries seldom. Numbers start at 1.
type index struct {
	dir   []*segment
	shift uint8 // 64 less the bits that choose in dir
}

// segment is one 4 KiB piece of an index.
type segment struct {
	slots [segmentSlots]uint32 // tag<<24 | number; 0 is free
	used  uint16
	depth uint8 // bits of the hash that its numbers share
}

const (
	segmentSlots = 1020
	segmentFull  = segmentSlots * 3 / 4
	maxDepth     = 24
	numberBits   = 24
	maxNumber    = 1<<numberBits - 1
)

func newIndex() index {
	// One bit from the start keeps the shift below 64, which saves a comparison on every look.
	s := new(segment)
	return index{dir: []*segment{s, s}, shift: 63}
}

// segment returns the segment of a hash.
func (x *index) segment(hash uint64) *segment { return x.dir[hash>>(x.shift&63)] }

// slotOf returns where in its segment a hash is looked for first. The directory takes the upper bits, the tag the lowest.
func slotOf(hash uint64) uint32 { return uint32(uint64(uint32(hash)) * segmentSlots >> 32) }

// slotTag returns the part of a slot that comes from the hash.
func slotTag(hash uint64) uint32 { return uint32(hash) << numberBits }

func nextSlot(pos uint32) uint32 {
	if pos++; pos == segmentSlots {
		return 0
	}
	return pos
}

// insert adds a number that is not there yet. hashOf gives the hash of any number.
func (x *index) insert(hash uint64, number uint32, hashOf func(uint32) uint64) {
	s := x.segment(hash)
	for s.used >= segmentFull && s.depth < maxDepth {
		x.split(hash, hashOf)
		s = x.segment(hash)
	}
	s.put(hash, number)
}

func (s *segment) put(hash uint64, number uint32) {
	pos := slotOf(hash)
	for s.slots[pos] != 0 {
		pos = nextSlot(pos)
	}
	s.slots[pos] = slotTag(hash) | number
	s.used++
}

// split divides the segment of a hash by its next bit.
func (x *index) split(hash uint64, hashOf func(uint32) uint64) {
	s := x.segment(hash)
	if s.depth == 64-x.shift {
		dir := make([]*segment, 2*len(x.dir))
		for i, s := range x.dir {
			dir[2*i], dir[2*i+1] = s, s
		}
		x.dir = dir
		x.shift--
	}
	bit := uint64(1) << (63 - s.depth)
	half := [2]*segment{{depth: s.depth + 1}, {depth: s.depth + 1}}
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		number := slot & maxNumber
		h := hashOf(number)
		to := half[0]
		if h&bit != 0 {
			to = half[1]
		}
		to.put(h, number)
	}
	// All of the directory that led to s: the entries that share its depth's bits.
	n := 1 << (64 - x.shift - s.depth)
	first := int(hash>>(x.shift&63)) &^ (n - 1)
	for i := range n {
		to := half[0]
		if i >= n/2 {
			to = half[1]
		}
		x.dir[first+i] = to
	}
}

// remove takes a number out that is there. What stands behind it moves up, so that no look ends too early.
func (x *index) remove(hash uint64, number uint32, hashOf func(uint32) uint64) {
	s := x.segment(hash)
	gap := slotOf(hash)
	for s.slots[gap]&maxNumber != number {
		gap = nextSlot(gap)
	}
	for pos := nextSlot(gap); s.slots[pos] != 0; pos = nextSlot(pos) {
		home := slotOf(hashOf(s.slots[pos] & maxNumber))
		// Stays when its home lies behind the gap, going round.
		if (pos-home+segmentSlots)%segmentSlots < (pos-gap+segmentSlots)%segmentSlots {
			continue
		}
		s.slots[gap] = s.slots[pos]
		gap = pos
	}
	s.slots[gap] = 0
	s.used--
}

// bytes returns the memory the index takes.
func (x *index) bytes() int {
	n := 8 * len(x.dir)
	for i, s := range x.dir {
		if i == 0 || s != x.dir[i-1] {
			n += 4 * segmentSlots
		}
	}
	return n
}
