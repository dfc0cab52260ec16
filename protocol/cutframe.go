package protocol

import "encoding/binary"

// CutFrame cuts the first frame off b, for a reader that keeps a buffer of its own: span is what the frame holds and rest what follows
// it, both pieces of b. Where b does not hold a whole frame yet, whole is false and rest is b. The error is a *FramingError.
func CutFrame(b []byte) (span, rest []byte, whole bool, err error) {
	if len(b) > 0 && b[0] != frameVersion {
		return nil, b, false, &FramingError{Reason: ReasonFrameVersion}
	}
	if len(b) < headerSize {
		return nil, b, false, nil
	}
	length := binary.BigEndian.Uint32(b[1:])
	if length > MaxFrame {
		return nil, b, false, &FramingError{Reason: ReasonFrameLength}
	}
	end := headerSize + int(length)
	if len(b) < end {
		return nil, b, false, nil
	}
	return b[headerSize:end], b[end:], true, nil
}
