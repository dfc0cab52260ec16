package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/veneurd/veneur/protocol/dogstatsd"
)

// maxLine is the longest line a daemon takes over UDP.
const maxLine = 65507

// lineSender sends DogStatsD messages, packed into as few packets as fit.
type lineSender struct {
	to     sender
	stderr io.Writer
	parser dogstatsd.Parser

	packet  []byte
	waiting int // messages in packet
	sent    int
	bad     int
}

// send sends the messages of in. A bad line is told with its number and left out; the others are sent all the same, and the error at the end
// says how many were bad. Messages do not wait for others that may come later: a packet goes when in has nothing more at hand.
func (l *lineSender) send(ctx context.Context, in io.Reader) error {
	reader := bufio.NewReaderSize(in, maxLine+2)
	for number := 1; ; number++ {
		if reader.Buffered() == 0 {
			if err := l.flush(ctx); err != nil {
				return err
			}
		}
		line, err := readLine(reader)
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		if err := l.add(ctx, number, line, tooLong); err != nil {
			return err
		}
		if err == nil || tooLong {
			continue
		}
		if err := l.flush(ctx); err != nil {
			return err
		}
		switch {
		case !errors.Is(err, io.EOF):
			return err
		case l.bad > 0:
			return fmt.Errorf("%d of %d lines were not sent", l.bad, l.bad+l.sent)
		}
		return nil
	}
}

func (l *lineSender) add(ctx context.Context, number int, line []byte, tooLong bool) error {
	l.parser.Reset(line, time.Now().Unix())
	message := l.parser.Next()
	if message == nil {
		return nil
	}
	reason := message.Reason
	if tooLong {
		reason = dogstatsd.ReasonTooLong
	}
	if reason != dogstatsd.ReasonNone {
		l.bad++
		_, err := fmt.Fprintf(l.stderr, "veneur-emit: line %d not sent (%s): %.64q\n", number, reason, line)
		return err
	}
	if len(l.packet)+1+len(line) > l.to.limit() {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	if len(l.packet) > 0 {
		l.packet = append(l.packet, '\n')
	}
	l.packet = append(l.packet, line...)
	l.waiting++
	return nil
}

func (l *lineSender) flush(ctx context.Context) error {
	if l.waiting == 0 {
		return nil
	}
	err := l.to.packet(ctx, l.packet)
	if err == nil {
		l.sent += l.waiting
	}
	l.packet, l.waiting = l.packet[:0], 0
	return err
}

// readLine returns the next line without its end. A line that does not fit is returned cut, with bufio.ErrBufferFull, and skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return trimEnd(line), err
	}
	cut := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return cut, err
	}
	return cut, bufio.ErrBufferFull
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
