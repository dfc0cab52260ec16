package jsonappend

import (
	"encoding/base64"
	"encoding/binary"
)

// ID16 appends the id as a string of 16 lower-case hexadecimal digits. It is no number of JSON: many readers take those for doubles, and lose
// the last digits of what is above 2^53.
func ID16(dst []byte, id uint64) []byte {
	var b [18]byte
	b[0], b[17] = '"', '"'
	putHex(b[1:], id)
	return append(dst, b[:]...)
}

// ID32 appends an id of 128 bits as a string of 32 lower-case hexadecimal digits.
func ID32(dst []byte, high, low uint64) []byte {
	var b [34]byte
	b[0], b[33] = '"', '"'
	putHex(b[1:], high)
	putHex(b[17:], low)
	return append(dst, b[:]...)
}

// putHex writes sixteen digits.
func putHex(b []byte, v uint64) {
	_ = b[15]
	binary.BigEndian.PutUint64(b, eightHex(uint32(v>>32)))
	binary.BigEndian.PutUint64(b[8:], eightHex(uint32(v)))
}

// eightHex spreads eight half-bytes over a word and makes a digit of each at once.
func eightHex(v uint32) uint64 {
	w := uint64(v)
	w = (w | w<<16) & 0x0000ffff0000ffff
	w = (w | w<<8) & 0x00ff00ff00ff00ff
	w = (w | w<<4) & 0x0f0f0f0f0f0f0f0f
	// A half-byte of ten or more carries into its byte's bit 4 when six is added: there it takes what lies between '9'+1 and 'a'.
	letters := (w + 6*everyByte) >> 4 & everyByte
	return w + '0'*everyByte + letters*('a'-'9'-1)
}

// Bytes appends b as a string in standard base64 with padding.
func Bytes(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}
