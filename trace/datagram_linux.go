package trace

import (
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// batcher sends up to maxBatch datagrams with one system call.
type batcher struct {
	raw      syscall.RawConn
	messages [maxBatch]unix.Mmsghdr
	vectors  [maxBatch]unix.Iovec
	sender   func(fd uintptr) bool

	count int // messages to send
	sent  int
	errno syscall.Errno
}

func newBatcher(conn net.Conn) (*batcher, error) {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	m := &batcher{raw: raw}
	for i := range m.messages {
		m.messages[i].Hdr.Iov = &m.vectors[i]
		m.messages[i].Hdr.SetIovlen(1)
	}
	m.sender = m.sendNow
	return m, nil
}

// send sends the next packets of b, waits while the socket has no room for the first, and returns how many it sent. An error is that of the
// packet behind them.
func (m *batcher) send(b *buffer) (int, error) {
	m.count = 0
	for i := b.next; i < len(b.ends) && m.count < maxBatch; i++ {
		packet := b.packet(i, format{})
		m.vectors[m.count].Base = unsafe.SliceData(packet)
		m.vectors[m.count].SetLen(len(packet))
		m.count++
	}
	m.sent, m.errno = 0, 0
	if err := m.raw.Write(m.sender); err != nil {
		return m.sent, err
	}
	if m.errno != 0 {
		return m.sent, os.NewSyscallError("sendmmsg", m.errno)
	}
	return m.sent, nil
}

// sendNow reports false when the socket has no room: the runtime's poller then waits for it, until the connection is closed.
func (m *batcher) sendNow(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&m.messages[0])), uintptr(m.count), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			m.sent = int(n)
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			m.errno = errno
			return true
		}
	}
}
