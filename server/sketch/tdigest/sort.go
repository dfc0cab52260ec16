package tdigest

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// sortValues sorts the waiting values, and with them their weights.
func (d *Digest) sortValues() {
	if d.mixed() {
		sortWeighted(d.values, d.rest.weights)
		return
	}
	sortFloats(d.values)
}

const (
	// few values are sorted as they are; radix passes cost as much as sorting some thirty.
	few = 32
	// maxMoves is how long the insertion sort behind the radix passes may try. It meets its end only when most values
	// agree in the bits that the passes looked at.
	maxMoves = 8 * maxRaw
	mask     = maxRaw - 1

	digit     = 9
	digitMask = 1<<digit - 1
)

// sortFloats sorts at most maxRaw finite values: two radix passes over the upper 18 bits of where a value is between the
// least and the greatest, then an insertion sort, which has little left to do. This is five times as fast as a
// comparison sort, whose branches the processor cannot foresee.
func sortFloats(values []float64) {
	if len(values) <= few {
		slices.Sort(values)
		return
	}
	var a, b [maxRaw]uint64
	n := len(values) & (2*maxRaw - 1)
	low, high := ^uint64(0), uint64(0)
	for i, v := range values {
		k := sortKey(v)
		a[i&mask] = k
		if k < low {
			low = k
		}
		if k > high {
			high = k
		}
	}
	shift := max(0, bits.Len64(high-low)-2*digit)
	var c0, c1 [1 << digit]uint16
	for _, k := range a[:n] {
		k = (k - low) >> (shift & 63)
		c0[k&digitMask]++
		c1[k>>digit&digitMask]++
	}
	var at0, at1 uint16
	for i := range c0 {
		n0, n1 := c0[i], c1[i]
		c0[i], c1[i] = at0, at1
		at0 += n0
		at1 += n1
	}
	for _, k := range a[:n] {
		at := &c0[(k-low)>>(shift&63)&digitMask]
		b[*at&mask] = k
		*at++
	}
	shift += digit
	for _, k := range b[:n] {
		at := &c1[(k-low)>>(shift&63)&digitMask]
		a[*at&mask] = k
		*at++
	}
	finish(a[:n])
	for i, k := range a[:n] {
		values[i] = fromSortKey(k)
	}
}

// finish sorts what is nearly sorted.
func finish(keys []uint64) {
	moves := 0
	for i := 1; i < len(keys); i++ {
		k, j := keys[i], i
		for j > 0 && keys[j-1] > k {
			keys[j] = keys[j-1]
			j--
		}
		keys[j] = k
		if moves += i - j; moves > maxMoves {
			slices.Sort(keys)
			return
		}
	}
}

// sortWeighted is sortFloats for values that have a weight each.
func sortWeighted(values, weights []float64) {
	type item struct {
		key    uint64
		weight float64
	}
	var items [maxRaw]item
	n := len(values) & (2*maxRaw - 1)
	for i, v := range values {
		items[i&mask] = item{sortKey(v), weights[i]}
	}
	slices.SortFunc(items[:n], func(x, y item) int { return cmp.Compare(x.key, y.key) })
	for i, it := range items[:n] {
		values[i], weights[i] = fromSortKey(it.key), it.weight
	}
}

// sortKey maps a float64 to an integer of the same order.
func sortKey(v float64) uint64 {
	b := math.Float64bits(v)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

func fromSortKey(k uint64) float64 {
	return math.Float64frombits(k ^ (^uint64(int64(k)>>63) | 1<<63))
}
