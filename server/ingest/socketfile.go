package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// socketFile is the path of a unix socket while this process holds it. A lock on a second file, path.lock, is what holds it: the
// socket file alone cannot, since it outlives a crash, and two processes that find a stale one at the same moment would each remove
// what the other has made of it.
type socketFile struct {
	path  string
	lock  *os.File
	bound fs.FileInfo // of the socket file once it is bound
	once  sync.Once   // for remove
}

// takeSocketFile gets hold of path for a socket of the network, "unix" or "unixgram", and removes a socket file that nobody listens
// on any more. A file that somebody listens on, or that is no socket, is an error.
func takeSocketFile(network, path string) (*socketFile, error) {
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	f := &socketFile{path: path, lock: lock}
	if err := removeStale(network, path); err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

// finish is called when the socket is bound, before the first message is taken from it: it gives the file its mode.
func (f *socketFile) finish(mode fs.FileMode) error {
	info, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	f.bound = info
	return os.Chmod(f.path, mode)
}

// remove gives the path up, once. A file that is not the one bound here, because somebody has put another in its place, stays.
func (f *socketFile) remove() { f.once.Do(f.removeOnce) }

func (f *socketFile) removeOnce() {
	if f.bound != nil {
		info, err := os.Lstat(f.path)
		// An inode number may be used again at once, but hardly with the same time.
		if err == nil && os.SameFile(info, f.bound) && info.ModTime().Equal(f.bound.ModTime()) {
			_ = os.Remove(f.path)
		}
	}
	// Removed before it is unlocked: whoever locks the old file in between finds that the path leads elsewhere and tries again.
	_ = os.Remove(f.lock.Name())
	_ = f.lock.Close()
}

// lockFile opens path and locks it, with the process id as its content. Links are not followed: in a directory where strangers may make them
// one could lead to any file, which would be emptied.
func lockFile(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o644)
		if err != nil {
			return nil, err
		}
		if err := tryLock(file); err != nil {
			pid := lockedBy(file)
			_ = file.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, inUse(pid)
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if !leadsTo(path, file) {
			_ = file.Close()
			continue
		}
		if err := file.Truncate(0); err == nil {
			_, _ = fmt.Fprintf(file, "%d\n", os.Getpid())
		}
		return file, nil
	}
}

func leadsTo(path string, file *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	here, err := file.Stat()
	return err == nil && os.SameFile(here, there)
}

// lockedBy reads whom a lock file belongs to, or 0.
func lockedBy(file *os.File) int {
	var content [20]byte
	n, _ := file.ReadAt(content[:], 0)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(content[:n])))
	return pid
}

// inUse is the error about a path that a living process holds; pid may be 0.
func inUse(pid int) error {
	if pid > 0 {
		return fmt.Errorf("in use by pid %d", pid)
	}
	return errors.New("in use by another process")
}

func removeStale(network, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return errors.New("exists and is not a socket")
	}
	conn, err := net.DialTimeout(network, path, time.Second)
	if err == nil {
		defer conn.Close() //nolint:errcheck // nothing was written to it
		return inUse(peerPID(conn))
	}
	// Any other error than this one comes from a process at the other end, or says nothing about it.
	if errors.Is(err, syscall.ECONNREFUSED) {
		return os.Remove(path)
	}
	if errors.Is(err, syscall.EPROTOTYPE) || errors.Is(err, syscall.EAGAIN) {
		return inUse(0)
	}
	return err
}
