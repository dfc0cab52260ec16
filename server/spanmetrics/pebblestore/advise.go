package pebblestore

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"syscall"
)

// advise adds to an error of a start what can be done about it: a service manager would try again and again. Errors of what is in the store, not of
// the directory, mean that it is damaged, if nothing else.
func advise(path string, err error, ofContents bool) error {
	switch {
	case errors.Is(err, iofs.ErrPermission):
		return fmt.Errorf("%w: the user that the daemon runs as has to be allowed to read and write %s and all that is in it", err, path)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %s has to be on a file system that can be written", err, path)
	case errors.Is(err, syscall.ENOTDIR) && !ofContents:
		return fmt.Errorf("%w: %s has to be a directory, or one that is to be made, and no file may stand in its way", err, path)
	case errors.Is(err, iofs.ErrExist) && !ofContents:
		return fmt.Errorf("%w: %s is a link to what is not there, or a file: name a directory, or make the one that the link names", err, path)
	case isFull(err):
		return fmt.Errorf("%w: make room, or name a directory on another disk", err)
	case ofContents:
		return fmt.Errorf("%w: if it stays so, the store is damaged: delete %s, or move it away, and an empty one is made; it holds only what was not yet emitted", err, path)
	}
	return err
}

// oneLine is an error in one line, of which pebble makes several: one a file, some of them twice, as they are found again when it is closed, and
// below those of damage one that only carries what its program is to read.
type oneLine struct{ error }

func (e oneLine) Error() string {
	var lines []string
	for line := range strings.Lines(e.error.Error()) {
		line = strings.TrimSpace(line)
		if line != "" && line != carrier && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

func (e oneLine) Unwrap() error { return e.error }

// carrier is the text of pebble's error that holds the details of damage.
const carrier = "<corruption detail carrier>"

func isFull(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
