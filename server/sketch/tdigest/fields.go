package tdigest

import "encoding/binary"

// fields walks over the fields of a protobuf message.
type fields struct {
	b     []byte
	fixed uint64 // the value of a 64-bit field
	bytes []byte // the value of a length-delimited field, a part of b
}

// next reads a field and returns its tag, or 0 at the end.
func (f *fields) next() (tag uint64, err error) {
	if len(f.b) == 0 {
		return 0, nil
	}
	tag, err = f.varint()
	if err != nil {
		return 0, err
	}
	if tag>>3 == 0 || tag>>32 != 0 {
		return 0, ErrWireType
	}
	switch tag & 7 {
	case typeVarint:
		_, err = f.varint()
		return tag, err
	case typeFixed64:
		if len(f.b) < 8 {
			return 0, ErrTruncated
		}
		f.fixed, f.b = binary.LittleEndian.Uint64(f.b), f.b[8:]
		return tag, nil
	case typeBytes:
		n, err := f.varint()
		if err != nil {
			return 0, err
		}
		if n > uint64(len(f.b)) {
			return 0, ErrTruncated
		}
		f.bytes, f.b = f.b[:n], f.b[n:]
		return tag, nil
	case typeFixed32:
		if len(f.b) < 4 {
			return 0, ErrTruncated
		}
		f.b = f.b[4:]
		return tag, nil
	}
	return 0, ErrWireType
}

func (f *fields) varint() (uint64, error) {
	v, n := binary.Uvarint(f.b)
	if n == 0 {
		return 0, ErrTruncated
	}
	if n < 0 {
		return 0, ErrWireType // longer than 64 bits
	}
	f.b = f.b[n:]
	return v, nil
}
