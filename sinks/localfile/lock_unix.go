//go:build unix

package localfile

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// openFlags keep an open from waiting for the reader of a pipe, and a terminal from becoming the daemon's own.
	openFlags = unix.O_NONBLOCK | unix.O_NOCTTY

	renamesOpenFiles = true
)

// maxLockPause is between two looks at a lock that somebody else has. Waiting inside the system would outlast any deadline.
const maxLockPause = 10 * time.Millisecond

// lock takes the advisory lock of an open file, which holds between processes and between several openings in one of them.
func lock(ctx context.Context, f *os.File) (unlock func(), err error) {
	for pause := time.Millisecond; ; pause = min(2*pause, maxLockPause) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }, nil // the lock also goes with the file
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}
