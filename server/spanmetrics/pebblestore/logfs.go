package pebblestore

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS is the file system of a store that is open to be written. Pebble ends the process when it cannot write its log, or make a new one: so of the log
// it is told that all went well, and the store, which asks after each commit, that it did not.
type logFS struct {
	vfs.FS
	store *Store
}

func isLog(name string) bool { return filepath.Ext(name) == ".log" }

// Create makes a file.
func (fs logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, category)
	return fs.log(name, f, err)
}

// ReuseForWrite makes a file of another.
func (fs logFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldname, newname, category)
	return fs.log(newname, f, err)
}

func (fs logFS) log(name string, f vfs.File, err error) (vfs.File, error) {
	if !isLog(name) {
		return f, err
	}
	l := &logFile{File: f, store: fs.store}
	if err != nil {
		l.File = nil
		l.fails(err)
	}
	return l, nil
}

// OpenDir opens a directory, to be synchronized.
func (fs logFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &logFile{File: f, store: fs.store}, nil
}

// logFile is a log, or the directory of one. After an error it does nothing any more.
type logFile struct {
	vfs.File // nil when it could not be made
	store    *Store
	lost     atomic.Bool
}

func (f *logFile) fails(err error) {
	if err != nil {
		f.lost.Store(true)
		f.store.fails(err)
	}
}

// Write appends to the log.
func (f *logFile) Write(b []byte) (int, error) {
	if !f.lost.Load() {
		_, err := f.File.Write(b)
		f.fails(err)
	}
	return len(b), nil
}

// Preallocate asks for room.
func (f *logFile) Preallocate(offset, length int64) error {
	if !f.lost.Load() {
		f.fails(f.File.Preallocate(offset, length))
	}
	return nil
}

// Sync makes what was written durable.
func (f *logFile) Sync() error {
	if !f.lost.Load() {
		f.fails(f.File.Sync())
	}
	return nil
}

// SyncData is Sync.
func (f *logFile) SyncData() error {
	if !f.lost.Load() {
		f.fails(f.File.SyncData())
	}
	return nil
}

// SyncTo is Sync for a part.
func (f *logFile) SyncTo(length int64) (full bool, err error) {
	if f.lost.Load() {
		return true, nil
	}
	full, err = f.File.SyncTo(length)
	f.fails(err)
	return full, nil
}

// Close closes the file.
func (f *logFile) Close() error {
	if f.File != nil {
		f.fails(f.File.Close())
	}
	return nil
}

// Stat describes the file, which is empty if it could not be made.
func (f *logFile) Stat() (vfs.FileInfo, error) {
	if f.File != nil {
		return f.File.Stat()
	}
	return noFile{}, nil
}

// Fd is none for a file that could not be made.
func (f *logFile) Fd() uintptr {
	if f.File == nil {
		return vfs.InvalidFd
	}
	return f.File.Fd()
}

// noFile describes a log that could not be made.
type noFile struct{}

func (noFile) Name() string           { return "" }
func (noFile) Size() int64            { return 0 }
func (noFile) Mode() os.FileMode      { return 0 }
func (noFile) ModTime() time.Time     { return time.Time{} }
func (noFile) IsDir() bool            { return false }
func (noFile) Sys() any               { return nil }
func (noFile) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
