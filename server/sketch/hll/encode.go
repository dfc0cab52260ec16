package hll

import (
	"encoding/binary"
	"slices"
)

// The bytes of axiomhq/hyperloglog: version, precision, base, form; then, numbers big-endian,
//
//	sparse  count and keys (4 bytes each) in any order; count, last key, length, and the ascending keys as the
//	        differences from one to the next in base 128, low groups first
//	dense   count of bytes and, in version 1, two registers a byte less the base, the earlier one in the upper half;
//	        in version 2 a register a byte, the base 0
const (
	headerLength = 8 // with the first count
	listHeader   = 12

	formDense  = 0
	formSparse = 1
)

// AppendBinary appends the sketch in version 1, which all versions read, the original Veneur's among them. Equal sets
// give equal bytes. Version 1 has four bits a register: where a value is over the least by more than 15 it is cut, which
// changes the estimate by less than a thousandth of its error.
func (s *Sketch) AppendBinary(b []byte) []byte {
	if s.form == dense {
		return s.appendDense(b)
	}
	var scratch [maxSparse]uint32
	keys := s.appendKeys(scratch[:0])
	slices.Sort(keys)
	keys = slices.Compact(keys)
	last := uint32(0)
	if len(keys) > 0 {
		last = keys[len(keys)-1]
	}
	b = append(b, 1, Precision, 0, formSparse, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(keys)))
	b = binary.BigEndian.AppendUint32(b, last)
	b = append(b, 0, 0, 0, 0)
	start := len(b)
	before := uint32(0)
	for _, k := range keys {
		b = binary.AppendUvarint(b, uint64(k-before))
		before = k
	}
	binary.BigEndian.PutUint32(b[start-4:], uint32(len(b)-start))
	return b
}

func (s *Sketch) appendDense(b []byte) []byte {
	base := s.base()
	b = append(b, 1, Precision, base, formDense)
	b = binary.BigEndian.AppendUint32(b, registers/2)
	for _, w := range s.words {
		for range 4 {
			b = append(b, nibble(uint8(w), base)<<4|nibble(uint8(w>>8), base))
			w >>= 16
		}
	}
	return b
}

// base returns what to take off each register so that most fit four bits: nothing when all do, else the least.
func (s *Sketch) base() uint8 {
	least, most := uint8(maxRho), uint8(0)
	for _, w := range s.words {
		for range 8 {
			least, most = min(least, uint8(w)), max(most, uint8(w))
			w >>= 8
		}
	}
	if most <= 15 {
		return 0
	}
	return least
}

func nibble(rho, base uint8) uint8 { return min(rho-base, 15) }
