package hll

import "encoding/binary"

// DecodeError is the reason why bytes were refused: one of the constants, fit to be counted under.
type DecodeError string

// The reasons of Decode.
const (
	ErrTruncated DecodeError = "truncated"
	ErrVersion   DecodeError = "version"
	ErrPrecision DecodeError = "precision"
	ErrForm      DecodeError = "form"
	ErrLength    DecodeError = "length"
	ErrKey       DecodeError = "key"
	ErrRegister  DecodeError = "register"
)

func (e DecodeError) Error() string { return "hll: bad " + string(e) }

// Decode replaces the contents by the set that b holds in version 1 or 2 of axiomhq/hyperloglog. It keeps nothing of b.
//
// Everything is checked before anything is made of it: version, precision 14, lengths that agree with each other and
// with b, keys that some hash has, in ascending order where they are a list, and registers in range. The memory taken
// is at most ten times the length of b. The error is a DecodeError, and then the set is empty.
func (s *Sketch) Decode(b []byte) error {
	s.Reset()
	if len(b) < headerLength {
		return ErrTruncated
	}
	version, base := b[0], b[2]
	if version != 1 && version != 2 {
		return ErrVersion
	}
	if b[1] != Precision {
		return ErrPrecision
	}
	count, rest := binary.BigEndian.Uint32(b[4:]), b[headerLength:]
	switch {
	case b[3] == formSparse:
		return s.decodeSparse(count, rest)
	case b[3] != formDense:
		return ErrForm
	case version == 1:
		return s.decodeNibbles(count, base, rest)
	case base != 0:
		return ErrForm
	}
	return s.decodeBytes(count, rest)
}

// decodeSparse reads so many loose keys, and a list of keys.
func (s *Sketch) decodeSparse(count uint32, b []byte) error {
	if uint64(len(b)) < 4*uint64(count)+listHeader {
		return ErrTruncated
	}
	loose, b := b[:4*count], b[4*count:]
	for i := 0; i < len(loose); i += 4 {
		if !validKey(binary.BigEndian.Uint32(loose[i:])) {
			return ErrKey
		}
	}
	listed, last, length := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	list := b[listHeader:]
	if uint64(len(list)) != uint64(length) {
		return ErrLength
	}
	if err := checkList(list, listed, last); err != nil {
		return err
	}
	total := int(count) + int(listed)
	if total == 0 {
		return nil
	}
	words := 1
	for total*loadDen > 2*words*loadNum && words < maxWords {
		words *= 2
	}
	s.resize(words)
	s.form = sparse
	for i := 0; i < len(loose); i += 4 {
		s.insertKey(binary.BigEndian.Uint32(loose[i:]))
	}
	key := uint64(0)
	for len(list) > 0 {
		step, n := binary.Uvarint(list)
		key, list = key+step, list[n:]
		s.insertKey(uint32(key))
	}
	return nil
}

// checkList walks over the differences of a list of keys.
func checkList(list []byte, count, last uint32) error {
	key, seen := uint64(0), uint32(0)
	for len(list) > 0 {
		step, n := binary.Uvarint(list)
		if n <= 0 || step == 0 || step > 1<<32-1 {
			return ErrKey
		}
		key, list = key+step, list[n:]
		if key > 1<<32-1 || !validKey(uint32(key)) {
			return ErrKey
		}
		seen++
	}
	if seen != count || uint32(key) != last {
		return ErrLength
	}
	return nil
}

// decodeNibbles reads the registers of version 1.
func (s *Sketch) decodeNibbles(count uint32, base uint8, b []byte) error {
	if count != registers/2 || len(b) != registers/2 {
		return ErrLength
	}
	for _, pair := range b {
		if int(base)+int(max(pair>>4, pair&15)) > maxRho {
			return ErrRegister
		}
	}
	s.resize(maxWords)
	s.form = dense
	for i := range s.words {
		w := uint64(0)
		for j := 3; j >= 0; j-- {
			pair := b[4*i+j]
			w = w<<16 | uint64(base+pair&15)<<8 | uint64(base+pair>>4)
		}
		s.words[i] = w
	}
	return nil
}

// decodeBytes reads the registers of version 2.
func (s *Sketch) decodeBytes(count uint32, b []byte) error {
	if count != registers || len(b) != registers {
		return ErrLength
	}
	for _, rho := range b {
		if rho > maxRho {
			return ErrRegister
		}
	}
	s.resize(maxWords)
	s.form = dense
	for i := range s.words {
		s.words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return nil
}
