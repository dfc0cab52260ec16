package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// sendTimeout bounds connecting and sending: a script must not hang because nobody reads the socket.
const sendTimeout = 5 * time.Second

// maxMessage is the longest message that daemons take, over whatever transport: what fits into a UDP datagram.
const maxMessage = 65507

// sender takes what is to be sent to one destination. Its calls end when ctx does.
type sender interface {
	packet(ctx context.Context, packet []byte) error   // DogStatsD messages, separated by newlines
	span(ctx context.Context, span *ssf.SSFSpan) error // one SSF span
	limit() int                                        // bytes that a packet of several messages has at most
	// finish waits a moment for word that what was sent has not arrived, and closes the connection whatever it hears.
	finish(ctx context.Context) error
}

func (d destination) dial(ctx context.Context) (sender, error) {
	if d.Network == "grpc" {
		return newGRPCSender(d)
	}
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return &socket{conn: conn, to: d.Address}, nil
}

// socket sends over a datagram or stream socket.
type socket struct {
	conn net.Conn
	to   protocol.Address
}

func (s *socket) datagrams() bool { return s.to.Network == "udp" || s.to.Network == "unixgram" }

// limit keeps UDP within one Ethernet frame and unix datagrams within what clients commonly use.
func (s *socket) limit() int {
	switch s.to.Network {
	case "udp":
		return 1432
	case "unixgram":
		return 8192
	default:
		return maxMessage
	}
}

func (s *socket) packet(ctx context.Context, packet []byte) error {
	if !s.datagrams() {
		packet = append(packet, '\n')
	}
	return s.write(ctx, packet)
}

func (s *socket) span(ctx context.Context, span *ssf.SSFSpan) error {
	if s.datagrams() {
		return s.write(ctx, ssf.AppendSpan(nil, span))
	}
	frame, err := protocol.AppendFrame(nil, span)
	if err != nil {
		return err
	}
	return s.write(ctx, frame)
}

func (s *socket) write(ctx context.Context, b []byte) error {
	deadline, _ := ctx.Deadline()
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	_, err := s.conn.Write(b)
	return s.explain(err)
}

// How long finish waits.
const (
	// A host that has nobody at the port says so at once when it is this one, or near.
	refusalWait = 5 * time.Millisecond
	// A daemon closes a stream when it has read to its end; others may keep it open.
	closeWait = time.Second
)

func (s *socket) finish(ctx context.Context) error {
	var err error
	switch s.to.Network {
	case "unixgram": // tells at once
	case "udp":
		err = s.listen(ctx, refusalWait)
	default:
		if half, ok := s.conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // when it fails, so does reading
		}
		err = s.listen(ctx, closeWait)
	}
	return errors.Join(s.explain(err), s.conn.Close())
}

// listen returns the error that reading gives, other than the end of the stream or of the time to wait. What a daemon may say is read
// and forgotten: unread, it would make the system cut off what we have sent.
func (s *socket) listen(ctx context.Context, wait time.Duration) error {
	deadline := time.Now().Add(wait)
	if end, ok := ctx.Deadline(); ok && end.Before(deadline) {
		deadline = end
	}
	if err := s.conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	var err error
	for buf := make([]byte, 512); err == nil; {
		_, err = s.conn.Read(buf)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// explain says in plain words what the commonest errors mean.
func (s *socket) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%s: nobody reads what is sent: %w", s.to, err)
	case isReset(err) && s.datagrams():
		return fmt.Errorf("%s: nobody listens there: %w", s.to, err)
	case isReset(err):
		return fmt.Errorf("%s: it hung up before it read everything: %w", s.to, err)
	default:
		return fmt.Errorf("%s: %w", s.to, err)
	}
}
