//go:build unix

package diskqueue

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the advisory lock of a file, made if need be, which also goes with the process.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("%w: the daemon's user must be able to write to this directory", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return f.Close, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		err = ErrLocked
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
}

// syncDirectory makes the names of new files survive a loss of power.
func syncDirectory(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
