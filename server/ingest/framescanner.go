package ingest

import "encoding/binary"

// frameHeader is the header of an HTTP/2 frame, RFC 9113 section 4.1.
type frameHeader struct {
	length      int
	kind, flags byte
	stream      uint32
}

// Kinds of frames.
const (
	frameData    = 0x0
	frameHeaders = 0x1
	frameReset   = 0x3
)

// ends says that the frame is the last one of its stream in its direction.
func (f frameHeader) ends() bool {
	const endStream = 0x1
	return (f.kind == frameData || f.kind == frameHeaders) && f.flags&endStream != 0
}

// frameScanner finds the headers of frames in a stream of bytes, however that is cut, and passes over what is in them. Of what is no HTTP/2 it
// makes any headers at all; whoever speaks the protocol closes such a stream.
type frameScanner struct {
	header [9]byte
	have   int // bytes of the header
	skip   int // bytes to pass over
}

// scan calls found with each header that is complete with b.
func (s *frameScanner) scan(b []byte, found func(frameHeader)) {
	for len(b) > 0 {
		if s.skip > 0 {
			n := min(s.skip, len(b))
			s.skip -= n
			b = b[n:]
			continue
		}
		n := copy(s.header[s.have:], b)
		b = b[n:]
		if s.have += n; s.have < len(s.header) {
			return
		}
		f := frameHeader{
			length: int(s.header[0])<<16 | int(binary.BigEndian.Uint16(s.header[1:])),
			kind:   s.header[3],
			flags:  s.header[4],
			stream: binary.BigEndian.Uint32(s.header[5:]) &^ (1 << 31),
		}
		s.have, s.skip = 0, f.length
		found(f)
	}
}
