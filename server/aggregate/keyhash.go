package aggregate

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// keyHash hashes the keys of tables. Its numbers are drawn by each process for itself, so that nobody outside can aim at a slot.
//
// It folds 16 bytes at a time by a multiplication of 64 by 64 bits, of which both halves are kept, as Go's own hash does on processors
// without AES. A key has two parts, and two calls of hash/maphash cost half as much again; a key that is found is compared in any case, so that
// no more is asked of the hash than to spread keys.
type keyHash struct{ name, tags, left, last uint64 }

func newKeyHash() keyHash {
	draw := func() uint64 { return maphash.Bytes(maphash.MakeSeed(), nil) }
	return keyHash{draw(), draw(), draw(), draw()}
}

// of returns the hash of a key.
func (k *keyHash) of(m meta, name, tags []byte) uint64 {
	a := k.name ^ uint64(m)<<32 ^ uint64(len(name))
	if len(name) < 16 {
		a = k.short(a, name)
	} else {
		for i := 0; i < len(name)-16; i += 16 {
			part := name[i : i+16]
			a = fold(binary.LittleEndian.Uint64(part)^k.left, binary.LittleEndian.Uint64(part[8:])^a)
		}
		end := name[len(name)-16:]
		a = fold(binary.LittleEndian.Uint64(end)^k.last, binary.LittleEndian.Uint64(end[8:])^a)
	}
	b := k.tags ^ uint64(len(tags))
	if len(tags) < 16 {
		b = k.short(b, tags)
	} else {
		for i := 0; i < len(tags)-16; i += 16 {
			part := tags[i : i+16]
			b = fold(binary.LittleEndian.Uint64(part)^k.left, binary.LittleEndian.Uint64(part[8:])^b)
		}
		end := tags[len(tags)-16:]
		b = fold(binary.LittleEndian.Uint64(end)^k.last, binary.LittleEndian.Uint64(end[8:])^b)
	}
	return fold(a, b)
}

// short goes on with less than 16 bytes.
func (k *keyHash) short(h uint64, b []byte) uint64 {
	var left, right uint64
	switch n := len(b); {
	case n >= 8:
		left, right = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		left, right = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		left = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return fold(left^k.last, right^h)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
