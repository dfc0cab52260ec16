//go:build !linux

package ingest

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// socket receives datagrams one by one: the portable twin of the one for Linux. It belongs to one reader.
type socket struct {
	conn    net.PacketConn
	buffer  []byte
	packets [1]packet
}

// newSocket takes conn over. Several sockets may have the same one.
func newSocket(conn net.PacketConn) (*socket, error) {
	return &socket{conn: conn, buffer: make([]byte, maxDatagram)}, nil
}

// receive waits for a datagram. It is valid until the next call.
func (s *socket) receive() ([]packet, error) {
	var n int
	var err error
	switch conn := s.conn.(type) {
	case *net.UDPConn:
		n, _, err = conn.ReadFromUDPAddrPort(s.buffer) // does not allocate an address
	default:
		n, _, err = conn.ReadFrom(s.buffer)
	}
	if err != nil {
		return nil, err
	}
	s.packets[0] = packet{data: s.buffer[:n:n], truncated: n == len(s.buffer)}
	return s.packets[:], nil
}

// pending returns what has arrived already; no datagrams when there are none.
func (s *socket) pending() ([]packet, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		return nil, err
	}
	packets, err := s.receive()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, nil
	}
	return packets, err
}

// drops is how many datagrams the kernel has thrown away, which only Linux tells.
func (s *socket) drops() uint64 { return 0 }

func (s *socket) close() error {
	if err := s.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// openUDP binds one connection for n readers to share. An address that anybody else holds is an error. granted is the receive buffer
// in bytes as far as it is known.
func openUDP(ctx context.Context, network, address string, n, buffer int) (sockets []*socket, granted int, err error) {
	var config net.ListenConfig
	conn, err := config.ListenPacket(ctx, network, address)
	if err != nil {
		return nil, 0, err
	}
	if udp, ok := conn.(*net.UDPConn); ok && buffer > 0 && udp.SetReadBuffer(buffer) == nil {
		granted = buffer
	}
	for range n {
		s, err := newSocket(conn)
		if err != nil {
			_ = conn.Close()
			return nil, 0, err
		}
		sockets = append(sockets, s)
	}
	return sockets, granted, nil
}
