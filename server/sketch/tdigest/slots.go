package tdigest

import (
	"math"
	"math/bits"
)

const (
	// maxSlots bounds the slots, and the centroids, of a digest whose values are settled. One of the default compression mostly stays below it.
	maxSlots = 512
	slotMask = maxSlots - 1
	fromMask = 2*maxSlots - 1
	// cells are some more than there are clusters, so that most cells begin one at most.
	cellDigits = 9
	cells      = 1 << cellDigits
	// sharing is how many slots the first cell has besides those that begin in it.
	sharing = 4
)

// slots are the centroids of a digest, and the gaps between and around them, as a waiting value meets them: its slot is the
// last with from <= its key. They live on the stack for the time of a settling; kept, they would take more memory than
// the digest.
type slots struct {
	n     int                  // of them; another gap is behind
	from  [2 * maxSlots]uint64 // ascending, beyond any key behind the last one: the search may look there
	of    [maxSlots]slot
	first [cells + 1]uint16 // the slot in which a cell begins
	least uint64            // the key at which the cells begin; the first has what is below, too
	shift int               // from a key, counted from least, to its cell
}

// slot takes up to room values. A gap has none.
type slot struct {
	sum        float64 // of what it took
	room, took int16
	centroid   int16
}

// open lays the slots out, unless there are too many centroids, or means that are equal or too near to each other to have a slot each, as digests from
// the wire may have: what one of those took would pass the others. held is the weight of cs, total that with the waiting values, each of
// which weighs weight. In the last settling before a gathering a cluster has room for an eighth of its mass besides.
func (s *slots) open(cs []centroid, shape shape, held, total, weight float64, last bool) bool {
	mid, tail, perWeight := shape.mid*total, shape.near*total/held, 1/weight
	below, before, next := 0.0, centroid{}, uint64(0)
	n := 1 // the first is the gap below the least mean
	if len(cs) > maxSlots {
		return false // halve has room for half as many more
	}
	for i, c := range cs {
		if n >= maxSlots-2 || i > 0 && c.mean <= before.mean {
			return false
		}
		from := sortKey(c.mean)
		if c.mass > 0 { // a point takes its very value, whatever it weighs
			if before.mass > 0 && next < from {
				s.from[n&fromMask], s.of[n&slotMask] = next, slot{}
				n++
			}
			if from < next {
				return false
			}
			s.from[n&fromMask], s.of[n&slotMask] = from, slot{room: maxRaw, centroid: int16(i)}
			n++
			next = from + 1
			below += c.mass
			before = c
			continue
		}
		if before.mass > 0 {
			from = next
		} else if i > 0 {
			// Here the value reckoned from a rank passes from the one's to the other's, see at.
			from = sortKey(min(before.mean+(c.mean-before.mean)*(before.mass/(before.mass+c.mass)), c.mean))
		}
		if from < next {
			return false
		}
		limit, outside := mid, below
		if above := held - below + c.mass; above < outside {
			outside = above
		}
		if outside*tail < limit {
			limit = outside * tail
		}
		if last {
			limit = max(limit, -c.mass) - c.mass/8
		}
		room := int(min((limit+c.mass)*perWeight, maxRaw))
		room &^= room >> 63 // not below 0; half of them are, so a branch would often go wrong
		s.from[n&fromMask], s.of[n&slotMask] = from, slot{room: int16(room), centroid: int16(i)}
		n++
		next = from + 1
		below -= c.mass
		before = c
	}
	s.from[n&fromMask] = max(next, sortKey(before.mean)+1)
	s.n = n
	return true
}

// index makes the slots found fast: it cuts the keys from near the least to the greatest mean in even cells. The first few
// slots share a cell: between 0 and 1 there are as many keys as above 1, and many distributions have zeros. For one that
// crosses zero, so that many slots are in few cells, it says no.
func (s *slots) index() bool {
	n, least := s.n, s.from[min(sharing, s.n)]
	s.shift = max(0, bits.Len64(s.from[n&fromMask]-least)-cellDigits)
	for i, from := range s.from[1 : n+1] {
		cell := (max(from, least) - least) >> (s.shift & 63)
		s.first[cell&(cells-1)+1] = uint16(i + 1)
	}
	last, dense := 0, 0
	for i := range s.first {
		from := last
		last = max(last, int(s.first[i]))
		s.first[i] = uint16(last)
		if last-from >= 8 {
			dense += last - from
		}
	}
	if 2*dense > n {
		return false
	}
	s.least = least
	for i := n + 1; i < n+8; i++ {
		s.from[i&fromMask] = math.MaxUint64
	}
	return true
}

// find sets at to the slots of values. It is apart from fill, since a loop of both has more variables than there are
// registers.
func (s *slots) find(at *[maxRaw]uint16, values []float64) {
	least, shift := s.least, s.shift
	for n, v := range values {
		k := sortKey(v)
		i := int(s.first[min((max(k, least)-least)>>(shift&63), cells-1)])
		for s.from[(i+4)&fromMask] <= k { // seldom
			i += 4
		}
		// As conditions these would be branches, and go wrong every other time.
		_, less := bits.Sub64(k, s.from[(i+2)&fromMask], 0)
		i += 2 & (int(less) - 1)
		_, less = bits.Sub64(k, s.from[(i+1)&fromMask], 0)
		i += 1 & (int(less) - 1)
		at[n&mask] = uint16(i)
	}
}

// fill gives values to their slots, and returns how many it gave, which are in settled then, and how many wait on, which
// are the first ones of values then.
func (s *slots) fill(at *[maxRaw]uint16, settled *[maxRaw]float64, values []float64) (n, waiting int) {
	for i, v := range values {
		to := &s.of[at[i&mask]&slotMask]
		one := 0
		if to.took < to.room {
			one = 1
		}
		// v goes to both places and counts in one, rather than to one by a branch.
		values[waiting] = v
		settled[n&mask] = v
		waiting += 1 - one
		n += one
		to.took += int16(one)
		to.sum += math.Float64frombits(math.Float64bits(v) & -uint64(one))
	}
	return n, waiting
}

// close moves what the slots took into the centroids.
func (s *slots) close(cs []centroid, weight float64) {
	for i := 1; i < s.n; i++ {
		of := &s.of[i&slotMask]
		if of.took == 0 {
			continue
		}
		c := &cs[of.centroid]
		mass := float64(of.took) * weight
		if c.mass > 0 {
			c.mass += mass
			continue
		}
		c.mass -= mass
		mean := c.mean + (of.sum-c.mean*float64(of.took))*(weight/-c.mass)
		// Rounding must not take it past a neighbour's.
		low, high := fromSortKey(s.from[i&fromMask]), fromSortKey(s.from[(i+1)&fromMask])
		c.mean = within(mean, min(c.mean, low), max(c.mean, high))
	}
}
