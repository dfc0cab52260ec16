package ingest

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// longestPause is for how long small batches are gathered at most. By then the wake-ups are a small part of what a datagram costs.
	longestPause = 4 * time.Millisecond
	// bufferAMillisecond is how much of a receive buffer a millisecond of a pause may need, more than a core can send.
	bufferAMillisecond = 1 << 20
)

// gate is an epoll instance of its own that a UDP socket is waited at, and that the runtime's poller watches instead of the socket. A profile at
// 100,000 datagrams of a line a second said why: of 4 us each, less than one was spent on receiving, parsing and adding. The rest were
// wake-ups, some 20 us each on that machine: the poller was woken up for each datagram that arrived while the reader was at work, and a
// reader that is faster than its senders gets a datagram or two for each of its own. Only a gate that is armed wakes anybody up; and while
// datagrams keep coming the reader looks after them once a pause rather than once each.
type gate struct {
	file   *os.File // the epoll instance
	raw    syscall.RawConn
	pause  time.Duration
	waiter func(epoll uintptr) bool
	armer  func(fd uintptr)

	epoll int
	armed bool
	event [1]unix.EpollEvent

	woke  time.Time // when the last wait or pause was over
	dense bool      // datagrams come faster than pauses pass
}

// pauseFor returns the pause that a receive buffer of so many bytes has room for, in whole milliseconds: timers are not finer.
func pauseFor(buffer int) time.Duration {
	return min(longestPause, time.Duration(buffer/bufferAMillisecond)*time.Millisecond)
}

// gatedConn is a UDP socket behind a gate. Deadlines are those of the gate.
type gatedConn struct {
	*os.File // not known to the runtime's poller
	gate     *gate
	local    net.Addr
}

func (c *gatedConn) LocalAddr() net.Addr { return c.local }

func (c *gatedConn) SetReadDeadline(t time.Time) error { return c.gate.file.SetReadDeadline(t) }

func (c *gatedConn) Close() error {
	if err := c.gate.file.Close(); err != nil {
		return net.ErrClosed
	}
	return c.File.Close()
}

// newGatedSocket takes conn over.
func newGatedSocket(conn *net.UDPConn) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	fd := -1
	if err := onDescriptor(raw, func(old int) (err error) {
		// The poller forgets the old descriptor when that is closed, and never hears of the new one.
		if fd, err = unix.FcntlInt(uintptr(old), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
		if err := unix.SetNonblock(fd, false); err != nil { // each receive call says itself whether it waits
			return os.NewSyscallError("fcntl", err)
		}
		return os.NewSyscallError("epoll_ctl", unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLONESHOT}))
	}); err != nil {
		_ = unix.Close(epoll)
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		return nil, err
	}
	_ = unix.SetNonblock(epoll, true) // which is what makes the runtime watch it
	g := &gate{file: os.NewFile(uintptr(epoll), "epoll")}
	c := &gatedConn{File: os.NewFile(uintptr(fd), "udp"), gate: g, local: conn.LocalAddr()}
	s, err := newSocketOn(c)
	if err == nil {
		g.raw, err = g.file.SyscallConn()
	}
	if err == nil {
		err = g.file.SetReadDeadline(time.Time{}) // fails if the runtime does not watch it, which NewFile keeps to itself
	}
	if err == nil {
		err = conn.Close()
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	s.gate, g.epoll, g.waiter, g.armer = g, epoll, s.arrived, g.arm
	return s, nil
}

// gather returns what has arrived, and waits when that is nothing.
func (s *socket) gather() ([]packet, error) {
	g := s.gate
	if g.dense && s.received < batchSize {
		time.Sleep(g.pause)
		g.woke = time.Now()
	}
	for {
		packets, err := s.pending()
		if len(packets) > 0 || err != nil {
			// A datagram that comes after a pause and alone is one for which no pause is made.
			g.dense = g.dense && len(packets) > 1
			return packets, err
		}
		if err := g.raw.Read(g.waiter); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				err = net.ErrClosed
			}
			return nil, err
		}
		now := time.Now()
		g.dense = now.Sub(g.woke) < g.pause
		g.woke = now
	}
}

// arrived arms the gate if it is not, and says whether something has come. It is called again whenever the runtime's poller has heard of the
// gate. That forgets what it heard before the first call of a wait, but not what comes once the gate is armed, or has come before it was.
func (s *socket) arrived(epoll uintptr) bool {
	g := s.gate
	if !g.armed {
		_ = s.raw.Control(g.armer)
	}
	n, _ := unix.EpollWait(int(epoll), g.event[:], 0)
	if n > 0 {
		g.armed = false
	}
	return n != 0 || !g.armed // a call that failed, interrupted or not, found nothing out: the reader looks itself
}

// arm lets the gate hear of the next datagram, or of one that is there.
func (g *gate) arm(fd uintptr) {
	g.event[0] = unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT}
	g.armed = unix.EpollCtl(g.epoll, unix.EPOLL_CTL_MOD, int(fd), &g.event[0]) == nil
}
