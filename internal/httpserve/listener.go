package httpserve

import (
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/net/netutil"
)

// bounded returns a listener of which at most limit connections are open at a time. Further ones are closed at once, and refused is told;
// without refused they wait.
func bounded(ln net.Listener, limit int, refused func()) net.Listener {
	if refused == nil {
		return netutil.LimitListener(ln, limit)
	}
	return &refusingListener{Listener: ln, limit: int64(limit), refused: refused}
}

// refusingListener is for ports where to wait is worse than to fail.
type refusingListener struct {
	net.Listener
	limit   int64
	open    atomic.Int64
	refused func()
}

// Accept returns the next connection that there is room for.
func (l *refusingListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.limit {
			return &countedConn{Conn: conn, listener: l}, nil
		}
		l.open.Add(-1)
		l.refused()
		_ = conn.Close()
	}
}

type countedConn struct {
	net.Conn
	listener *refusingListener
	once     sync.Once
}

// Close makes room for another connection.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}
