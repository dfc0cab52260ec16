package ingest

import (
	"net"
	"sync"
)

// trackedListener knows the connections that are open, so that a stop can close those that package grpc would wait for: of a client that says
// nothing it waits as long as the handshake may take, whatever Stop says.
type trackedListener struct {
	net.Listener

	mu    sync.Mutex
	open  map[*trackedConn]struct{}
	ended bool
}

func newTrackedListener(l net.Listener) *trackedListener {
	return &trackedListener{Listener: l, open: map[*trackedConn]struct{}{}}
}

// Accept waits for a connection.
func (l *trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tracked := &trackedConn{conn, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		_ = conn.Close()
		return tracked, nil
	}
	l.open[tracked] = struct{}{}
	return tracked, nil
}

// closeConns closes every connection that is open, and those that may still come.
func (l *trackedListener) closeConns() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	for conn := range l.open {
		_ = conn.Conn.Close()
	}
	clear(l.open)
}

type trackedConn struct {
	net.Conn
	listener *trackedListener
}

func (c *trackedConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
