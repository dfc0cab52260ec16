package dogstatsd

import (
	"encoding/binary"
	"math/bits"
)

// nameEnd returns the index of the first colon, pipe or line end in b from i on, or len(b).
func nameEnd(b []byte, i int) int {
	if i < 0 {
		return 0 // never: it only tells the compiler that b can be indexed below
	}
	for ; i <= len(b)-8; i += 8 {
		word := binary.LittleEndian.Uint64(b[i : i+8])
		found := (alarms(word) | ((word ^ ':'*ones) - ones)) & high
		if found == 0 {
			continue
		}
		at := bits.TrailingZeros64(found) & 56
		if c := byte(word >> at); c == ':' || c == '|' || c == '\n' {
			return i + at/8
		}
		if found = marks(word, ':') | marks(word, '|') | marks(word, '\n'); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != ':' && b[i] != '|' && b[i] != '\n' {
		i++
	}
	return i
}

// fieldEnd returns the index of the first pipe or line end in b from i on, or len(b).
func fieldEnd(b []byte, i int) int {
	if i < 0 {
		return 0
	}
	for ; i <= len(b)-32; i += 32 {
		if alarmed(b[i : i+32]) {
			break
		}
	}
	if n := len(b) - 32; n >= 0 && i > n && !alarmed(b[n:n+32]) {
		return len(b)
	}
	for ; i <= len(b)-8; i += 8 {
		word := binary.LittleEndian.Uint64(b[i : i+8])
		found := alarms(word) & high
		if found == 0 {
			continue
		}
		at := bits.TrailingZeros64(found) & 56
		if c := byte(word >> at); c == '|' || c == '\n' {
			return i + at/8
		}
		if found = marks(word, '|') | marks(word, '\n'); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != '|' && b[i] != '\n' {
		i++
	}
	return i
}

// alarmed says whether there are alarms in b, which has 32 bytes.
func alarmed(b []byte) bool {
	b = b[:32]
	return (alarms(binary.LittleEndian.Uint64(b))|alarms(binary.LittleEndian.Uint64(b[8:]))|
		alarms(binary.LittleEndian.Uint64(b[16:]))|alarms(binary.LittleEndian.Uint64(b[24:])))&high != 0
}

// Fields are too short for calls of IndexByte, of which it would take two, and too long for a loop over bytes. So they are looked at 8 bytes
// at once, as one number; each constant below is the same byte 8 times.
const (
	ones = 0x0101010101010101
	high = 0x80 * ones
)

// alarms sets the highest bit of the bytes of word that are a pipe, a line end or one of the few that stand near them in ASCII, or no
// ASCII at all. It takes half as long as to look for the two. Of several marks the lowest is a true one; behind it there may be others.
func alarms(word uint64) uint64 { return (word + (0x80-'|')*ones) | (word - ('\n'+1)*ones) }

// marks sets the highest bit of the bytes of word that equal c. Of several marks only the lowest is sure to be right.
func marks(word uint64, c byte) uint64 {
	x := word ^ uint64(c)*ones
	return (x - ones) &^ x & high
}
