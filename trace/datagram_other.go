//go:build !linux

package trace

import "net"

// batcher sends datagrams one by one.
type batcher struct{ conn net.Conn }

func newBatcher(conn net.Conn) (*batcher, error) { return &batcher{conn}, nil }

// send sends the next packet of b, waits while the socket has no room, and returns how many it sent.
func (m *batcher) send(b *buffer) (int, error) {
	if _, err := m.conn.Write(b.packet(b.next, format{})); err != nil {
		return 0, err
	}
	return 1, nil
}
