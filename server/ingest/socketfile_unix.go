//go:build unix && !aix && !solaris

package ingest

import (
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// tryLock locks file for this process, or returns EWOULDBLOCK when another holds it. The lock ends with the process, however that ends.
func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// beforeBind narrows the mode that a unix socket's file is made with, so that at no moment more may connect than mode allows. Linux
// does so; on other systems the call fails and the mode is set afterwards only.
func beforeBind(mode fs.FileMode) controlFunc {
	return func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), uint32(mode.Perm())) })
	}
}
