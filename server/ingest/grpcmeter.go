package ingest

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
)

// What a call is reckoned to cost, and what a connection may cost outside of the budget.
const (
	// callCost is for a goroutine, the stream's own bookkeeping, and headers of maxHeaders bytes.
	callCost = 16 << 10
	// callAllowance lets two small calls at once, or one of 32 KiB, through however much others hold.
	callAllowance = 48 << 10
	// frameCost is for what grpc keeps beside the bytes of a frame: without it a message in frames of a byte would cost a hundred times its size.
	frameCost = 96
)

// meter is a connection of gRPC whose calls take their memory from the budget. Package grpc bounds the bytes of one message and the number
// of calls of one connection, but neither of them over all connections, and it tells nobody what it holds. So the meter looks at the
// frames that pass by, in both directions: from its first frame until its answer has been written, a call holds what has arrived for it.
type meter struct {
	net.Conn // of bytes that are not encrypted any more
	budget   *budget
	refuse   func()            // called once, when the budget does not suffice and the connection is closed
	reset    func(code uint32) // called with the lock held, for each call that package grpc ends by a reset

	mu      sync.Mutex
	in, out frameScanner
	calls   map[uint32]int // what the data of each call costs that is not answered yet, by its stream
	data    int            // their sum
	taken   int            // of the budget
	closed  bool
}

func newMeter(conn net.Conn, b *budget, refuse func(), reset func(code uint32)) *meter {
	return &meter{Conn: conn, budget: b, refuse: refuse, reset: reset, in: frameScanner{skip: len(clientPreface)}, calls: map[uint32]int{}}
}

// clientPreface is what every client sends before its first frame.
const clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Read reads, and fails when the connection would hold more than it may.
func (m *meter) Read(b []byte) (int, error) {
	n, err := m.Conn.Read(b)
	if n > 0 && !m.arrived(b[:n]) {
		m.refuse()
		_ = m.Close()
		return 0, errMemory
	}
	return n, err
}

// Write writes.
func (m *meter) Write(b []byte) (int, error) {
	n, err := m.Conn.Write(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.out.scan(b[:n], func(f frameHeader) {
		if f.kind == frameReset {
			m.reset(f.code)
		}
		if f.kind == frameReset || f.ends() {
			m.end(f.stream)
		}
	})
	m.settle()
	return n, err
}

// Close closes the connection, which holds nothing from then on.
func (m *meter) Close() error {
	m.mu.Lock()
	m.closed, m.data, m.calls = true, 0, nil
	m.settle()
	m.mu.Unlock()
	return m.Conn.Close()
}

// arrived accounts for what was read and reports false when the budget does not suffice.
func (m *meter) arrived(b []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return true
	}
	m.in.scan(b, func(f frameHeader) {
		data, known := m.calls[f.stream]
		switch {
		case f.kind == frameHeaders && !known:
			m.calls[f.stream] = 0
		case f.kind == frameData && known:
			cost := dataCost(f.length)
			m.calls[f.stream] = data + cost
			m.data += cost
		case f.kind == frameReset:
			m.end(f.stream)
		}
	})
	return m.settle()
}

func (m *meter) end(stream uint32) {
	m.data -= m.calls[stream]
	delete(m.calls, stream)
}

// settle takes from the budget what the calls cost beyond the allowance, or gives back what they do not cost any more.
func (m *meter) settle() bool {
	calls := min(len(m.calls), maxCalls) // further ones are being refused
	due := max(0, calls*callCost+m.data-callAllowance)
	if due > m.taken && !m.budget.take(due-m.taken) {
		return false
	}
	if due < m.taken {
		m.budget.give(m.taken - due)
	}
	m.taken = due
	return true
}

// dataCost is what a DATA frame costs: package grpc reads one of more than a kilobyte into a buffer of one of two sizes, and takes the buffer
// before the bytes arrive.
func dataCost(length int) int {
	switch {
	case length == 0:
		return 0
	case length <= 1<<10:
		return frameCost + length
	case length <= 4<<10:
		return frameCost + 4<<10
	default:
		return frameCost + 16<<10
	}
}

// meteredCredentials meters connections behind the handshake, where frames can be seen, and tells of handshakes that failed.
type meteredCredentials struct {
	credentials.TransportCredentials
	ctx    context.Context // of the server: credentials are given none
	meter  func(net.Conn) net.Conn
	failed func(error)
}

// ServerHandshake makes the handshake and returns a metered connection. The end of the context ends the handshake, for which package grpc
// would wait.
func (c meteredCredentials) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	stop := context.AfterFunc(c.ctx, func() { _ = raw.Close() })
	defer stop()
	conn, info, err := c.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		if c.ctx.Err() == nil {
			c.failed(err)
		}
		return conn, info, err
	}
	return c.meter(conn), info, nil
}

// Clone copies the credentials.
func (c meteredCredentials) Clone() credentials.TransportCredentials {
	return meteredCredentials{c.TransportCredentials.Clone(), c.ctx, c.meter, c.failed}
}
