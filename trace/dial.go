package trace

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/veneurd/veneur/protocol"
)

// dialer makes the connections of a transport, one after the other. It asks for the address each time: a name may have moved, and a path may
// lead to a new socket.
type dialer struct {
	address protocol.Address
	tls     *tls.Config
	timeout time.Duration
	dialed  bool // there was a connection before
}

func (d *dialer) connect(ctx context.Context, did *counts) (net.Conn, error) {
	dialing, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	network, address := d.address.NetAddress()
	conn, err := new(net.Dialer).DialContext(dialing, network, address)
	if err != nil {
		return nil, err
	}
	if d.tls != nil {
		if conn, err = d.handshake(dialing, conn); err != nil {
			return nil, err
		}
	}
	if d.dialed {
		did.reconnects++
	}
	d.dialed = true
	return conn, nil
}

func (d *dialer) handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	config := d.tls
	if config.ServerName == "" && !config.InsecureSkipVerify {
		config = config.Clone()
		config.ServerName = d.address.Host
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("tls: %w", err)
	}
	return secure, nil
}
