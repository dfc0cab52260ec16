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
	"sync"
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
	db       *pebble.DB // nil while nothing can be read either
	readOnly bool       // it failed, and is open for what is there
	index    index
	last     store.Bucket // see Last
	sequence uint64       // of the last commit that was tried
	broken   atomic.Bool  // set from any goroutine
	corrupt  atomic.Uint64
	sets     sync.Pool // of *partial.Set, empty: what merges are at work with
	values   sync.Pool // of *[]byte: what they made
	bytes    atomic.Uint64
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
	opened.sets.New = func() any { return partial.New(s.Limits) }
	opened.values.New = func() any { return new([]byte) }
	if err := opened.open(false); err != nil {
		return nil, errors.Join(fmt.Errorf("store_path: open %s: %w", s.Path, err), lock.Close())
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
	if err := s.load(); err != nil {
		err = errors.Join(err, db.Close())
		s.db = nil
		return err
	}
	s.bytes.Store(db.Metrics().DiskSpaceUsage())
	return nil
}

// load reads what is kept in memory of the store.
func (s *Store) load() error {
	s.index, s.last, s.sequence = index{}, store.Bucket{}, 0
	it, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		key := it.Key()
		b, partition, kind := readKey(key)
		switch kind {
		case dataKey:
			s.index.of(b).add(partition)
		case markKey:
			s.index.of(b).closed = true
		case lastKey, sequenceKey:
			value, err := it.ValueAndErr()
			if err != nil {
				return errors.Join(err, it.Close())
			}
			if kind == lastKey {
				s.last, _, _ = readKey(value)
			} else if len(value) == 8 {
				s.sequence = binary.BigEndian.Uint64(value)
			}
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// Corrupt returns how many partials could not be read, and were left out.
func (s *Store) Corrupt() uint64 { return s.corrupt.Load() }

// Bytes returns how much of the disk the store took after the last commit. Any goroutine may ask.
func (s *Store) Bytes() uint64 { return s.bytes.Load() }

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
		if err := s.add(batch, changes, i); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	s.sequence++
	sequence := s.sequence
	err := batch.Set([]byte{sequenceKey}, binary.BigEndian.AppendUint64(nil, sequence), nil)
	err = errors.Join(err, batch.Commit(pebble.Sync))
	err = errors.Join(err, batch.Close())
	if !s.broken.Load() {
		if err == nil {
			s.made(changes)
		}
		return err
	}
	// Whether the changes are on the disk shows when it is read again: to make them twice would be as bad as not at all.
	if s.reopen() == nil || s.db != nil {
		if s.sequence == sequence {
			return nil
		}
	}
	s.sequence = sequence
	return ErrBroken
}

// made notes changes that are on the disk.
func (s *Store) made(changes []store.Change) {
	s.index.apply(changes)
	s.last = store.LastClosed(s.last, changes)
	s.bytes.Store(s.db.Metrics().DiskSpaceUsage())
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

// add adds one of the changes of a commit to its batch.
func (s *Store) add(batch *pebble.Batch, changes []store.Change, i int) error {
	c := &changes[i]
	switch c.Op {
	case store.Merge:
		return batch.Merge(partitionKey(c.Bucket, c.Partition), c.Partial, nil)
	case store.Close:
		if c.Bucket.Fine {
			if err := batch.Set([]byte{lastKey}, bucketKey(markKey, c.Bucket), nil); err != nil {
				return err
			}
		}
		return batch.Set(bucketKey(markKey, c.Bucket), nil, nil)
	}
	for _, partition := range s.index.partitions(c.Bucket, changes[:i]) {
		if err := batch.Delete(partitionKey(c.Bucket, partition), nil); err != nil {
			return err
		}
	}
	return batch.Delete(bucketKey(markKey, c.Bucket), nil)
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

// Buckets lists the buckets there are.
func (s *Store) Buckets() ([]store.State, error) {
	if s.db == nil {
		return nil, ErrBroken
	}
	return s.index.states(), nil
}

// Last returns the fine bucket that was closed last, be it deleted or not; that of length 0 when there was none.
func (s *Store) Last() store.Bucket { return s.last }

// Read merges what a bucket holds into a set.
func (s *Store) Read(b store.Bucket, into *partial.Set) error {
	if s.db == nil {
		return ErrBroken
	}
	for _, partition := range s.index.partitions(b, nil) {
		wire, closer, err := s.db.Get(partitionKey(b, partition))
		if err != nil {
			return fmt.Errorf("pebblestore: read: %w", err)
		}
		if into.Merge(wire) != nil {
			s.corrupt.Add(1)
		}
		if err := closer.Close(); err != nil {
			return fmt.Errorf("pebblestore: read: %w", err)
		}
	}
	return nil
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
