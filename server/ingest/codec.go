package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/ssf"
)

// codec cuts one stream into messages.
type codec interface {
	// take hands the whole messages at the start of buf to the intake, whose batch has begun, and returns how many bytes it is done
	// with. An error is final: the stream must be closed.
	take(in *intake, buf []byte) (done int, err error)
	// rest is called once after the last take, with the bytes it was not done with and what the stream ended by: io.EOF at its proper
	// end, errSlow or errMemory when it was given up, anything else when it broke off.
	rest(in *intake, buf []byte, end error)
	// room is the size that a buffer must be able to grow to for the longest message.
	room() int
}

// What frames are refused for that were not whole when the stream was given up.
const (
	reasonSlow   ssf.Reason = "slow"
	reasonMemory ssf.Reason = "memory"
)

var errFraming = errors.New("the stream cannot be cut into messages any more")

// lineCodec cuts at line ends. A line longer than limit bytes is passed over to its end.
type lineCodec struct {
	limit  int
	skip   bool // inside a line that is too long
	looked int  // how many bytes at the start of the buffer have no line end among them: whoever sends byte by byte costs no more than others
}

func (c *lineCodec) room() int { return c.limit + 1 }

func (c *lineCodec) take(in *intake, buf []byte) (int, error) {
	start := 0
	if c.skip {
		start = bytes.IndexByte(buf, '\n') + 1
		if start == 0 {
			return len(buf), nil
		}
		c.skip = false
	}
	looked := max(start, c.looked)
	if end := bytes.LastIndexByte(buf[looked:], '\n') + 1; end > 0 {
		in.block(buf[start:looked+end], false)
		start = looked + end
	}
	c.looked = len(buf) - start
	if rest := buf[start:]; len(rest) > c.limit {
		in.refuseRest(dogstatsd.ReasonTooLong, rest)
		c.skip, c.looked = true, 0
		return len(buf), nil
	}
	return start, nil
}

// rest takes a last line without line end for whole when the sender closed the stream; else it may be a part of one.
func (c *lineCodec) rest(in *intake, buf []byte, end error) {
	switch {
	case c.skip || len(buf) == 0:
	case errors.Is(end, io.EOF):
		in.block(buf, false)
	default:
		in.refuseRest(lineReason(end), buf)
	}
}

// lineReason is the reason for which what had arrived of a line, or of a block of them, is refused.
func lineReason(end error) dogstatsd.Reason {
	switch {
	case errors.Is(end, errSlow):
		return dogstatsd.ReasonSlow
	case errors.Is(end, errMemory):
		return dogstatsd.ReasonMemory
	default:
		return dogstatsd.ReasonTruncated
	}
}

// blockCodec cuts into blocks of lines, each behind its length: 32 bits, little endian.
type blockCodec struct{}

const (
	blockHeader = 4
	maxBlock    = 65_535
)

func (blockCodec) room() int { return blockHeader + maxBlock }

func (blockCodec) take(in *intake, buf []byte) (int, error) {
	done := 0
	for len(buf)-done >= blockHeader {
		length := binary.LittleEndian.Uint32(buf[done:])
		if length > maxBlock {
			in.refuseRest(dogstatsd.ReasonTooLong, buf[done:])
			return done, errFraming
		}
		end := done + blockHeader + int(length)
		if end > len(buf) {
			break
		}
		in.block(buf[done+blockHeader:end], false)
		done = end
	}
	return done, nil
}

func (blockCodec) rest(in *intake, buf []byte, end error) {
	if len(buf) > 0 {
		in.refuseRest(lineReason(end), buf)
	}
}

// frameCodec cuts into SSF frames.
type frameCodec struct{}

func (frameCodec) room() int { return protocol.MaxFrame + 8 } // a header has 5 bytes

func (frameCodec) take(in *intake, buf []byte) (int, error) {
	left := buf
	for {
		span, rest, whole, err := protocol.CutFrame(left)
		if err != nil {
			_ = in.refuseSSF(err, left)
			return len(buf) - len(left), errFraming
		}
		if !whole {
			return len(buf) - len(left), nil
		}
		// A span that is refused was a whole frame: the next one stands where it should.
		_ = in.span(span)
		left = rest
	}
}

func (frameCodec) rest(in *intake, buf []byte, end error) {
	if len(buf) == 0 {
		return
	}
	reason := protocol.ReasonFrameTruncated
	switch {
	case errors.Is(end, errSlow):
		reason = reasonSlow
	case errors.Is(end, errMemory):
		reason = reasonMemory
	}
	_ = in.refuseSSF(reason, buf)
}
