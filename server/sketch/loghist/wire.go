package loghist

import (
	"encoding/binary"
	"errors"
)

// ErrSketch says that bytes are no sketch, or one with buckets that there are not.
var ErrSketch = errors.New("loghist: bad sketch")

// Keys of the message's fields.
const (
	keyIndex   = 1 << 3
	keyCount   = 2 << 3
	keyIndexes = 3<<3 | 2
	keyCounts  = 4<<3 | 2
	keySum     = 5 << 3
)

// AppendTo appends the sketch in its wire form, the bytes of the generated Marshal, without allocating.
func (m *Sketch) AppendTo(b []byte) []byte {
	if m.Index != 0 {
		b = binary.AppendUvarint(append(b, keyIndex), uint64(m.Index))
	}
	if m.Count != 0 {
		b = binary.AppendUvarint(append(b, keyCount), m.Count)
	}
	if len(m.Indexes) > 0 {
		b = append(b, keyIndexes)
		mark := len(b)
		b = append(b, 0)
		for _, index := range m.Indexes {
			b = binary.AppendUvarint(b, uint64(index))
		}
		b = CloseLength(b, mark)
		b = append(b, keyCounts)
		mark = len(b)
		b = append(b, 0)
		for _, count := range m.Counts {
			b = binary.AppendUvarint(b, count)
		}
		b = CloseLength(b, mark)
	}
	if m.Sum != 0 {
		b = binary.AppendUvarint(append(b, keySum), m.Sum)
	}
	return b
}

// CloseLength writes, at the byte left free for it at mark, the length of all that was appended after that byte. Lengths of more than one
// byte are rare and cost a move.
func CloseLength(b []byte, mark int) []byte {
	n := len(b) - mark - 1
	if n < 0x80 {
		b[mark] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	wide := binary.PutUvarint(length[:], uint64(n))
	b = append(b, length[:wide-1]...) // room
	copy(b[mark+wide:], b[mark+1:mark+1+n])
	copy(b[mark:], length[:wide])
	return b
}

// Decode reads the wire form in place of what the sketch held, into its own memory. After an error the sketch is empty.
func (m *Sketch) Decode(b []byte) error {
	m.Clear()
	if !m.decode(b) || !m.valid() {
		m.Clear()
		return ErrSketch
	}
	return nil
}

func (m *Sketch) decode(b []byte) bool {
	for len(b) > 0 {
		key := b[0]
		v, n := binary.Uvarint(b[1:])
		if n <= 0 {
			return false
		}
		b = b[1+n:]
		switch key {
		case keyIndex:
			m.Index = uint32(min(v, Buckets))
		case keyCount:
			m.Count = v
		case keySum:
			m.Sum = v
		case keyIndexes, keyCounts:
			if v > uint64(len(b)) || !m.decodeList(key, b[:v]) {
				return false
			}
			b = b[v:]
		default:
			return false
		}
	}
	return true
}

func (m *Sketch) decodeList(key byte, b []byte) bool {
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
		if key == keyIndexes {
			m.Indexes = append(m.Indexes, uint32(min(v, Buckets)))
		} else {
			m.Counts = append(m.Counts, v)
		}
	}
	return true
}

// valid says whether the form is one of the two, with buckets that exist.
func (m *Sketch) valid() bool {
	if m.Index >= Buckets || len(m.Indexes) != len(m.Counts) {
		return false
	}
	if len(m.Indexes) == 0 {
		return m.Count != 0 || m.Index == 0
	}
	last := int64(-1)
	for _, index := range m.Indexes {
		if index >= Buckets || int64(index) <= last {
			return false
		}
		last = int64(index)
	}
	return m.Index == 0 && m.Count == 0
}
