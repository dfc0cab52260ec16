package pebblestore

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// diskFS is the file system of a store that is open to be written. What fails to be written is told to the store, and not to pebble, and from then on
// nothing is written any more: the disk stays as it was, as after a crash, which pebble outlives, while pebble believes that all goes well. Told of an
// error it would end the process, when it is about its log, or try again without a pause and for ever, even before an open returns.
type diskFS struct {
	vfs.FS
	store *Store
}

// lost says that nothing is written any more. It is the store's own note of a failure and no other, so that a commit that was not written is one that
// finds the note.
func (fs *diskFS) lost() bool { return fs.store.failure.failed() != nil }

// fails takes note of an error, if it is one.
func (fs *diskFS) fails(err error) {
	if err != nil {
		fs.store.fails(err)
	}
}

// do changes something on the disk, unless something has failed.
func (fs *diskFS) do(change func() error) error {
	if !fs.lost() {
		fs.fails(change())
	}
	return nil
}

func (fs *diskFS) file(open func() (vfs.File, error)) (vfs.File, error) {
	f := &diskFile{fs: fs}
	_ = fs.do(func() (err error) {
		f.File, err = open()
		if err != nil {
			f.File = nil
		}
		return err
	})
	return f, nil
}

// Create makes a file.
func (fs *diskFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.Create(name, c) })
}

// ReuseForWrite makes a file of another.
func (fs *diskFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.ReuseForWrite(oldname, newname, c) })
}

// OpenReadWrite opens a file.
func (fs *diskFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, c, opts...) })
}

// OpenDir opens a directory, to be synchronized.
func (fs *diskFS) OpenDir(name string) (vfs.File, error) {
	return fs.file(func() (vfs.File, error) { return fs.FS.OpenDir(name) })
}

// Rename gives a file another name.
func (fs *diskFS) Rename(oldname, newname string) error {
	return fs.do(func() error { return fs.FS.Rename(oldname, newname) })
}

// Link gives a file a further name.
func (fs *diskFS) Link(oldname, newname string) error {
	return fs.do(func() error { return fs.FS.Link(oldname, newname) })
}

// Remove deletes a file. That it cannot be deleted harms nobody.
func (fs *diskFS) Remove(name string) error {
	if fs.lost() {
		return nil
	}
	return fs.FS.Remove(name)
}

// RemoveAll deletes a directory.
func (fs *diskFS) RemoveAll(name string) error {
	if fs.lost() {
		return nil
	}
	return fs.FS.RemoveAll(name)
}

// diskFile is a file of a diskFS that is written.
type diskFile struct {
	vfs.File // nil when it could not be made
	fs       *diskFS
	size     atomic.Int64 // of what was to be written
}

// Write appends to the file.
func (f *diskFile) Write(b []byte) (int, error) {
	f.size.Add(int64(len(b)))
	return len(b), f.fs.do(func() error {
		_, err := f.File.Write(b)
		return err
	})
}

// WriteAt writes into the file.
func (f *diskFile) WriteAt(b []byte, at int64) (int, error) {
	return len(b), f.fs.do(func() error {
		_, err := f.File.WriteAt(b, at)
		return err
	})
}

// Preallocate asks for room.
func (f *diskFile) Preallocate(offset, length int64) error {
	return f.fs.do(func() error { return f.File.Preallocate(offset, length) })
}

// Sync makes what was written durable.
func (f *diskFile) Sync() error { return f.fs.do(func() error { return f.File.Sync() }) }

// SyncData is Sync.
func (f *diskFile) SyncData() error { return f.fs.do(func() error { return f.File.SyncData() }) }

// SyncTo is Sync for a part.
func (f *diskFile) SyncTo(length int64) (full bool, err error) {
	full = true
	err = f.fs.do(func() (err error) {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

// Close closes the file, in any case.
func (f *diskFile) Close() error {
	if f.File != nil {
		f.fs.fails(f.File.Close())
	}
	return nil
}

// Stat describes the file.
func (f *diskFile) Stat() (vfs.FileInfo, error) {
	if f.File != nil {
		return f.File.Stat()
	}
	return noFile{size: f.size.Load()}, nil
}

// Fd is none for a file that could not be made.
func (f *diskFile) Fd() uintptr {
	if f.File == nil {
		return vfs.InvalidFd
	}
	return f.File.Fd()
}

// noFile describes a file that could not be made.
type noFile struct{ size int64 }

func (noFile) Name() string           { return "" }
func (f noFile) Size() int64          { return f.size }
func (noFile) Mode() os.FileMode      { return 0 }
func (noFile) ModTime() time.Time     { return time.Time{} }
func (noFile) IsDir() bool            { return false }
func (noFile) Sys() any               { return nil }
func (noFile) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
