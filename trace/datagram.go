package trace

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// datagrams sends each packet as a datagram of its own.
type datagrams struct {
	dial *dialer
	conn net.Conn
	out  *batcher
	stop func() bool
}

func (d *datagrams) send(ctx context.Context, b *buffer, did *counts) error {
	if d.conn == nil {
		if err := d.connect(ctx, did); err != nil {
			return err
		}
	}
	for b.waiting() > 0 {
		n, err := d.out.send(b)
		did.send(b, n)
		switch {
		case err == nil:
		case errors.Is(err, syscall.EMSGSIZE):
			b.skip()
			did.dropped[dropTooLarge]++
		case errors.Is(err, syscall.ENOBUFS):
			return err
		default:
			// Nobody listens any more, or at another socket of that path.
			d.disconnect()
			return err
		}
	}
	return nil
}

func (d *datagrams) connect(ctx context.Context, did *counts) error {
	conn, err := d.dial.connect(ctx, did)
	if err != nil {
		return err
	}
	out, err := newBatcher(conn)
	if err != nil {
		_ = conn.Close()
		return err
	}
	d.conn, d.out = conn, out
	// Closing ends a send that waits for room.
	d.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return nil
}

func (d *datagrams) disconnect() {
	if d.conn == nil {
		return
	}
	d.stop()
	_ = d.conn.Close()
	d.conn = nil
}

func (d *datagrams) flush(context.Context) error { return nil }

func (d *datagrams) close() error {
	d.disconnect()
	return nil
}
