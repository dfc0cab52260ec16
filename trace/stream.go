package trace

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// writeTimeout is how long a TCP peer may take nothing before the connection counts as dead: without it a machine that vanished would
// be noticed after a quarter of an hour. Over a unix socket the peer is known to be there as long as the connection is, and a daemon that
// was only stopped is waited for.
const writeTimeout = 30 * time.Second

// settleTime is how long a connection has to last to be one to a daemon. A proxy before a daemon that is away accepts and closes at once: who
// connects again without a pause then loses all that it writes, and wears out the proxy.
const settleTime = time.Second

var errClosedAtOnce = errors.New("the peer closed the connection as soon as it had it")

// stream sends frames, a whole buffer with one write.
type stream struct {
	dial *dialer
	conn net.Conn
	born time.Time     // when conn was made
	gone chan struct{} // closed when the peer has closed conn
	stop func() bool
}

func (s *stream) send(ctx context.Context, b *buffer, did *counts) error {
	if s.conn != nil {
		// What is written to a TCP connection after its peer has gone is lost without an error, so it is looked at first.
		select {
		case <-s.gone:
			s.disconnect()
			if time.Since(s.born) < settleTime {
				return errClosedAtOnce
			}
		default:
		}
	}
	if s.conn == nil {
		conn, err := s.dial.connect(ctx, did)
		if err != nil {
			return err
		}
		s.use(ctx, conn)
		b.restart()
	}
	if s.dial.address.Network == "tcp" {
		if err := s.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			s.disconnect()
			return err
		}
	}
	did.unsettled = time.Since(s.born) < settleTime
	n, err := s.conn.Write(b.data[b.offset:])
	did.sendBytes(b, n)
	if err != nil {
		s.disconnect()
		return err
	}
	return nil
}

// sendBytes counts the packets of which the last byte is among the next n.
func (c *counts) sendBytes(b *buffer, n int) {
	b.offset += n
	for b.next < len(b.ends) && b.ends[b.next] <= b.offset {
		c.bytes += uint64(b.ends[b.next])
		if b.next > 0 {
			c.bytes -= uint64(b.ends[b.next-1])
		}
		b.next++
		c.sent++
	}
}

// use takes conn over. It is closed, which ends a write that waits, when ctx ends.
func (s *stream) use(ctx context.Context, conn net.Conn) {
	gone := make(chan struct{})
	s.conn, s.gone, s.born = conn, gone, time.Now()
	s.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	go func() {
		defer close(gone)
		// The daemon sends nothing; reading ends when it, or disconnect, closes.
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
}

func (s *stream) disconnect() {
	if s.conn == nil {
		return
	}
	s.stop()
	_ = s.conn.Close()
	<-s.gone
	s.conn = nil
}

func (s *stream) flush(context.Context) error { return nil }

func (s *stream) close() error {
	s.disconnect()
	return nil
}
