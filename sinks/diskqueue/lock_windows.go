package diskqueue

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lock locks a file, made if need be; the lock also goes with the process.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == nil:
		return f.Close, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		err = ErrLocked
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
}

// syncDirectory does nothing: there directories are not synced.
func syncDirectory(string) error { return nil }
