package localfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// file appends whole lines to a path that others may append to, rename or remove at the same time. It is used by one goroutine.
type file struct {
	path     string
	mode     fs.FileMode
	maxBytes int64
	maxFiles int

	f *os.File
}

func fileMode(octal string) (fs.FileMode, error) {
	mode, err := strconv.ParseUint(octal, 8, 32)
	if err != nil || fs.FileMode(mode)&^fs.ModePerm != 0 {
		return 0, fmt.Errorf("%q is not an octal permission such as 0644", octal)
	}
	return fs.FileMode(mode), nil
}

// write appends lines, all or none of them where the file can be cut back, and in one call, so that lines of other writers stay whole too.
// The number of bytes that stand in the file is returned with an error.
func (f *file) write(lines []byte) (int, error) {
	if f.path == "-" {
		return os.Stdout.Write(lines)
	}
	unlock, err := f.open()
	if err != nil {
		return 0, err
	}
	defer unlock()
	before, err := f.f.Stat()
	if err != nil {
		return 0, err
	}
	n, err := f.f.Write(lines)
	if err != nil {
		if n > 0 && before.Mode().IsRegular() && f.f.Truncate(before.Size()) == nil {
			n = 0
		}
		return n, err
	}
	if f.maxBytes > 0 && before.Size()+int64(n) >= f.maxBytes {
		return n, f.rotate()
	}
	return n, nil
}

// open makes sure that f.f is what the path names now and locks it against other writers of the same kind.
func (f *file) open() (unlock func(), err error) {
	// Between opening and locking another writer may rotate the file away; that does not happen often, let alone many times running.
	for range 100 {
		if f.f == nil {
			f.f, err = os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, f.mode)
			if err != nil {
				return nil, err
			}
		}
		unlock, err = lock(f.f)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", f.path, err)
		}
		opened, err := f.f.Stat()
		if err != nil {
			unlock()
			return nil, err
		}
		named, err := os.Stat(f.path)
		if err == nil && os.SameFile(opened, named) {
			return unlock, nil
		}
		unlock()
		_ = f.close() // nothing is buffered: what was written has been written
	}
	return nil, fmt.Errorf("%s is replaced faster than it can be opened", f.path)
}

// rotate renames path to path.1, path.1 to path.2 and so on. The lock of the present file is held.
func (f *file) rotate() error {
	if f.maxFiles == 0 {
		return f.f.Truncate(0)
	}
	for i := f.maxFiles - 1; i >= 1; i-- {
		err := os.Rename(f.numbered(i), f.numbered(i+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(f.path, f.numbered(1))
}

func (f *file) numbered(i int) string { return f.path + "." + strconv.Itoa(i) }

func (f *file) close() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}
