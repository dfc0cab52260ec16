package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/veneurd/veneur/ssf"
)

// A frame is one version byte, the length of the span in four bytes, big endian, and the span.
const (
	frameVersion = 0
	headerSize   = 5

	// MaxFrame is the largest span that a frame may hold: 16 MiB.
	MaxFrame = 16 << 20
)

// What a FramingError is for. ReasonFrameLength is also, by itself, the error of a span that is too large to be framed.
const (
	// ReasonFrameVersion: the frame begins with another byte than 0.
	ReasonFrameVersion ssf.Reason = "frame_version"
	// ReasonFrameLength: more than MaxFrame bytes.
	ReasonFrameLength ssf.Reason = "frame_length"
	// ReasonFrameTruncated: the stream ended, or failed, inside a frame.
	ReasonFrameTruncated ssf.Reason = "frame_truncated"
)

// FramingError is final: where the next frame begins is no longer known, and the stream must be closed.
type FramingError struct {
	Reason ssf.Reason
	// Err is what the stream gave, io.ErrUnexpectedEOF for its end. It is nil unless the reason is ReasonFrameTruncated.
	Err error
}

func (e *FramingError) Error() string {
	if e.Err == nil {
		return e.Reason.Error()
	}
	return fmt.Sprintf("%v: %v", e.Reason, e.Err)
}

// Unwrap gives the reason and the stream's error to errors.Is and errors.As.
func (e *FramingError) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Err}
}

// growStep is the least a buffer grows by, so that small frames do not grow it many times.
const growStep = 4 << 10

// ReadFrame reads one frame and returns the bytes of its span, in buf if there is room: the caller passes the result, or any other
// buffer it no longer reads from, as the next buf. Without room the buffer grows with the bytes that arrive, to some twice their
// number, never by the length that the frame announces. One huge frame leaves a huge buffer: the caller lets it go.
//
// The stream's own error is returned as it is as long as no byte of a frame has been read: io.EOF then is a proper end, and
// after a timeout ReadFrame can be called again. Any later error is a *FramingError. On an error the result is buf's memory, emptied.
//
// Reads are of exactly what a frame still needs, so r should be buffered.
func ReadFrame(r io.Reader, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], headerSize)[:headerSize]
	if n, err := io.ReadFull(r, buf); err != nil {
		if n == 0 {
			return buf[:0], err
		}
		return buf[:0], truncated(err)
	}
	if buf[0] != frameVersion {
		return buf[:0], &FramingError{Reason: ReasonFrameVersion}
	}
	length := binary.BigEndian.Uint32(buf[1:])
	if length > MaxFrame {
		return buf[:0], &FramingError{Reason: ReasonFrameLength}
	}
	want := int(length)
	for buf = buf[:0]; len(buf) < want; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, min(want-len(buf), max(len(buf), growStep)))
		}
		got := len(buf)
		buf = buf[:min(want, cap(buf))]
		if n, err := io.ReadFull(r, buf[got:]); err != nil {
			return buf[:got+n][:0], truncated(err)
		}
	}
	return buf, nil
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &FramingError{Reason: ReasonFrameTruncated, Err: err}
}

// AppendFrame appends the span in its frame to b. A span of more than MaxFrame bytes is refused with ReasonFrameLength, and b
// returned without it.
func AppendFrame(b []byte, span *ssf.SSFSpan) ([]byte, error) {
	start := len(b)
	b = append(b, frameVersion, 0, 0, 0, 0)
	b = ssf.AppendSpan(b, span)
	length := len(b) - start - headerSize
	if length > MaxFrame {
		return b[:start], ReasonFrameLength
	}
	binary.BigEndian.PutUint32(b[start+1:], uint32(length))
	return b, nil
}

// maxKept is the largest buffer that goes back into the pool: one huge span must not stay there.
const maxKept = 64 << 10

var frames = sync.Pool{New: func() any { return new([]byte) }}

// WriteSSF writes the span in its frame, by one Write, and gives the number of bytes written. It does not allocate. A span of more
// than MaxFrame bytes is refused with ReasonFrameLength before anything is written; after any other error part of a frame may
// have been, and the stream must be closed. Calls on one writer must not overlap unless its Write may.
func WriteSSF(w io.Writer, span *ssf.SSFSpan) (int, error) {
	buf := frames.Get().(*[]byte)
	b, err := AppendFrame((*buf)[:0], span)
	var n int
	if err == nil {
		n, err = w.Write(b)
	}
	if cap(b) <= maxKept {
		*buf = b
		frames.Put(buf)
	}
	return n, err
}

// ParseSSF decodes one packet into a span that is the caller's, and normalizes it. The error is one of the reasons that
// ssf.Decoder refuses for; whether the span makes sense is for ssf.ValidateSpan to say. A reader of many packets saves the
// allocations by a Decoder of its own.
func ParseSSF(packet []byte) (*ssf.SSFSpan, error) {
	span, err := new(ssf.Decoder).Decode(packet)
	if err != nil {
		return nil, err
	}
	ssf.Normalize(span)
	return span, nil
}
