package loghist

import (
	"math"
	"math/bits"
	"slices"
)

// One is the weight of one value.
const One = 1_000_000

// Add counts a value with a weight; neither may be negative, and a weight of 0 changes nothing. It says whether the value was larger than
// Max and counts as that. It costs a binary search, and allocates only where a bucket is new.
func (m *Sketch) Add(value int64, weight uint64) (clamped bool) {
	if weight == 0 {
		return false
	}
	if value > Max {
		value, clamped = Max, true
	}
	m.add(Index(uint64(value)), weight)
	m.Sum = Plus(m.Sum, Times(value, weight))
	return clamped
}

// Times returns a value times a weight, to the nearest whole number, or the largest there is.
func Times(value int64, weight uint64) uint64 {
	if weight == One {
		return uint64(value)
	}
	high, low := bits.Mul64(uint64(value), weight)
	low, carry := bits.Add64(low, One/2, 0)
	if high += carry; high >= One {
		return math.MaxUint64
	}
	product, _ := bits.Div64(high, low, One)
	return product
}

// Plus returns the sum of two numbers, or the largest there is: whatever the order, many of them give the same.
func Plus(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

func (m *Sketch) add(index uint32, count uint64) {
	if len(m.Indexes) == 0 {
		if m.Count == 0 {
			m.Index, m.Count = index, count
			return
		}
		if m.Index == index {
			m.Count = Plus(m.Count, count)
			return
		}
		m.spread()
	}
	i, found := slices.BinarySearch(m.Indexes, index)
	if found {
		m.Counts[i] = Plus(m.Counts[i], count)
		return
	}
	m.Indexes = slices.Insert(m.Indexes, i, index)
	m.Counts = slices.Insert(m.Counts, i, count)
}

// spread moves the one bucket into the lists.
func (m *Sketch) spread() {
	if m.Count != 0 {
		m.Indexes = append(m.Indexes[:0], m.Index)
		m.Counts = append(m.Counts[:0], m.Count)
		m.Index, m.Count = 0, 0
	}
}

// Merge adds what o has counted; o is not changed, and nothing of it is kept. It allocates only where buckets are new.
func (m *Sketch) Merge(o *Sketch) {
	m.Sum = Plus(m.Sum, o.Sum)
	if len(o.Indexes) == 0 {
		if o.Count != 0 {
			m.add(o.Index, o.Count)
		}
		return
	}
	m.spread()
	n, more := len(m.Indexes), m.missing(o)
	m.Indexes = slices.Grow(m.Indexes, more)[:n+more]
	m.Counts = slices.Grow(m.Counts, more)[:n+more]
	// From the back, so that nothing is overwritten before it was moved.
	i, j := n-1, len(o.Indexes)-1
	for to := n + more - 1; j >= 0; to-- {
		switch {
		case i < 0 || m.Indexes[i] < o.Indexes[j]:
			m.Indexes[to], m.Counts[to] = o.Indexes[j], o.Counts[j]
			j--
		case m.Indexes[i] == o.Indexes[j]:
			m.Indexes[to], m.Counts[to] = m.Indexes[i], Plus(m.Counts[i], o.Counts[j])
			i--
			j--
		default:
			m.Indexes[to], m.Counts[to] = m.Indexes[i], m.Counts[i]
			i--
		}
	}
}

// missing returns how many buckets of o, which stand in its lists, m has not.
func (m *Sketch) missing(o *Sketch) int {
	more, i := 0, 0
	for _, index := range o.Indexes {
		for i < len(m.Indexes) && m.Indexes[i] < index {
			i++
		}
		if i == len(m.Indexes) || m.Indexes[i] != index {
			more++
		}
	}
	return more
}

// Clear empties the sketch and keeps its memory.
func (m *Sketch) Clear() {
	*m = Sketch{Indexes: m.Indexes[:0], Counts: m.Counts[:0]}
}

// Weight returns the weight of all values.
func (m *Sketch) Weight() uint64 {
	weight := m.Count
	for _, count := range m.Counts {
		weight = Plus(weight, count)
	}
	return weight
}

// Each calls f with every bucket that has something, ascending.
func (m *Sketch) Each(f func(index uint32, weight uint64)) {
	if m.Count != 0 {
		f(m.Index, m.Count)
	}
	for i, index := range m.Indexes {
		f(index, m.Counts[i])
	}
}

// Quantile returns the value at rank q of the weight, 0 <= q <= 1, less than 0.8 % off: the middle of the first bucket with which at least
// that part of the weight is reached. Of an empty sketch it is 0.
func (m *Sketch) Quantile(q float64) uint64 {
	rank := q * float64(m.Weight())
	index, sum := m.Index, uint64(0)
	for i, count := range m.Counts {
		index = m.Indexes[i]
		if sum = Plus(sum, count); float64(sum) >= rank {
			break
		}
	}
	return Value(index)
}
