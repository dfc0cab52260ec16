package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/veneurd/veneur/protocol/dogstatsd"
)

// errBadLines is what remains to be said when the good lines were sent.
var errBadLines = errors.New("were not sent")

// lineSender sends DogStatsD messages, packed into as few packets as fit.
type lineSender struct {
	to     sender
	stderr io.Writer
	parser dogstatsd.Parser

	packet  []byte
	waiting int // messages in packet
	first   int // number of the line that the first of them was
	sent    int
	bad     int
}

// send sends the messages of in. A bad line is told with its number and left out; the others are sent all the same, and the error at the
// end says how many were bad. Messages do not wait for others that may come later: a packet goes when no whole line is at hand. A failure
// to send ends it.
func (l *lineSender) send(ctx context.Context, in io.Reader) error {
	reader := bufio.NewReaderSize(in, maxMessage+2)
	for number := 1; ; number++ {
		if !wholeLine(reader) {
			if err := l.flush(ctx); err != nil {
				return err
			}
		}
		line, length, err := readLine(reader)
		if length > 0 {
			if err := l.add(ctx, number, line, length); err != nil {
				return err
			}
		}
		if err == nil {
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
		switch {
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("standard input: %w", err)
		case l.bad > 0:
			return fmt.Errorf("%d of %d lines %w", l.bad, l.bad+l.sent, errBadLines)
		}
		return nil
	}
}

// add puts the line into a packet, or tells why not. Of a line that is too long only the start is given.
func (l *lineSender) add(ctx context.Context, number int, line []byte, length int) error {
	l.parser.Reset(line, time.Now().Unix())
	message := l.parser.Next()
	if message == nil {
		return nil
	}
	reason := message.Reason
	if length > maxMessage {
		reason = dogstatsd.ReasonTooLong
	}
	if reason != dogstatsd.ReasonNone {
		l.refuse(number, 1, reason, line)
		return nil
	}
	if len(l.packet)+1+len(line) > l.to.limit() {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	if l.waiting > 0 {
		l.packet = append(l.packet, '\n')
	} else {
		l.first = number
	}
	l.packet = append(l.packet, line...)
	l.waiting++
	return nil
}

func (l *lineSender) refuse(number, count int, reason fmt.Stringer, line []byte) {
	l.bad += count
	fmt.Fprintf(l.stderr, "veneur-emit: line %d not sent (%s): %.64q\n", number, reason, line)
}

func (l *lineSender) flush(ctx context.Context) error {
	if l.waiting == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	err := l.to.packet(ctx, l.packet)
	switch {
	case err == nil:
		l.sent += l.waiting
	case errors.Is(err, syscall.EMSGSIZE):
		// This system takes less in one datagram than others. That concerns these lines only.
		l.refuse(l.first, l.waiting, dogstatsd.ReasonTooLong, l.packet)
		err = nil
	default:
		err = fmt.Errorf("line %d: %w", l.first, err)
	}
	l.packet, l.waiting = l.packet[:0], 0
	return err
}

// wholeLine reports whether a line can be read without waiting for more of it.
func wholeLine(r *bufio.Reader) bool {
	at, err := r.Peek(r.Buffered())
	return err == nil && bytes.IndexByte(at, '\n') >= 0
}

// readLine returns the next line without its end, and its length. A line that is longer than the reader's buffer is returned cut. At the
// end of the input there may be a last line beside the error.
func readLine(r *bufio.Reader) (line []byte, length int, err error) {
	line, err = r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		line = trimEnd(line)
		return line, len(line), err
	}
	line = append([]byte(nil), line...)
	length = len(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		var more []byte
		more, err = r.ReadSlice('\n')
		length += len(more)
	}
	return line, length, err
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
