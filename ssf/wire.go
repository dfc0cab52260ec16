package ssf

import (
	"math"
	"math/bits"
)

// Protobuf's wire types. 6 and 7 do not exist.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireGroup   = 3
	wireEnd     = 4
	wireFixed32 = 5
)

const (
	maxField = 1<<29 - 1
	maxDepth = 100
)

// Negative positions are the faults of the functions that read one number.
const (
	atTruncated = -1 - iota
	atVarint
	atLength
)

// faultAt is the reason behind a position that is negative, or past the end of what was read.
func faultAt(i int) error {
	switch i {
	case atVarint:
		return ReasonVarint
	case atLength:
		return ReasonLength
	default:
		return ReasonTruncated
	}
}

// moreBits are the bits of eight bytes of a number that say that it goes on.
const moreBits = 0x8080808080808080

// varint reads the number at b[i] and gives the position after it, or a negative one. Times and ids take nine or ten bytes, of
// which eight are read at once: the lowest clear top bit marks the last byte, and three steps push the 7-bit digits together.
func varint(b string, i int) (uint64, int) {
	if len(b)-i < 10 {
		return tailVarint(b, i)
	}
	w := load64(b, i)
	if w&0x80 == 0 {
		return w & 0x7f, i + 1
	}
	if stop := ^w & moreBits; stop != 0 {
		last := bits.TrailingZeros64(stop)
		return pack7(w & (1<<last - 1) &^ moreBits), i + last>>3 + 1
	}
	w = pack7(w &^ moreBits)
	c := b[i+8]
	w |= uint64(c&0x7f) << 56
	if c < 0x80 {
		return w, i + 9
	}
	// What does not fit into 64 bits is dropped, as C++ and gogofast do.
	c = b[i+9]
	if c >= 0x80 {
		return 0, atVarint
	}
	return w | uint64(c)<<63, i + 10
}

// pack7 pushes the low seven bits of each byte together; the top bits are clear.
func pack7(w uint64) uint64 {
	w -= w & 0x7f007f007f007f00 >> 1
	high := w & 0x3fff00003fff0000
	w = w - high + high>>2
	return uint64(uint32(w)) | w>>32<<28
}

// tailVarint reads byte by byte where ten bytes are not left.
func tailVarint(b string, i int) (uint64, int) {
	var v uint64
	for shift := 0; i < len(b); shift += 7 {
		c := b[i]
		i++
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, atTruncated
}

// extent reads the length at b[i] and gives where its content begins and ends. The end is negative, or past the end of b, if
// there is no such content.
func extent(b string, i int) (start, end int) {
	if i < len(b) && b[i] < 0x80 {
		return i + 1, i + 1 + int(b[i])
	}
	n, i := varint(b, i)
	switch {
	case i < 0:
		return 0, i
	case n > math.MaxInt32:
		return 0, atLength
	}
	return i, i + int(n)
}

// load32 and load64 read the number of so many bits at b[i]; they are there, and i is not negative.
func load32(b string, i int) uint32 {
	b = b[i : i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func load64(b string, i int) uint64 {
	b = b[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// skipUnknown gives the position after the value of a field that the message with the known field numbers (a bit each) does not
// have. i stands after the field's key.
func skipUnknown(b string, i int, key uint64, known uint32) (int, error) {
	field := key >> 3
	switch {
	case field == 0 || field > maxField:
		return 0, ReasonField
	case field < 32 && known>>field&1 == 1:
		return 0, ReasonWireType
	case key&7 == wireGroup:
		return skipGroup(b, i, field)
	}
	return skipValue(b, i, key&7)
}

func skipValue(b string, i int, wireType uint64) (int, error) {
	switch wireType {
	case wireVarint:
		_, i = varint(b, i)
	case wireFixed64:
		i += 8
	case wireBytes:
		_, i = extent(b, i)
	case wireFixed32:
		i += 4
	case wireEnd:
		return 0, ReasonGroup
	default:
		return 0, ReasonWireType
	}
	if uint(i) > uint(len(b)) {
		return 0, faultAt(i)
	}
	return i, nil
}

// skipGroup gives the position after the group of the field. It keeps a list of the open groups, since recursion would let one
// packet exhaust the stack.
func skipGroup(b string, i int, field uint64) (int, error) {
	var open [maxDepth]uint64
	open[0] = field
	for depth := 1; depth > 0; {
		var key uint64
		if key, i = varint(b, i); i < 0 {
			return 0, faultAt(i)
		}
		field := key >> 3
		if field == 0 || field > maxField {
			return 0, ReasonField
		}
		switch key & 7 {
		case wireGroup:
			if depth == maxDepth {
				return 0, ReasonDepth
			}
			open[depth] = field
			depth++
		case wireEnd:
			depth--
			if open[depth] != field {
				return 0, ReasonGroup
			}
		default:
			var err error
			if i, err = skipValue(b, i, key&7); err != nil {
				return 0, err
			}
		}
	}
	return i, nil
}
