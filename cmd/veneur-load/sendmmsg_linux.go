package main

import (
	"encoding/binary"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	maxMessages = 64 // of one system call; more gains nothing that can be measured
	maxSegments = maxTrainLength
	maxTrain    = 65507 // bytes of a train, which is one datagram to the socket
)

// datagrams sends up to 64 datagrams by one call of sendmmsg, or as many trains of datagrams of equal length. The memory of the corpus
// goes to the kernel as it is.
type datagrams struct {
	raw      syscall.RawConn
	gso      bool
	flags    uintptr
	messages [maxMessages]unix.Mmsghdr
	vectors  [maxMessages]unix.Iovec
	control  [maxMessages][controlWords]uint64 // in words, so that headers in it are aligned
	packets  [maxMessages]int                  // in each message
	filled   int
	writer   func(fd uintptr) bool

	sent  int // messages, of the last call
	errno syscall.Errno
}

// controlWords is room for one control message with a number of 16 bits.
const controlWords = (unix.SizeofCmsghdr + 8) / 8

// newDatagrams returns what to send over instead of conn, which it closes where that is something else.
func newDatagrams(conn net.Conn, gso bool) (connection, transport, error) {
	d := &datagrams{gso: gso, flags: unix.MSG_DONTWAIT}
	var used interface {
		connection
		syscall.Conn
	}
	switch c := conn.(type) {
	case *net.UDPConn:
		file, err := alone(c)
		if err != nil {
			return nil, nil, err
		}
		used, d.flags = file, 0
	case *net.UnixConn:
		used = c
	}
	raw, err := used.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	d.raw = raw
	for i := range d.messages {
		d.messages[i].Hdr.Iov = &d.vectors[i]
		d.messages[i].Hdr.SetIovlen(1)
		header := (*unix.Cmsghdr)(unsafe.Pointer(&d.control[i]))
		header.Level, header.Type = unix.SOL_UDP, unix.UDP_SEGMENT
		header.SetLen(unix.CmsgLen(2))
	}
	d.writer = d.sendNow
	return used, d, nil
}

// alone takes the socket out of the runtime's poller and closes conn. The poller was woken up for each datagram that left the send buffer,
// for nothing: UDP waits for nobody. By a profile that was a fifth of what sending took.
func alone(conn *net.UDPConn) (*os.File, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if errControl := raw.Control(func(old uintptr) {
		if fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			err = unix.SetNonblock(fd, false)
		}
	}); errControl != nil {
		return nil, errControl
	}
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), "udp"), conn.Close()
}

func (d *datagrams) send(c *corpus, first, n int) (int, error) {
	d.fill(c, first, n)
	if err := d.raw.Write(d.writer); err != nil {
		return 0, err
	}
	if d.errno != 0 {
		return 0, os.NewSyscallError("sendmmsg", d.errno)
	}
	sent := 0
	for _, packets := range d.packets[:d.sent] {
		sent += packets
	}
	return sent, nil
}

// fill lays out the messages of one call.
func (d *datagrams) fill(c *corpus, first, n int) {
	d.filled = 0
	for end := first + n; first < end && d.filled < maxMessages; d.filled++ {
		packets := 1
		if d.gso {
			packets = train(c, first, end-first)
		}
		i, data := d.filled, c.bytes(first, packets)
		d.packets[i] = packets
		d.vectors[i].Base = unsafe.SliceData(data)
		d.vectors[i].SetLen(len(data))
		d.setSegment(i, packets, len(c.bytes(first, 1)))
		first += packets
	}
}

func (d *datagrams) setSegment(i, packets, size int) {
	header := &d.messages[i].Hdr
	if packets == 1 {
		header.Control = nil
		header.SetControllen(0)
		return
	}
	control := unsafe.Slice((*byte)(unsafe.Pointer(&d.control[i])), controlWords*8)
	binary.NativeEndian.PutUint16(control[unix.CmsgLen(0):], uint16(size))
	header.Control = &control[0]
	header.SetControllen(unix.CmsgSpace(2))
}

// train returns how many of n packets can go as one: they are as long as the first, but the last may be shorter.
func train(c *corpus, first, n int) int {
	size, bytes := len(c.bytes(first, 1)), 0
	for i := range min(n, maxSegments) {
		next := len(c.bytes(first+i, 1))
		if bytes += next; next > size || bytes > maxTrain {
			return max(i, 1) // one alone may be longer than a train of UDP: on a unix socket
		}
		if next < size {
			return i + 1
		}
	}
	return min(n, maxSegments)
}

// sendNow makes the call and reports false when there is no room for a single message, unless the call itself waits for it.
func (d *datagrams) sendNow(fd uintptr) bool {
	for {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, fd, uintptr(unsafe.Pointer(&d.messages[0])), uintptr(d.filled), d.flags, 0, 0)
		switch errno {
		case 0:
			d.sent, d.errno = int(n), 0
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			d.sent, d.errno = 0, errno
			return true
		}
	}
}
