package ingest

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// batchSize is how many datagrams one system call fetches at most. More gains nothing that can be measured.
	batchSize = 64

	// slotStride is how far apart the datagrams of a batch lie. It is no power of two: the first lines of all slots, which is all
	// that small datagrams fill, would fall into the same few cache sets.
	slotStride = maxDatagram + 1536

	// controlSize holds the one control message that is asked for, the segment size of a coalesced receive.
	controlSize = 64

	dropsInMemInfo = 8 // index of the drops in the array that SO_MEMINFO gives
	memInfoLength  = 9
)

// socket receives datagrams, up to batchSize by one system call, into a slab of its own. Memory of the slab that no datagram ever
// reached is never touched, so a socket costs what its senders send. It belongs to one reader; only drops may be called by others.
type socket struct {
	conn conn
	raw  syscall.RawConn
	gate *gate // what is waited at, nil where it is the runtime's poller

	slab     []byte
	control  []byte
	vectors  [batchSize]unix.Iovec
	messages [batchSize]unix.Mmsghdr
	packets  []packet
	receiver func(fd uintptr) bool
	looker   func(fd uintptr)
	some     bool // what looker found

	received int // messages of the last call, whose headers the kernel has written to
	errno    syscall.Errno

	mu        sync.Mutex // guards what follows; conn is not closed while it is held
	closed    bool
	lastDrops uint32
	allDrops  uint64
}

// conn is what a socket needs of a connection.
type conn interface {
	syscall.Conn
	LocalAddr() net.Addr
	SetReadDeadline(t time.Time) error
	Close() error
}

// newSocket takes conn over.
func newSocket(c net.PacketConn) (*socket, error) { return newSocketOn(c.(conn)) }

func newSocketOn(conn conn) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{
		conn:    conn,
		raw:     raw,
		slab:    make([]byte, batchSize*slotStride),
		control: make([]byte, batchSize*controlSize),
		packets: make([]packet, 0, batchSize),
	}
	for i := range s.messages {
		s.vectors[i].Base = &s.slab[i*slotStride]
		s.vectors[i].SetLen(maxDatagram)
		header := &s.messages[i].Hdr
		header.Iov = &s.vectors[i]
		header.SetIovlen(1)
		header.Control = &s.control[i*controlSize]
		header.SetControllen(controlSize)
	}
	s.receiver = s.receiveNow
	s.looker = func(fd uintptr) { s.some = s.receiveNow(fd) }
	return s, nil
}

// receive waits for datagrams. They are valid until the next call.
func (s *socket) receive() ([]packet, error) {
	if s.gate != nil {
		return s.gather()
	}
	if err := s.raw.Read(s.receiver); err != nil {
		return nil, err
	}
	return s.batch()
}

// pending returns what has arrived already, without waiting; no datagrams when there are none.
func (s *socket) pending() ([]packet, error) {
	if s.raw.Control(s.looker) != nil {
		return nil, net.ErrClosed
	}
	if !s.some {
		return nil, nil
	}
	return s.batch()
}

// receiveNow makes the call and reports false when there is nothing to receive. It stays inside the runtime's poller, which wakes the
// reader up and honours deadlines and Close; MSG_WAITFORONE and a thread of its own would do neither.
func (s *socket) receiveNow(fd uintptr) bool {
	for i := range s.received {
		s.messages[i].Hdr.SetControllen(controlSize)
	}
	s.received = 0
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd, uintptr(unsafe.Pointer(&s.messages[0])), batchSize,
			unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			s.received, s.errno = int(n), 0
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			s.errno = errno
			return true
		}
	}
}

// batch cuts what the last call received into datagrams.
func (s *socket) batch() ([]packet, error) {
	if s.errno != 0 {
		return nil, os.NewSyscallError("recvmmsg", s.errno)
	}
	s.packets = s.packets[:0]
	for i := range s.received {
		message := &s.messages[i]
		data := s.slab[i*slotStride:][:message.Len]
		truncated := message.Hdr.Flags&unix.MSG_TRUNC != 0
		// Each segment of a coalesced receive was a datagram to its sender: its last line has no line end.
		if size := segmentSize(&message.Hdr); size > 0 {
			for len(data) > size {
				s.packets = append(s.packets, packet{data: data[:size:size]})
				data = data[size:]
			}
		}
		s.packets = append(s.packets, packet{data: data[:len(data):len(data)], truncated: truncated})
	}
	return s.packets, nil
}

// segmentSize returns the size of all segments but the last of a coalesced receive, and 0 for a plain datagram.
func segmentSize(header *unix.Msghdr) int {
	const sizeOfHeader = unix.SizeofCmsghdr
	if header.Controllen < sizeOfHeader+4 {
		return 0
	}
	message := (*unix.Cmsghdr)(unsafe.Pointer(header.Control))
	if message.Level != unix.SOL_UDP || message.Type != unix.UDP_GRO {
		return 0
	}
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(header.Control), sizeOfHeader)))
}

// drops returns how many datagrams the kernel has thrown away since the socket was opened, because its buffer was full or for any
// other reason. A train of datagrams sent as one counts as one. It may be called at any time from any goroutine.
func (s *socket) drops() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.allDrops
	}
	_ = s.raw.Control(func(fd uintptr) {
		var info [memInfoLength]uint32
		size := uint32(unsafe.Sizeof(info))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&info[0])), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 && size == uint32(unsafe.Sizeof(info)) {
			// The kernel's count has 32 bits and starts again at zero.
			s.allDrops += uint64(info[dropsInMemInfo] - s.lastDrops)
			s.lastDrops = info[dropsInMemInfo]
		}
	})
	return s.allDrops
}

// close reads the drops for the last time and closes the connection.
func (s *socket) close() error {
	s.drops()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.conn.Close()
}

// openUDP binds n sockets to one address, between which the kernel spreads the senders. granted is the receive buffer in bytes that
// each of them got, at most buffer; a buffer of 0 leaves it to the system.
//
// The first one is bound alone, and allowed to share only then: an address that anybody else holds, be it by another daemon that
// would share it, is an error.
func openUDP(ctx context.Context, network, address string, n, buffer int) (sockets []*socket, granted int, err error) {
	defer func() {
		if err != nil {
			for _, s := range sockets {
				_ = s.conn.Close()
			}
		}
	}()
	granted = buffer
	for i := range n {
		config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
			return onDescriptor(raw, func(fd int) error {
				if i > 0 {
					if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
						return os.NewSyscallError("setsockopt SO_REUSEPORT", err)
					}
				}
				granted = min(granted, setReceiveBuffer(fd, buffer))
				// Kernels before 5.0 do not know it: datagrams then come one by one.
				_ = unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1)
				return nil
			})
		}}
		conn, err := config.ListenPacket(ctx, network, address)
		if err != nil {
			return sockets, 0, err
		}
		s, err := newGatedSocket(conn.(*net.UDPConn))
		if err != nil {
			_ = conn.Close()
			return sockets, 0, err
		}
		sockets = append(sockets, s)
		if i == 0 && n > 1 {
			if err := onDescriptor(s.raw, func(fd int) error {
				return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			}); err != nil {
				return sockets, 0, fmt.Errorf("listen %s %s: %w", network, address, os.NewSyscallError("setsockopt SO_REUSEPORT", err))
			}
			address = conn.LocalAddr().String() // the port, when the system chose it
		}
	}
	for _, s := range sockets {
		s.gate.pause = pauseFor(granted)
	}
	return sockets, granted, nil
}

// setReceiveBuffer asks for a receive buffer, past the system's limit when allowed to, and returns what it got, at most size.
func setReceiveBuffer(fd, size int) int {
	if size == 0 {
		return 0
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, size)
	}
	granted, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return 0
	}
	return min(granted/2, size) // the kernel keeps and reports double, for its own bookkeeping
}

func onDescriptor(raw syscall.RawConn, f func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
