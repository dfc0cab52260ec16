// Package pebblestore keeps the buckets of span metrics in a pebble store, whose merge operator adds partial aggregates: a commit writes what came
// since the last one and reads nothing.
//
// It is the only package that links pebble. A store takes little memory and few files, whatever it holds. It has a directory to itself, which
// it locks, and refuses one that holds something else or what a later version wrote.
package pebblestore

import (
	"bytes"
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
	// Reserve is how many bytes of the disk are left to others: below that nothing is written. It should be more than what pebble writes
	// between two commits.
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
	empty    bool       // there is nothing to be read: the directory is new
	index    index
	stray    [][]byte     // keys that no bucket has, to be deleted
	last     store.Bucket // see Last
	sequence uint64       // of the last commit that was tried
	unsure   *verdict     // on a commit of which is not known whether it arrived; nil when there is none
	failure  failure
	corrupt  atomic.Uint64
	lost     uint64    // see Lost
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
		return nil, advise(s.Path, err, false)
	}
	opened := &Store{settings: s, lock: lock}
	opened.sets.New = func() any { return partial.New(s.Limits) }
	opened.values.New = func() any { return new([]byte) }
	log, _ := readLastLog(s.FS, s.Path) // what cannot be read fails again, in pebble
	opened.failure.starting.Store(true)
	err = opened.goOn()
	opened.failure.starting.Store(false)
	if isFull(err) {
		s.Log.WithError(err).Warn("there is too little room for the store of span metrics: they are in memory only until there is more")
		err = nil
	}
	if err != nil {
		err = oneLine{errors.Join(err, opened.Close())}
		return nil, advise(s.Path, fmt.Errorf("span_metrics.store_path: open %s: %w", s.Path, err), true)
	}
	if found := opened.failure.found.Load(); found != nil {
		opened.damaged(*found)
	}
	if opened.lost = log.lost(opened.sequence); opened.lost > 0 {
		s.Log.WithField("commits", opened.lost).Errorf("the log of the store of span metrics, in %s, is damaged: at least so many commits at its end are lost; "+
			"the rest goes on, and nothing is to be done but to look after the disk", s.Path)
	}
	return opened, nil
}

func (s *Store) open(readOnly bool) error {
	s.failure.err.Store(nil)
	s.empty = false
	fs := s.settings.FS
	if !readOnly {
		fs = &diskFS{FS: fs, store: s}
	}
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
		FS:                          fs,
		Lock:                        s.lock,
		Logger:                      logger{s},
		EventListener: &pebble.EventListener{
			BackgroundError: s.failsInBackground,
			DataCorruption:  func(i pebble.DataCorruptionInfo) { s.damaged(i.Details) },
		},
		Merger:   s.merger(),
		ReadOnly: readOnly,
	}
	db, err := pebble.Open(s.settings.Path, options)
	if failed := s.failure.failed(); err == nil && failed != nil {
		err = errors.Join(failed, db.Close())
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
	s.judge()
	s.bytes.Store(db.Metrics().DiskSpaceUsage())
	return nil
}

// verdict says whether a commit arrived.
type verdict struct {
	sequence       uint64 // of the commit
	arrived, known bool
}

// judge finds out whether the commit arrived of which that was not known. The store was read, and nothing written since.
func (s *Store) judge() {
	if s.unsure != nil {
		s.unsure.arrived, s.unsure.known = s.sequence >= s.unsure.sequence, true
		s.unsure = nil
	}
}

// load reads what is kept in memory of the store.
func (s *Store) load() error {
	s.index, s.last, s.sequence, s.stray = index{}, store.Bucket{}, 0, nil
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
		case takenKey:
			if k := s.index[b]; k != nil && k.closed {
				k.take(string(key[bucketLen:]))
			} else { // a version that does not know of it deleted the bucket
				s.stray = append(s.stray, bytes.Clone(key))
			}
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

// Lost returns how many commits were missing when the store was opened, since its log is damaged, as far as can be told.
func (s *Store) Lost() uint64 { return s.lost }

// Bytes returns how much of the disk the store took after the last commit. Any goroutine may ask.
func (s *Store) Bytes() uint64 { return s.bytes.Load() }

// Commit writes changes and waits until they are on the disk. When it fails, and the store cannot be read either, the error is a *store.Unsure.
func (s *Store) Commit(changes []store.Change) error {
	if s.failure.failed() != nil || s.db == nil || s.readOnly {
		if err := s.goOn(); err != nil {
			return reasonOf(err)
		}
	} else if err := s.writable(); err != nil {
		return err
	}
	if len(changes) == 0 {
		return nil
	}
	batch := s.db.NewBatch()
	for _, key := range s.stray {
		if err := batch.Delete(key, nil); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	for i := range changes {
		if err := s.add(batch, changes, i); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	if last := store.LastClosed(s.last, changes); last != s.last {
		last.Fine = true // a version before goes by those only
		if err := batch.Set([]byte{lastKey}, bucketKey(markKey, last), nil); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	s.sequence++
	sequence := s.sequence
	err := batch.Set([]byte{sequenceKey}, binary.BigEndian.AppendUint64(nil, sequence), nil)
	err = errors.Join(err, batch.Commit(pebble.Sync))
	err = errors.Join(err, batch.Close())
	failed := s.failure.failed()
	if failed == nil {
		if err == nil {
			s.made(changes)
		}
		return err
	}
	// Whether the changes are on the disk shows when it is read again: to make them twice would be as bad as not at all.
	v := &verdict{sequence: sequence}
	s.unsure = v
	s.openToRead()
	switch {
	case v.arrived:
		return nil
	case v.known:
		return reasonOf(failed)
	}
	return &store.Unsure{Err: reasonOf(failed), Arrived: func() (arrived, known bool) { return v.arrived, v.known }}
}

// reasonOf returns ErrFull or ErrBroken, with what it was.
func reasonOf(err error) error {
	if isFull(err) {
		return ErrFull
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// made notes changes that are on the disk.
func (s *Store) made(changes []store.Change) {
	s.index.apply(changes)
	s.stray = nil
	s.last = store.LastClosed(s.last, changes)
	s.bytes.Store(s.db.Metrics().DiskSpaceUsage())
}

// add adds one of the changes of a commit to its batch.
func (s *Store) add(batch *pebble.Batch, changes []store.Change, i int) error {
	c := &changes[i]
	switch c.Op {
	case store.Merge:
		return batch.Merge(partitionKey(c.Bucket, c.Partition), c.Partial, nil)
	case store.Close:
		return batch.Set(bucketKey(markKey, c.Bucket), nil, nil)
	case store.Take:
		return batch.Set(sinkKey(c.Bucket, c.Sink), nil, nil)
	}
	for _, sink := range s.index.taken(c.Bucket, changes[:i]) {
		if err := batch.Delete(sinkKey(c.Bucket, sink), nil); err != nil {
			return err
		}
	}
	for _, partition := range s.index.partitions(c.Bucket, changes[:i]) {
		if err := batch.Delete(partitionKey(c.Bucket, partition), nil); err != nil {
			return err
		}
	}
	return batch.Delete(bucketKey(markKey, c.Bucket), nil)
}

// Buckets lists the buckets there are.
func (s *Store) Buckets() ([]store.State, error) {
	if s.db == nil && !s.empty {
		return nil, ErrBroken
	}
	return s.index.states(), nil
}

// Last returns the closed bucket that ended last, be it deleted or not; that of length 0 when there was none.
func (s *Store) Last() store.Bucket { return s.last }

// Read merges what a bucket holds into a set.
func (s *Store) Read(b store.Bucket, into *partial.Set) error {
	if s.failure.failed() != nil && !s.readOnly {
		s.openToRead() // what it holds may never have been written
	}
	if s.db == nil && !s.empty {
		return ErrBroken
	}
	for _, partition := range s.index.partitions(b, nil) {
		wire, closer, err := s.db.Get(partitionKey(b, partition))
		if failed := s.failure.failed(); err != nil && failed != nil {
			return failed
		}
		if pebble.IsCorruptionError(err) {
			s.corrupt.Add(1) // to wait for it would be in vain
			continue
		}
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
