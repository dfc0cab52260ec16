// Package pbread reads protobuf messages where they lie, for those who make JSON of them without a struct in between. It is a few functions
// over a slice and a position, since a reader with state of its own would be several times slower. A loop over the fields of b reads:
//
//	for i := 0; i < len(b); {
//		key, i = pbread.Varint(b, i)
//		switch {
//		case i < 0:
//			return errBad
//		case key == 1<<3|pbread.WireBytes:
//			start, i = pbread.Extent(b, i) // b[start:i]
//		case key == 2<<3|pbread.WireVarint:
//			v, i = pbread.Varint(b, i)
//		default:
//			i = pbread.Skip(b, i, key)
//		}
//		if uint(i) > uint(len(b)) {
//			return errBad
//		}
//	}
//
// Positions that are negative or past the end of b mean that the message is malformed; which of the two has no meaning.
package pbread

import (
	"encoding/binary"
	"math/bits"
)

// Wire types, the low three bits of a field's key. 6 and 7 do not exist.
const (
	WireVarint  = 0
	WireFixed64 = 1
	WireBytes   = 2
	WireGroup   = 3
	WireEnd     = 4
	WireFixed32 = 5
)

const (
	// Bad is a position that stands for malformed bytes.
	Bad = -1

	maxField  = 1<<29 - 1
	maxGroups = 100
)

// Varint reads the number at b[i], of ten bytes at most, and gives the position after it. Times and ids take nine or ten bytes, of which
// eight are read at once: the lowest clear top bit marks the last byte, and three steps push the 7-bit digits together.
func Varint(b []byte, i int) (v uint64, after int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longVarint(b, i)
}

func longVarint(b []byte, i int) (uint64, int) {
	if len(b)-i < binary.MaxVarintLen64 {
		var v uint64
		for shift := 0; i < len(b); shift += 7 {
			c := b[i]
			i++
			v |= uint64(c&0x7f) << shift
			if c < 0x80 {
				return v, i
			}
		}
		return 0, Bad
	}
	w := binary.LittleEndian.Uint64(b[i:])
	if stop := ^w & 0x8080808080808080; stop != 0 {
		last := bits.TrailingZeros64(stop)
		return pack7(w & (1<<last - 1)), i + last>>3 + 1
	}
	w = pack7(w)
	c := b[i+8]
	w |= uint64(c&0x7f) << 56
	if c < 0x80 {
		return w, i + 9
	}
	// What does not fit into 64 bits is dropped, as all readers do.
	c = b[i+9]
	if c >= 0x80 {
		return 0, Bad
	}
	return w | uint64(c)<<63, i + 10
}

// pack7 pushes the low seven bits of each byte together.
func pack7(w uint64) uint64 {
	w = w&0x007f007f007f007f | w&0x7f007f007f007f00>>1
	w = w&0x00003fff00003fff | w&0x3fff00003fff0000>>2
	return w&0x000000000fffffff | w&0x0fffffff00000000>>4
}

// Extent reads the length at b[i] and gives where its content begins and ends.
func Extent(b []byte, i int) (start, end int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return i + 1, i + 1 + int(b[i])
	}
	n, i := longVarint(b, i)
	if i < 0 || n > uint64(len(b)-i) {
		return 0, Bad
	}
	return i, i + int(n)
}

// Fixed64 reads the eight bytes at b[i].
func Fixed64(b []byte, i int) (v uint64, after int) {
	if len(b)-i < 8 {
		return 0, Bad
	}
	return binary.LittleEndian.Uint64(b[i:]), i + 8
}

// Fixed32 reads the four bytes at b[i].
func Fixed32(b []byte, i int) (v uint32, after int) {
	if len(b)-i < 4 {
		return 0, Bad
	}
	return binary.LittleEndian.Uint32(b[i:]), i + 4
}

// Skip gives the position after the value of a field that is not known. i stands after its key.
func Skip(b []byte, i int, key uint64) (after int) {
	if field := key >> 3; field == 0 || field > maxField {
		return Bad
	}
	if key&7 == WireGroup {
		return skipGroup(b, i, key>>3)
	}
	return skipValue(b, i, key&7)
}

func skipValue(b []byte, i int, wireType uint64) int {
	switch wireType {
	case WireVarint:
		_, i = Varint(b, i)
	case WireFixed64:
		_, i = Fixed64(b, i)
	case WireBytes:
		_, i = Extent(b, i)
	case WireFixed32:
		_, i = Fixed32(b, i)
	default:
		return Bad
	}
	if uint(i) > uint(len(b)) {
		return Bad
	}
	return i
}

// skipGroup keeps a list of the open groups, since recursion would let one packet exhaust the stack.
func skipGroup(b []byte, i int, field uint64) int {
	var open [maxGroups]uint64
	open[0] = field
	for depth := 1; depth > 0; {
		var key uint64
		if key, i = Varint(b, i); i < 0 {
			return Bad
		}
		field := key >> 3
		if field == 0 || field > maxField {
			return Bad
		}
		switch key & 7 {
		case WireGroup:
			if depth == maxGroups {
				return Bad
			}
			open[depth] = field
			depth++
		case WireEnd:
			depth--
			if open[depth] != field {
				return Bad
			}
		default:
			if i = skipValue(b, i, key&7); i < 0 {
				return Bad
			}
		}
	}
	return i
}
