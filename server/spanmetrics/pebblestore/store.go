// Package pebblestore keeps the buckets of span metrics in a pebble store, whose merge operator adds partial aggregates: a commit writes what came
// since the last one and reads nothing.
//
// It is the only package that links pebble. A store takes little memory and few files, whatever it holds. It has a directory to itself, which
// it locks, and refuses one that holds something else or what a later version wrote.
package pebblestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Bounds of what pebble takes.
const (
	cacheBytes    = 4 << 20
	memTableBytes = 4 << 20
	maxOpenFiles  = 64
	// format is that of pebble's files, which a later pebble must not raise by itself: then a downgrade would not open the store.
	format = pebble.FormatValueSeparation
)

// ErrFull says that there is too little room on the disk to write anything.
var ErrFull = errors.New("pebblestore: the disk is full")

// ErrBroken says that the store failed, and is not yet open again.
var ErrBroken = errors.New("pebblestore: the store failed")

// Settings is what a Store is made of.
type Settings struct {
	Path   string
	Limits partial.Limits // of merged aggregates
	// Reserve is how many bytes of the disk are left to others: below that nothing is written. It has to be more than what pebble writes
	// between two commits, since pebble does not outlive a disk that is full.
	Reserve uint64
	FS      vfs.FS // nil is that of the system
	Log     logrus.FieldLogger
}

// Store is a store.Store on disk. Make it by Open.
type Store struct {
	settings Settings
	lock     *pebble.Lock
	db       *pebble.DB  // nil while nothing can be read either
	readOnly bool        // it failed, and is open for what is there
	sequence uint64      // of the last commit that was tried
	broken   atomic.Bool // set from any goroutine
	corrupt  atomic.Uint64
}

var _ store.Store = (*Store)(nil)

// Open opens the store, which it makes if it is not there. Errors begin with the key of the configuration.
func Open(s Settings) (*Store, error) {
	if s.FS == nil {
		s.FS = vfs.Default
	}
	lock, err := claim(s.FS, s.Path)
	if err != nil {
		return nil, err
	}
	opened := &Store{settings: s, lock: lock}
	if err := opened.open(false); err != nil {
		return nil, errors.Join(fmt.Errorf("store_path: open %s: %w", s.Path, err), lock.Close())
	}
	if opened.sequence, err = opened.lastSequence(); err != nil {
		return nil, errors.Join(fmt.Errorf("store_path: read %s: %w", s.Path, err), opened.Close())
	}
	return opened, nil
}

func (s *Store) open(readOnly bool) error {
	s.broken.Store(false)
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	options := &pebble.Options{
		Cache:                       cache,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		MaxOpenFiles:                maxOpenFiles,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, 1 },
		DisableTableStats:           true,
		FormatMajorVersion:          format,
		FS:                          s.settings.FS,
		Lock:                        s.lock,
		Logger:                      logger{s},
		Merger:                      s.merger(),
		ReadOnly:                    readOnly,
	}
	db, err := pebble.Open(s.settings.Path, options)
	if err == nil && s.broken.Load() {
		err = errors.Join(ErrBroken, db.Close())
	}
	if err != nil {
		return err
	}
	s.db, s.readOnly = db, readOnly
	return nil
}

// Corrupt returns how many partials could not be read, and were left out.
func (s *Store) Corrupt() uint64 { return s.corrupt.Load() }

// Bytes returns how much of the disk the store takes.
func (s *Store) Bytes() uint64 {
	if s.db == nil {
		return 0
	}
	return s.db.Metrics().DiskSpaceUsage()
}

// Commit writes changes and waits until they are on the disk.
func (s *Store) Commit(changes []store.Change) error {
	if err := s.writable(); err != nil {
		return err
	}
	if s.db == nil || s.readOnly {
		if err := s.reopen(); err != nil {
			return fmt.Errorf("%w: %w", ErrBroken, err)
		}
		s.settings.Log.Info("the store of span metrics takes something again")
	}
	if len(changes) == 0 {
		return nil
	}
	batch := s.db.NewBatch()
	for i := range changes {
		if err := s.add(batch, &changes[i]); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	s.sequence++
	err := batch.Set([]byte{sequenceKey}, binary.BigEndian.AppendUint64(nil, s.sequence), nil)
	err = errors.Join(err, batch.Commit(pebble.Sync))
	err = errors.Join(err, batch.Close())
	if !s.broken.Load() {
		return err
	}
	// Whether the changes are on the disk shows when it is read again: to make them twice would be as bad as not at all.
	if s.reopen() == nil || s.db != nil {
		if made, err := s.lastSequence(); err == nil && made == s.sequence {
			return nil
		}
	}
	return ErrBroken
}

// reopen opens a store that failed; if it cannot be written, then to be read, with the error.
func (s *Store) reopen() error {
	if s.db != nil {
		_ = s.db.Close() // it failed, and says so again
		s.db = nil
	}
	err := s.open(false)
	if err == nil {
		return nil
	}
	if s.open(true) != nil {
		s.db = nil
	}
	return err
}

// lastSequence returns the number of the last commit that is on the disk, 0 when there is none.
func (s *Store) lastSequence() (uint64, error) {
	value, closer, err := s.db.Get([]byte{sequenceKey})
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	sequence := uint64(0)
	if len(value) == 8 {
		sequence = binary.BigEndian.Uint64(value)
	}
	return sequence, closer.Close()
}

func (s *Store) add(batch *pebble.Batch, c *store.Change) error {
	switch c.Op {
	case store.Merge:
		return batch.Merge(partitionKey(c.Bucket, c.Partition), c.Partial, nil)
	case store.Close:
		return batch.Set(bucketKey(markKey, c.Bucket), nil, nil)
	}
	for _, kind := range []byte{markKey, dataKey} {
		if err := s.each(bucketKey(kind, c.Bucket), func(key []byte, _ func() ([]byte, error)) error {
			return batch.Delete(key, nil)
		}); err != nil {
			return err
		}
	}
	return nil
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

// each calls f with every key that begins with prefix, and a way to its value; both are lent.
func (s *Store) each(prefix []byte, f func(key []byte, value func() ([]byte, error)) error) error {
	if s.db == nil {
		return ErrBroken
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if err := f(it.Key(), it.ValueAndErr); err != nil {
			return errors.Join(err, it.Close())
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// Buckets lists the buckets there are.
func (s *Store) Buckets() ([]store.State, error) {
	closed := map[store.Bucket]bool{}
	err := s.each(nil, func(key []byte, _ func() ([]byte, error)) error {
		if b, kind, ok := bucketOf(key); ok {
			closed[b] = closed[b] || kind == markKey
		}
		return nil
	})
	return store.Sorted(closed), err
}

// Read merges what a bucket holds into a set.
func (s *Store) Read(b store.Bucket, into *partial.Set) error {
	return s.each(bucketKey(dataKey, b), func(_ []byte, value func() ([]byte, error)) error {
		wire, err := value()
		if err != nil {
			return err
		}
		if into.Merge(wire) != nil {
			s.corrupt.Add(1)
		}
		return nil
	})
}

// Close closes the store.
func (s *Store) Close() error {
	var err error
	if s.db != nil {
		err = s.db.Close()
		s.db = nil
	}
	return errors.Join(err, s.lock.Close())
}

// logger takes pebble's messages: what fails is told, and nothing ends the process.
type logger struct{ s *Store }

func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(format string, args ...any) {
	l.s.settings.Log.Warnf("store of span metrics: "+format, args...)
}

// Fatalf is called where pebble cannot go on. It returns, and what it was called from fails soon after.
func (l logger) Fatalf(format string, args ...any) {
	if !l.s.broken.Swap(true) {
		l.s.settings.Log.Errorf("store of span metrics: "+format, args...)
	}
}
