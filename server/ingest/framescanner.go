package ingest

import "encoding/binary"

// frameHeader is the header of an HTTP/2 frame, RFC 9113 section 4.1.
type frameHeader struct {
	length      int
	kind, flags byte
	stream      uint32
	code        uint32 // of a reset: why
}

// Codes of resets, RFC 9113 section 7, by which package grpc refuses calls.
const (
	codeFrameSize     = 0x6 // their headers are too large
	codeRefusedStream = 0x7 // there are too many
)

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

// frameScanner finds the headers of frames in a stream of bytes, however that is cut, and passes over what is in them, but for the code of a reset. Of what is no HTTP/2 it
// makes any headers at all; whoever speaks the protocol closes such a stream.
type frameScanner struct {
	header [headerLength + codeLength]byte
	have   int // bytes of the header
	skip   int // bytes to pass over
}

const (
	headerLength = 9
	codeLength   = 4
)

// wanted returns how many bytes are to be had before a frame is found.
func (s *frameScanner) wanted() int {
	if s.have >= headerLength && s.header[3] == frameReset && s.length() == codeLength {
		return headerLength + codeLength
	}
	return headerLength
}

func (s *frameScanner) length() int {
	return int(s.header[0])<<16 | int(binary.BigEndian.Uint16(s.header[1:]))
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
		n := copy(s.header[s.have:s.wanted()], b)
		b = b[n:]
		s.have += n
		wanted := s.wanted()
		if s.have < wanted {
			continue
		}
		f := frameHeader{
			length: s.length(),
			kind:   s.header[3],
			flags:  s.header[4],
			stream: binary.BigEndian.Uint32(s.header[5:]) &^ (1 << 31),
		}
		if wanted > headerLength {
			f.code = binary.BigEndian.Uint32(s.header[headerLength:])
		}
		s.have, s.skip = 0, f.length-(wanted-headerLength)
		found(f)
	}
}
