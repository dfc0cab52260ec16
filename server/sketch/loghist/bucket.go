package loghist

import "math/bits"

const (
	// SubBuckets is into how many buckets each power of two is cut. Sketches with another number do not merge.
	SubBuckets = 1 << precision
	// Max is the largest value that is told apart, an hour; a larger one counts as this.
	Max = 3600 * 1_000_000_000
	// Buckets is how many buckets there are.
	Buckets = Max>>maxShift + maxShift<<precision + 1

	precision = 6
	maxShift  = 35 // Max has 42 bits, of which the upper seven choose the bucket
)

// Index returns the bucket of a value, which must not be larger than Max. Below SubBuckets each value has a bucket to itself.
func Index(value uint64) uint32 {
	shift := max(0, bits.Len64(value)-precision-1)
	return uint32(shift<<precision) + uint32(value>>shift)
}

// Bounds returns the least and the largest value of a bucket.
func Bounds(index uint32) (low, high uint64) {
	if index < 2*SubBuckets {
		return uint64(index), uint64(index)
	}
	shift := index>>precision - 1
	low = uint64(index-shift<<precision) << shift
	return low, low + 1<<shift - 1
}

// Value returns the value in the middle of a bucket, by which all of it is told.
func Value(index uint32) uint64 {
	low, high := Bounds(index)
	return min(low+(high-low)/2, Max)
}
