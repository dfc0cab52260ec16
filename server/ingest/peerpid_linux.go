package ingest

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peerPID returns the process that listens at the other end of a unix stream, or 0 where that is not known.
func peerPID(conn net.Conn) int {
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}
