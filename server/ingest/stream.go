package ingest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// handshakeTime is how long a client may take to agree on TLS.
const handshakeTime = 10 * time.Second

// streams accepts connections and reads each in a goroutine of its own. The connections of all listeners share a few lanes, each
// connection one of them.
type streams struct {
	*binding
	intakes *intakePool
	tls     *tls.Config // nil without TLS

	acceptor *acceptor
	file     *socketFile // nil unless a unix socket with a file

	stopping    atomic.Bool
	mu          sync.Mutex
	connections map[*connection]struct{}
}

// Start binds the listener.
func (s *streams) Start(ctx context.Context) error {
	listener, file, err := s.listen(ctx)
	if err != nil {
		return err
	}
	s.file = file
	s.acceptor = newAcceptor(listener, s.src.name, s.connectionLimit(), s.registry)
	s.setAddr(listener.Addr())
	return nil
}

// Close lets go of what Start bound.
func (s *streams) Close() error {
	if s.file != nil {
		s.file.remove()
	}
	return s.acceptor.Close()
}

// Run serves connections until ctx is done, reads what has been sent by then, and closes them.
func (s *streams) Run(ctx context.Context) error {
	var group sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	for {
		conn, err := s.acceptor.Accept()
		if err != nil {
			break
		}
		group.Go(func() { s.serve(ctx, conn) })
	}
	s.stopAll()
	group.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("%s: %w", s.src.name, net.ErrClosed)
	}
	return nil
}

// stopAll lets every connection read on for a moment only, those that are just being accepted included.
func (s *streams) stopAll() {
	s.stopping.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.stop()
	}
}

func (s *streams) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // nothing is written to it
	if s.tls != nil {
		secure, err := s.handshake(ctx, conn)
		if err != nil {
			if ctx.Err() == nil {
				s.acceptor.closed[closedHandshake].Inc()
				s.log.Note("TLS handshake failed", []byte(err.Error()))
			}
			return
		}
		conn = secure
	}
	c := &connection{
		conn: conn, in: s.intakes.next(), src: s.src, codec: s.newCodec(), idle: s.idleTimeout, messageTime: s.messageTime, budget: s.budget,
		stopping: &s.stopping,
	}
	s.mu.Lock()
	s.connections[c] = struct{}{}
	s.mu.Unlock()
	if s.stopping.Load() {
		c.stop() // it was accepted too late for stopAll to see it
	}
	err := c.serve()
	s.mu.Lock()
	delete(s.connections, c)
	s.mu.Unlock()
	switch {
	case errors.Is(err, errFraming):
		s.acceptor.closed[closedFraming].Inc()
	case errors.Is(err, errSlow):
		s.acceptor.closed[closedSlow].Inc()
	case errors.Is(err, errMemory):
		s.acceptor.closed[closedMemory].Inc()
	case isTimeout(err) && !s.stopping.Load():
		s.acceptor.closed[closedIdle].Inc()
	}
}

// handshake makes conn a TLS connection, in the time that a stalling client is given at most.
func (s *streams) handshake(ctx context.Context, conn net.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.handshakeTime)
	defer cancel()
	secure := tls.Server(conn, s.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return secure, nil
}
