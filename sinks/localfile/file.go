package localfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// write appends lines in one call, so that those of other writers stay whole too. When the disk is full, what fitted is cut off again,
// and nothing was written.
func (f *file) write(ctx context.Context, lines []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	before, unlock, err := f.open(ctx, len(lines))
	if err != nil || len(lines) == 0 {
		unlock()
		return 0, err
	}
	defer unlock()
	if deadline, ok := ctx.Deadline(); ok {
		_ = f.f.SetWriteDeadline(deadline) // a terminal can be stopped, and has deadlines; files have not, and need none
	}
	n, err := f.f.Write(lines)
	if err != nil && n > 0 && before.Mode().IsRegular() && f.f.Truncate(before.Size()) == nil {
		return 0, err
	}
	return n, err
}

// open makes sure that f.f is what the path names now, that there is room for need bytes before the file has to be rotated, and that other
// writers of this kind wait until unlock is called. unlock is never nil.
func (f *file) open(ctx context.Context, need int) (info fs.FileInfo, unlock func(), err error) {
	// Between opening and locking another writer may rotate the file away; that does not happen often, let alone many times running.
	for range 100 {
		if err := f.reopen(); err != nil {
			return nil, nothing, err
		}
		info, unlock, err := f.lock(ctx)
		if err != nil {
			return nil, nothing, err
		}
		named, err := os.Stat(f.path)
		switch {
		case err != nil || !os.SameFile(info, named):
		case !f.full(info, need):
			return info, unlock, nil
		default:
			if err := f.rotate(); err != nil {
				unlock()
				return nil, nothing, fmt.Errorf("rotate: %w", err)
			}
		}
		unlock()
		_ = f.close() // nothing is buffered: what was written has been written
	}
	return nil, nothing, fmt.Errorf("%s is replaced faster than it can be opened", f.path)
}

func nothing() {}

// reopen opens the path if it is not open, unless it is something that can hang or is no file at all.
func (f *file) reopen() error {
	if f.f != nil {
		return nil
	}
	if info, err := os.Stat(f.path); err == nil {
		if err := f.accept(info); err != nil {
			return err
		}
	}
	opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY|openFlags, f.mode)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err == nil {
		err = f.accept(info) // it may have been replaced since
	}
	if err != nil {
		_ = opened.Close()
		return err
	}
	f.f = opened
	return nil
}

func (f *file) accept(info fs.FileInfo) error {
	what := "no file"
	switch mode := info.Mode(); {
	case mode.IsRegular() || mode&fs.ModeCharDevice != 0:
		return nil
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return fmt.Errorf("%s is %s; write to a file, or to - for standard output", f.path, what)
}

// lock keeps others out of a regular file, for which it waits until ctx ends.
func (f *file) lock(ctx context.Context) (info fs.FileInfo, unlock func(), err error) {
	unlock = nothing
	if info, err = f.f.Stat(); err == nil && info.Mode().IsRegular() {
		if unlock, err = lock(ctx, f.f); err != nil {
			return nil, nothing, fmt.Errorf("lock %s: %w", f.path, err)
		}
		info, err = f.f.Stat() // its size may have changed meanwhile
	}
	if err != nil {
		unlock()
		return nil, nothing, err
	}
	return info, unlock, nil
}

// full says whether need bytes are too many for the file. A file has at least one write in it, however large that is.
func (f *file) full(info fs.FileInfo, need int) bool {
	return f.maxBytes > 0 && info.Mode().IsRegular() && info.Size() > 0 && info.Size()+int64(need) > f.maxBytes
}

// rotate renames path to path.1, path.1 to path.2 and so on. The lock of the present file is held. Where the path is a symbolic link, that stays,
// and the file it leads to is what moves.
func (f *file) rotate() error {
	if f.maxFiles == 0 {
		return f.f.Truncate(0)
	}
	path, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return err
	}
	if !renamesOpenFiles {
		_ = f.close()
	}
	for i := f.maxFiles - 1; i >= 1; i-- {
		err := os.Rename(numbered(path, i), numbered(path, i+1))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, numbered(path, 1))
}

func numbered(path string, i int) string { return path + "." + strconv.Itoa(i) }

func (f *file) close() error {
	if f.f == nil {
		return nil
	}
	err := f.f.Close()
	f.f = nil
	return err
}
