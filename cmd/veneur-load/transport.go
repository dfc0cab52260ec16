package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/veneurd/veneur/protocol"
)

// transport puts packets of a corpus on the wire. It belongs to one sender.
type transport interface {
	// send sends n packets from the first on, or only the first few of them, and returns how many it was. When there is no room it
	// waits, until the deadline of the connection.
	send(c *corpus, first, n int) (int, error)
}

// wire says how to send.
type wire struct {
	to  protocol.Address
	gso bool
	// A small buffer, for who wants to be held up as soon as nobody reads. 0 leaves it to the system.
	buffer int
}

// connection is what a sender sends over.
type connection interface {
	io.Closer
	SetWriteDeadline(t time.Time) error
}

// open connects. Who calls it closes the connection; the transport needs nothing else.
func (w wire) open(ctx context.Context) (connection, transport, error) {
	var d net.Dialer
	network, address := w.to.NetAddress()
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, nil, explain(w.to, err)
	}
	if sized, ok := conn.(interface{ SetWriteBuffer(bytes int) error }); ok && w.buffer > 0 {
		err = sized.SetWriteBuffer(w.buffer)
	}
	var used connection = conn
	var out transport = stream{conn}
	if isDatagram(w.to) && err == nil {
		used, out, err = newDatagrams(conn, w.gso)
	}
	if err != nil {
		_ = conn.Close()
		return nil, nil, explain(w.to, err)
	}
	return used, out, nil
}

func isDatagram(a protocol.Address) bool { return a.Network == "udp" || a.Network == "unixgram" }

// stream writes all packets of a call at once.
type stream struct{ conn net.Conn }

func (s stream) send(c *corpus, first, n int) (int, error) {
	if _, err := s.conn.Write(c.bytes(first, n)); err != nil {
		return 0, err // part of it may have gone; the totals are lost with the connection
	}
	return n, nil
}

// plain sends one datagram a call, which every system can.
type plain struct{ conn net.Conn }

func (p plain) send(c *corpus, first, n int) (int, error) {
	for i := range n {
		if _, err := p.conn.Write(c.bytes(first+i, 1)); err != nil {
			return i, err
		}
	}
	return n, nil
}

// explain says where it happened, and what the commonest errors mean.
func explain(to protocol.Address, err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s: nobody reads what is sent: %w", to, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%s: nobody listens there: %w", to, err)
	default:
		return fmt.Errorf("%s: %w", to, err)
	}
}

// stuck is for how long after its end a load may still wait for room.
const stuck = 10 * time.Second
