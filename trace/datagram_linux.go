package trace

import (
	"encoding/binary"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// The kernel cuts at most so many datagrams off one message, which is no larger than a datagram can be.
	maxTrain      = 64
	maxTrainBytes = 65507
)

// batcher sends up to maxBatch messages with one system call. Over UDP a message is a train: packets that lie behind each other and are of one
// size, but for a last one that is smaller, which the kernel cuts into datagrams when they are through most of its network stack. Spans of one
// kind are nearly always of one size, and the stack is what a datagram costs: 3,200 ns each, and 480 in a train.
type batcher struct {
	raw      syscall.RawConn
	messages [maxBatch]unix.Mmsghdr
	vectors  [maxBatch]unix.Iovec
	packets  [maxBatch]int    // of each message
	controls [maxBatch][]byte // say the size of a train's packets
	trains   bool             // this socket, and the way from it, can do so
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
	if _, ok := conn.(*net.UDPConn); ok {
		return m, m.couple()
	}
	return m, nil
}

// couple prepares for trains if the kernel knows them: one that does not would send each as one datagram.
func (m *batcher) couple() error {
	err := m.raw.Control(func(fd uintptr) {
		_, err := unix.GetsockoptInt(int(fd), unix.SOL_UDP, unix.UDP_SEGMENT)
		m.trains = err == nil
	})
	for i := range m.controls {
		m.controls[i] = make([]byte, unix.CmsgSpace(2))
		header := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(m.controls[i])))
		header.Level, header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
		header.SetLen(unix.CmsgLen(2))
	}
	return err
}

// send sends the next packets of b, waits while the socket has no room for the first, and returns how many it sent. An error is that of the
// packet behind them.
func (m *batcher) send(b *buffer) (n int, err error) {
	m.count = 0
	for i := b.next; i < len(b.ends) && m.count < maxBatch; {
		i += m.load(b, i)
	}
	m.sent, m.errno = 0, 0
	if err := m.raw.Write(m.sender); err != nil {
		return 0, err
	}
	for i := range m.sent {
		n += m.packets[i]
	}
	switch {
	case m.errno == 0: // which is also said when only some were sent
		return n, nil
	case m.packets[0] > 1 && refusesTrains(m.errno):
		m.trains = false
		return 0, nil
	}
	return 0, os.NewSyscallError("sendmmsg", m.errno)
}

// load makes the packet i, and those that go with it, the next message, and returns how many they are.
func (m *batcher) load(b *buffer, i int) int {
	first := b.packet(i, format{})
	size, length, n := len(first), len(first), 1
	if m.trains && size > 0 {
		for ; n < maxTrain && i+n < len(b.ends); n++ {
			next := len(b.packet(i+n, format{}))
			if next == 0 || next > size || length+next > maxTrainBytes {
				break
			}
			length += next
			if next < size {
				n++
				break
			}
		}
	}
	hdr := &m.messages[m.count].Hdr
	if n > 1 {
		control := m.controls[m.count]
		binary.NativeEndian.PutUint16(control[unix.CmsgLen(0):], uint16(size))
		hdr.Control = unsafe.SliceData(control)
		hdr.SetControllen(len(control))
	} else {
		hdr.Control = nil
		hdr.SetControllen(0)
	}
	m.vectors[m.count].Base = unsafe.SliceData(first)
	m.vectors[m.count].SetLen(length)
	m.packets[m.count] = n
	m.count++
	return n
}

// refusesTrains says that the kernel may have meant the train and not its packets: those that are larger than what the way takes whole, and devices
// without checksums.
func refusesTrains(errno syscall.Errno) bool {
	return errno == unix.EMSGSIZE || errno == unix.EINVAL || errno == unix.EIO
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
