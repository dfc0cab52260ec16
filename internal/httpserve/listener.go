package httpserve

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	minAcceptPause = 5 * time.Millisecond
	maxAcceptPause = time.Second
	acceptLogEvery = time.Minute
)

// listener is a net.Listener that survives what can go wrong with accepting, and whose connections are bounded: when all are taken, a
// newcomer has the place of the one that has been idle longest. Accept is for one goroutine; it fails only when the listener is closed.
type listener struct {
	net.Listener
	room    *room
	refused func() // nil: newcomers wait while all connections are busy
	log     func(line string)

	done      chan struct{}
	closeOnce sync.Once

	// Of Accept.
	failed int       // attempts since the last line
	logged time.Time // the last line
}

func newListener(ln net.Listener, s Settings) *listener {
	return &listener{Listener: ln, room: newRoom(s.MaxConnections, s.BusyGrace), refused: s.Refused, log: s.Log, done: make(chan struct{})}
}

// Accept returns the next connection that there is room for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.accept()
		if err != nil {
			return nil, err
		}
		c := &trackedConn{Conn: conn, room: l.room}
		ok, err := l.admit(c)
		if ok {
			return c, nil
		}
		_ = conn.Close()
		if err != nil {
			return nil, err
		}
		l.refused()
	}
}

// admit finds room for c. Without an error, false is that c is to be refused.
func (l *listener) admit(c *trackedConn) (bool, error) {
	for {
		ok, evicted, wait := l.room.enter(c)
		if ok {
			if evicted != nil {
				_ = evicted.Conn.Close()
				if l.refused != nil {
					l.refused()
				}
			}
			return true, nil
		}
		if wait == 0 && l.refused != nil {
			return false, nil
		}
		if !l.wait(wait) {
			return false, net.ErrClosed
		}
	}
}

// wait returns after d, 0 being for ever, or when there may be room; false is that the listener is closed.
func (l *listener) wait(d time.Duration) bool {
	var due <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
	case <-l.room.changed:
	case <-l.done:
		return false
	}
	return true
}

// accept tries until there is a connection.
func (l *listener) accept() (net.Conn, error) {
	for pause := minAcceptPause; ; pause = min(2*pause, maxAcceptPause) {
		conn, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		// No error of accept is for ever: a client that has gone, a firewall's rule, no descriptors or memory left. net/http goes on after
		// some of them only, and the daemon would end with its port.
		l.note(err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.done:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

// note logs a failed attempt, unless another was logged just before.
func (l *listener) note(err error) {
	l.failed++
	if now := time.Now(); l.logged.IsZero() || now.Sub(l.logged) >= acceptLogEvery {
		l.log(fmt.Sprintf("accepting a connection: %v; tried again after a pause (failed attempts since the last such line: %d)", err, l.failed))
		l.failed, l.logged = 0, now
	}
}

// Close ends Accept. Connections stay open.
func (l *listener) Close() error {
	l.closeOnce.Do(func() { close(l.done) })
	return l.Listener.Close()
}
