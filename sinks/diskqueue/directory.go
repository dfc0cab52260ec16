package diskqueue

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	dirMode  = 0o700
	fileMode = 0o600

	markName = "queue"
	markText = "veneur disk queue "
	version  = "1"
	lockName = "lock"
)

// held is a directory that is this queue's, as long as its lock is the file it was.
type held struct {
	lock   fs.FileInfo
	unlock func() error // lets it go
}

// openDirectory makes the directory if need be, locks it, and makes sure that it is the queue of that signal.
func openDirectory(dir, signal string) (h held, err error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return h, fmt.Errorf("%w: the daemon's user must be able to make this directory, or to write to it", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return h, fmt.Errorf("%w: the daemon's user must own this directory", err)
	}
	if err := ownable(dir, entries); err != nil {
		return h, err
	}
	path := filepath.Join(dir, lockName)
	if h.unlock, err = lock(path); err != nil {
		return h, err
	}
	if h.lock, err = os.Stat(path); err == nil {
		err = mark(dir, signal)
	}
	if err != nil {
		return h, errors.Join(err, h.unlock())
	}
	return h, nil
}

// ownable refuses a directory in which somebody else keeps something.
func ownable(dir string, entries []fs.DirEntry) error {
	foreign := ""
	for _, e := range entries {
		switch name := e.Name(); name {
		case markName:
			return nil
		case lockName, cursorName, "lost+found": // the last is of a file system of its own
		default:
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s holds %q and is no disk queue: give the queue a directory of its own", dir, foreign)
	}
	return nil
}

// mark reads what the directory says it is, or writes it into a new one.
func mark(dir, signal string) error {
	path := filepath.Join(dir, markName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(text) == 0 {
		return os.WriteFile(path, []byte(markText+version+" "+signal+"\n"), fileMode)
	}
	if err != nil {
		return fmt.Errorf("%w: the daemon's user must own the files of its queue", err)
	}
	rest, ok := strings.CutPrefix(string(text), markText)
	words := strings.Fields(rest)
	switch {
	case !ok || len(words) != 2:
		return fmt.Errorf("%s is not the mark of a disk queue: give the queue a directory of its own", path)
	case words[0] != version:
		return fmt.Errorf("%s is a queue of version %s and this daemon knows version %s: let the daemon that wrote it send it, or move it away",
			dir, words[0], version)
	case words[1] != signal:
		return fmt.Errorf("%s holds %s and this sink takes %s: give it another directory", dir, words[1], signal)
	}
	return nil
}

// segments returns the numbers of the segments that are there, ascending.
func segments(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var ids []uint64
	for _, e := range entries {
		if id, ok := segmentID(e.Name()); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// ErrLocked says that somebody uses the directory.
var ErrLocked = errors.New("is in use by another process or another sink: give each queue a directory of its own")
