package ingest

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
)

const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// Why this side closes a connection.
const (
	closedLimit     = "limit"     // one more than max_connections
	closedIdle      = "idle"      // nothing arrived for idle_timeout
	closedHandshake = "handshake" // TLS did not come about, or not in time
	closedFraming   = "framing"   // where the next message begins is not known any more
	closedSlow      = "slow"      // a large message did not come to its end in time
	closedMemory    = "memory"    // a message needed more than was left of max_stream_buffer_bytes
)

// acceptor is a net.Listener that survives what can go wrong with accepting: an error is followed by a pause and another attempt, and a
// connection beyond the limit is closed at once rather than left waiting. Accept fails only when the acceptor is closed.
type acceptor struct {
	net.Listener
	limit int // of open connections

	open     atomic.Int64
	accepted *telemetry.Metric
	errors   *telemetry.Metric
	closed   map[string]*telemetry.Metric // by reason

	done      chan struct{}
	closeOnce sync.Once
}

func newAcceptor(listener net.Listener, name string, limit int, r *telemetry.Registry) *acceptor {
	a := &acceptor{
		Listener: listener,
		limit:    limit,
		accepted: r.Counter(&descAccepted, name),
		errors:   r.Counter(&descAcceptErrors, name),
		closed:   map[string]*telemetry.Metric{},
		done:     make(chan struct{}),
	}
	for _, reason := range []string{closedLimit, closedIdle, closedHandshake, closedFraming, closedSlow, closedMemory} {
		a.closed[reason] = r.Counter(&descClosed, name, reason)
	}
	r.Func(&descConnections, func() float64 { return float64(a.open.Load()) }, name)
	return a
}

// Accept waits for a connection.
func (a *acceptor) Accept() (net.Conn, error) {
	pause := time.Duration(0)
	for {
		conn, err := a.Listener.Accept()
		if err == nil {
			pause = 0
			if int(a.open.Add(1)) > a.limit {
				a.open.Add(-1)
				a.closed[closedLimit].Inc()
				_ = conn.Close()
				continue
			}
			a.accepted.Inc()
			return &countedConn{Conn: conn, open: &a.open}, nil
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		// No error of accept is for ever: a client that has gone, no descriptors or memory left. A daemon that ends by it, or spins,
		// would take its datagrams down with it.
		a.errors.Inc()
		pause = min(max(2*pause, minAcceptPause), maxAcceptPause)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-a.done:
			timer.Stop()
		}
	}
}

// Close ends Accept. Connections stay open.
func (a *acceptor) Close() error {
	a.closeOnce.Do(func() { close(a.done) })
	return a.Listener.Close()
}

// countedConn is counted as open until it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}
