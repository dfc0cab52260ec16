//go:build unix

package localfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the advisory lock of an open file, which holds between processes and between several openings in one of them.
func lock(f *os.File) (unlock func(), err error) {
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR { //nolint:errorlint // Flock returns the bare number
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }, nil // the lock also goes with the file
}
