package pebblestore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// failure is what went wrong with the open store. It is set from any goroutine.
type failure struct {
	err  atomic.Pointer[error] // of the first since it was opened: it has to be opened again
	told atomic.Int64          // when one was logged, in unix seconds

	starting atomic.Bool           // Open is at work: what fails it returns
	found    atomic.Pointer[error] // damage that was found meanwhile
}

// failed says why the store has to be opened again, if so.
func (f *failure) failed() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

// goOn opens the store again after it failed: to be written, if there is room and it may be; otherwise to be read, with an error.
func (s *Store) goOn() error {
	err := s.writable()
	if err == nil {
		s.close()
		if err = s.open(false); err == nil {
			return nil
		}
	}
	if s.db == nil || !s.readOnly {
		s.openToRead()
	}
	return err
}

// openToRead opens the store for what is there, if it can.
func (s *Store) openToRead() {
	s.close()
	if err := s.open(true); errors.Is(err, pebble.ErrDBDoesNotExist) {
		s.index, s.last, s.sequence, s.empty = index{}, store.Bucket{}, 0, true
	} // otherwise, if it fails, reading says so
}

func (s *Store) close() {
	if s.db != nil {
		_ = s.db.Close() // what failed says so again
		s.db = nil
	}
}

// writable says why nothing may be written now, if so. A directory that is gone, or another than was opened, is not written to: pebble would go on
// for long in files that nobody finds again.
func (s *Store) writable() error {
	fs := s.settings.FS
	if _, err := fs.Stat(fs.PathJoin(s.settings.Path, markerName)); isNotExist(err) {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	usage, err := fs.GetDiskUsage(s.settings.Path)
	if err == nil && usage.AvailBytes < s.settings.Reserve { // where the system does not tell, writing will
		return ErrFull
	}
	return nil
}

// failsInBackground takes note of an error that nobody waits for. What cannot be written has been told by the file system.
func (s *Store) failsInBackground(err error) {
	if pebble.IsCorruptionError(err) { // the rest of the store goes on, and pebble waits before it tries again
		s.damaged(err)
		return
	}
	s.fails(err)
	time.Sleep(retryPause) // with which pebble waits
}

// retryPause is between two tries of what failed in the background, until the store is closed at the next commit.
const retryPause = 50 * time.Millisecond

func (s *Store) fails(err error) {
	s.failure.err.CompareAndSwap(nil, &err)
	if !s.failure.starting.Load() && s.mayTell() {
		s.settings.Log.WithError(err).Error("the store of span metrics failed")
	}
}

func (s *Store) damaged(err error) {
	if s.failure.starting.Load() {
		s.failure.found.CompareAndSwap(nil, &err)
		return
	}
	if s.failure.failed() == nil && s.mayTell() {
		s.settings.Log.WithError(err).Errorf(
			"the store of span metrics is damaged, and some of what is not yet emitted is lost: if this does not end, stop the daemon and delete %s", s.settings.Path)
	}
}

// mayTell says whether it is time again to log what may fail for long.
func (s *Store) mayTell() bool {
	now, told := time.Now().Unix(), s.failure.told.Load()
	return now-told >= tellEvery && s.failure.told.CompareAndSwap(told, now)
}

// tellEvery is the least number of seconds between two messages about what may fail again and again.
const tellEvery = 60

// logger takes pebble's messages: what fails is told, and nothing ends the process.
type logger struct{ s *Store }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.s.settings.Log.Warnf("store of span metrics: "+format, args...)
}

// Fatalf is called where pebble cannot go on. It returns, and what it was called from fails soon after.
func (l logger) Fatalf(format string, args ...any) { l.s.fails(fmt.Errorf(format, args...)) }
