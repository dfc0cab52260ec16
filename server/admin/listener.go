package admin

import (
	"net"
	"sync"
	"sync/atomic"

	"github.com/veneurd/veneur/internal/telemetry"
)

const reasonTooMany = "too_many_connections"

var descRefused = telemetry.Desc{
	Name: "admin.refused", Kind: telemetry.Counter, Unit: "connections", Tags: []string{"reason"},
	Help: "Connections to the HTTP port closed at once, because too many were open.",
}

// Descs returns what this package counts.
func Descs() []telemetry.Desc { return []telemetry.Desc{descRefused} }

// boundedListener closes connections beyond a number at once. They are not left to wait: a health check that hangs is worse than one
// that fails.
type boundedListener struct {
	net.Listener
	max     int64
	open    atomic.Int64
	refused *telemetry.Metric
}

func newBoundedListener(ln net.Listener, limit int64, refused *telemetry.Metric) *boundedListener {
	return &boundedListener{Listener: ln, max: limit, refused: refused}
}

// Accept returns the next connection that there is room for.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.open.Add(1) <= l.max {
			return &boundedConn{Conn: conn, listener: l}, nil
		}
		l.open.Add(-1)
		l.refused.Inc()
		_ = conn.Close()
	}
}

type boundedConn struct {
	net.Conn
	listener *boundedListener
	once     sync.Once
}

// Close makes room for another connection.
func (c *boundedConn) Close() error {
	c.once.Do(func() { c.listener.open.Add(-1) })
	return c.Conn.Close()
}
