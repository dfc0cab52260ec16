package pebblestore

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// markerName is the file by which a directory of ours is known, with the version of what is in it.
const (
	markerName = "VENEUR-SPAN-METRICS"
	version    = "1"
	lockName   = "LOCK" // pebble's
)

// claim makes sure that the directory is ours or empty, makes it if need be, and locks it.
func claim(fs vfs.FS, path string) (*pebble.Lock, error) {
	names, err := fs.List(path)
	if err != nil && !isNotExist(err) {
		return nil, fmt.Errorf("span_metrics.store_path: %w", err)
	}
	marked, fresh := false, true
	for _, name := range names {
		marked = marked || name == markerName
		fresh = fresh && (name == markerName || name == lockName)
	}
	if !marked && !fresh {
		return nil, fmt.Errorf("span_metrics.store_path: %s is not empty and holds no span metrics: name an empty directory, or one that is to be made", path)
	}
	if marked {
		if marked, err = checkVersion(fs, fs.PathJoin(path, markerName), fresh); err != nil {
			return nil, err
		}
	}
	if err := fs.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("span_metrics.store_path: %w", err)
	}
	lock, err := pebble.LockDirectory(path, fs)
	if notOpened := (*iofs.PathError)(nil); errors.As(err, &notOpened) {
		return nil, fmt.Errorf("span_metrics.store_path: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("span_metrics.store_path: %s is in use by another process: %w", path, err)
	}
	if !marked {
		if err := mark(fs, path); err != nil {
			return nil, errors.Join(fmt.Errorf("span_metrics.store_path: %w", err), lock.Close())
		}
	}
	return lock, nil
}

func isNotExist(err error) bool { return errors.Is(err, iofs.ErrNotExist) }

// checkVersion reads the marker. It says no to one that was not written to its end, as when the disk was full, in a directory that has nothing else yet.
func checkVersion(fs vfs.FS, name string, fresh bool) (marked bool, err error) {
	f, err := fs.Open(name)
	if err != nil {
		return false, fmt.Errorf("span_metrics.store_path: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, 100))
	if err := errors.Join(err, f.Close()); err != nil {
		return false, fmt.Errorf("span_metrics.store_path: read %s: %w", name, err)
	}
	found := strings.TrimSpace(string(text))
	if found == "" && fresh {
		return false, nil
	}
	if found != version {
		return false, fmt.Errorf("span_metrics.store_path: %s says version %q and this program knows version %s: name another directory, or run the program that wrote it", name, found, version)
	}
	return true, nil
}

func mark(fs vfs.FS, path string) error {
	f, err := fs.Create(fs.PathJoin(path, markerName), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(version + "\n"))
	return errors.Join(err, f.Sync(), f.Close())
}
