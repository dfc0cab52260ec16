package pebblestore

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var limits = partial.Limits{
	Services:   100,
	PerService: partial.Groups{Operations: 50, Kinds: 100, Dependencies: 100},
	Overall:    partial.Groups{Operations: 100, Kinds: 100, Dependencies: 100},
}

// requests is a partial of n requests to an operation.
func requests(operation string, n int) []byte {
	s := partial.New(limits)
	for range n {
		s.Add(&derive.Measure{Service: "a", Family: derive.Request, Name: operation, Weight: 1, Duration: int64(time.Second)}, 1)
	}
	return s.AppendTo(nil)
}

func contents(t *testing.T, s store.Store) []string {
	states, err := s.Buckets()
	require.NoError(t, err)
	got := []string{}
	for _, b := range states {
		set := partial.New(limits)
		require.NoError(t, s.Read(b.Bucket, set))
		n := uint64(0)
		for i, service := range set.Services() {
			for _, o := range service.Operations {
				n += o.Duration.Weight()
			}
			if e := set.Excess(i); e != nil {
				n += e.Sums.OperationDuration.Weight()
			}
		}
		text := fmt.Sprintf("%d+%d fine %t closed %t: %d", b.Start, b.Interval, b.Fine, b.Closed, n/loghist.One)
		if len(b.Taken) > 0 {
			text += fmt.Sprint(" taken by ", slices.Sorted(slices.Values(b.Taken)))
		}
		got = append(got, text)
	}
	return got
}

func quiet() logrus.FieldLogger {
	log, _ := logtest.NewNullLogger()
	return log
}

func open(t *testing.T, path string, fs vfs.FS) *Store {
	s, err := Open(Settings{Path: path, Limits: limits, FS: fs, Log: quiet()})
	require.NoError(t, err)
	return s
}

// openOn opens a store that leaves so many bytes of a disk to others.
func openOn(t *testing.T, d *disk, reserve uint64) *Store {
	s, err := Open(Settings{Path: "/store", Limits: limits, FS: d, Reserve: reserve, Log: quiet()})
	require.NoError(t, err)
	return s
}

var (
	first  = store.Bucket{Interval: 60, Start: 60, Fine: true}
	second = store.Bucket{Interval: 60, Start: 120, Fine: true}
	long   = store.Bucket{Interval: 600, Start: 0}
)

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "by us")
	s := open(t, path, nil)
	require.NoError(t, s.Commit([]store.Change{{Bucket: second, Partial: requests("x", 1)}, {Bucket: first, Partial: requests("x", 2)}}))
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partition: 1, Partial: requests("y", 3)}}))
	require.NoError(t, s.Commit(nil))
	want := []string{"60+60 fine true closed false: 5", "120+60 fine true closed false: 1"}
	assert.Equal(t, want, contents(t, s))
	require.NoError(t, s.Close())

	s = open(t, path, nil)
	assert.Equal(t, want, contents(t, s), "after a restart")
	require.NoError(t, s.Commit([]store.Change{
		{Bucket: first, Partial: requests("x", 4)}, {Op: store.Close, Bucket: first}, {Bucket: long, Partial: requests("x", 9)},
	}))
	assert.Equal(t, []string{"60+60 fine true closed true: 9", "120+60 fine true closed false: 1", "0+600 fine false closed false: 9"}, contents(t, s))
	require.NoError(t, s.Commit([]store.Change{{Op: store.Delete, Bucket: first}, {Op: store.Delete, Bucket: long}}))
	assert.Equal(t, []string{"120+60 fine true closed false: 1"}, contents(t, s))
	assert.Zero(t, s.Corrupt())
	assert.NotZero(t, s.Bytes())
	assert.Equal(t, first, s.Last(), "it is deleted")
	require.NoError(t, s.Close())
}

// The end of a longer bucket that is deleted outlives a restart, in a form that a version knows which goes by fine ones only.
func TestLastOfALongerBucket(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/store", fs)
	require.NoError(t, s.Commit([]store.Change{{Op: store.Close, Bucket: first}, {Op: store.Close, Bucket: long}}))
	require.NoError(t, s.Commit([]store.Change{{Op: store.Delete, Bucket: first}, {Op: store.Delete, Bucket: long}, {Op: store.Close, Bucket: second}}))
	assert.Equal(t, long, s.Last())
	for range 2 {
		require.NoError(t, s.Close())
		s = open(t, "/store", fs)
		assert.Equal(t, store.Bucket{Interval: 600, Start: 0, Fine: true}, s.Last())
	}
	third := store.Bucket{Interval: 60, Start: 600, Fine: true}
	require.NoError(t, s.Commit([]store.Change{{Op: store.Close, Bucket: third}}))
	require.NoError(t, s.Close())
	s = open(t, "/store", fs)
	assert.Equal(t, third, s.Last())
	require.NoError(t, s.Close())
}

// Which sinks have taken a bucket outlives a restart, and goes with the bucket.
func TestWhoHasTakenABucket(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/store", fs)
	for _, b := range []store.Bucket{first, second} {
		require.NoError(t, s.Commit([]store.Change{{Bucket: b, Partial: requests("x", 1)}, {Op: store.Close, Bucket: b}}))
	}
	require.NoError(t, s.Commit([]store.Change{{Op: store.Take, Bucket: first, Sink: "b"}, {Op: store.Take, Bucket: second, Sink: "a sink: ä\xff"}}))
	require.NoError(t, s.Commit([]store.Change{{Op: store.Take, Bucket: first, Sink: "a"}, {Op: store.Take, Bucket: first, Sink: "b"}}))
	want := []string{"60+60 fine true closed true: 1 taken by [a b]", "120+60 fine true closed true: 1 taken by [a sink: ä\xff]"}
	for range 2 {
		assert.Equal(t, want, contents(t, s))
		require.NoError(t, s.Close())
		s = open(t, "/store", fs)
	}
	require.NoError(t, s.Commit([]store.Change{{Op: store.Take, Bucket: first, Sink: "c"}, {Op: store.Delete, Bucket: first}}))
	require.NoError(t, s.Commit([]store.Change{{Op: store.Delete, Bucket: second}}))
	assert.Empty(t, contents(t, s))
	assert.Equal(t, []string{"l", "s"}, keysOf(t, s), "nothing is left")
	require.NoError(t, s.Close())
}

// keysOf returns the keys on the disk, of one byte each.
func keysOf(t *testing.T, s *Store) (keys []string) {
	it, err := s.db.NewIter(nil)
	require.NoError(t, err)
	for ok := it.First(); ok; ok = it.Next() {
		keys = append(keys, string(it.Key()))
	}
	require.NoError(t, it.Close())
	return keys
}

// A version before this one, of the same format, does not see who has taken a bucket, and leaves that there when it deletes the bucket: it says nothing
// about one that is made under the same name afterwards, and goes.
func TestWhoHasTakenABucketThatAnEarlierVersionDeleted(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "/store", fs)
	require.NoError(t, s.Commit([]store.Change{
		{Bucket: first, Partial: requests("x", 1)}, {Op: store.Close, Bucket: first}, {Op: store.Take, Bucket: first, Sink: "a"},
	}))
	require.NoError(t, s.db.Delete(partitionKey(first, 0), nil))
	require.NoError(t, s.db.Delete(bucketKey(markKey, first), nil))
	require.NoError(t, s.Close())
	s = open(t, "/store", fs)
	assert.Empty(t, contents(t, s))
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 2)}, {Op: store.Close, Bucket: first}}))
	require.NoError(t, s.Close())
	s = open(t, "/store", fs)
	assert.Equal(t, []string{"60+60 fine true closed true: 2"}, contents(t, s))
	require.NoError(t, s.Commit([]store.Change{{Op: store.Delete, Bucket: first}}))
	assert.Equal(t, []string{"l", "s"}, keysOf(t, s))
	require.NoError(t, s.Close())
}

// Partials of many commits add up to one that the limits bound, in pebble's own flushes and compactions too.
func TestManyCommits(t *testing.T) {
	s := open(t, "/store", vfs.NewMem())
	for i := range 300 {
		require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partition: uint16(i % 3), Partial: requests(fmt.Sprint("op", i), 2)}}))
		if i%50 == 49 {
			require.NoError(t, s.db.Flush())
		}
	}
	require.NoError(t, s.db.Compact(t.Context(), []byte{0}, []byte{0xff}, false))
	assert.Equal(t, []string{"60+60 fine true closed false: 600"}, contents(t, s))
	set := partial.New(limits)
	require.NoError(t, s.Read(first, set))
	assert.Len(t, set.Services()[0].Operations, 50)
	assert.InDelta(t, 250, float64(set.Excess(0).Keys(partial.Operations)), 3)
	require.NoError(t, s.Close())
}

func TestCorruptPartialIsLeftOutAndCounted(t *testing.T) {
	s := open(t, "/store", vfs.NewMem())
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 2)}}))
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: []byte("none")}}))
	require.NoError(t, s.Commit([]store.Change{{Bucket: second, Partial: []byte("none")}, {Bucket: first, Partial: requests("x", 3)}}))
	assert.Equal(t, []string{"60+60 fine true closed false: 5", "120+60 fine true closed false: 0"}, contents(t, s))
	assert.NotZero(t, s.Corrupt())
	require.NoError(t, s.Close())
}

func TestDirectories(t *testing.T) {
	used := t.TempDir()
	s := open(t, used, nil)
	_, err := Open(Settings{Path: used, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, "is in use by another process")
	require.NoError(t, s.Close())
	s = open(t, used, nil)
	require.NoError(t, s.Close())

	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "mail"), nil, 0o600))
	_, err = Open(Settings{Path: foreign, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, "span_metrics.store_path: "+foreign+" is not empty and holds no span metrics")

	require.NoError(t, os.WriteFile(filepath.Join(used, markerName), []byte("2\n"), 0o600))
	_, err = Open(Settings{Path: used, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, `says version "2" and this program knows version 1`)

	file := filepath.Join(foreign, "mail")
	_, err = Open(Settings{Path: file, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, "span_metrics.store_path: ")
	require.ErrorContains(t, err, file+" has to be a directory")
	link := filepath.Join(foreign, "link")
	require.NoError(t, os.Symlink(filepath.Join(foreign, "gone"), link))
	_, err = Open(Settings{Path: link, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, link+" is a link to what is not there")
	_, err = Open(Settings{Path: filepath.Join(file, "x"), Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, "not a directory")
	require.NoError(t, os.WriteFile(filepath.Join(used, markerName), nil, 0o600))
	_, err = Open(Settings{Path: used, Limits: limits, Log: quiet()})
	require.ErrorContains(t, err, `says version ""`)
	require.NoError(t, os.WriteFile(filepath.Join(used, markerName), []byte(version), 0o600))
	s = open(t, used, nil)
	require.NoError(t, s.Close())
}

// A start that came no further than the lock or the marker, as on a full disk, does not keep the next from starting.
func TestStartThatWasCutOff(t *testing.T) {
	for _, names := range [][]string{{lockName}, {lockName, markerName}} {
		path := t.TempDir()
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(path, name), nil, 0o600))
		}
		for range 2 {
			s := open(t, path, nil)
			require.NoError(t, s.Close())
		}
	}
}

// What is deleted under a store can be read as long as the store is open, and what comes is not written where nobody finds it.
func TestDirectoryIsDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path, nil)
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	require.NoError(t, os.RemoveAll(path))
	f := store.NewFallback(s, limits)
	for range 2 {
		require.ErrorIs(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}}), ErrBroken)
		require.NoError(t, os.MkdirAll(path, 0o700))
	}
	assert.True(t, f.Waiting())
	assert.Equal(t, []string{"60+60 fine true closed false: 21"}, contents(t, f))
	require.NoError(t, f.Close())
}

// disk is a file system that says how much room there is.
type disk struct {
	vfs.FS
	room atomic.Uint64
}

func (d *disk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: d.room.Load()}, nil
}

func TestNearlyFullDiskIsLeftAlone(t *testing.T) {
	d := &disk{FS: vfs.NewMem()}
	d.room.Store(1000)
	s := openOn(t, d, 1000)
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	d.room.Store(999)
	require.ErrorIs(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}), ErrFull)
	assert.Equal(t, []string{"60+60 fine true closed false: 1"}, contents(t, s), "what is there can be read")
	d.room.Store(1000)
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	assert.Equal(t, []string{"60+60 fine true closed false: 2"}, contents(t, s))
	require.NoError(t, s.Close())
}

// What came and went while there was no room is written in one commit with its end, and is not there afterwards.
func TestBucketEndsWhileTheDiskIsFull(t *testing.T) {
	d := &disk{FS: vfs.NewMem()}
	f := store.NewFallback(openOn(t, d, 1), limits)
	d.room.Store(1)
	require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partition: 1, Partial: requests("x", 1)}}))
	d.room.Store(0)
	require.ErrorIs(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}, {Bucket: second, Partial: requests("x", 1)}}), ErrFull)
	require.ErrorIs(t, f.Commit([]store.Change{{Op: store.Close, Bucket: first}}), ErrFull)
	assert.Equal(t, []string{"60+60 fine true closed true: 11", "120+60 fine true closed false: 1"}, contents(t, f))
	assert.Equal(t, first, f.Last())
	d.room.Store(1)
	require.NoError(t, f.Commit([]store.Change{{Op: store.Delete, Bucket: first}}))
	for range 2 {
		assert.Equal(t, []string{"120+60 fine true closed false: 1"}, contents(t, f))
		assert.Equal(t, first, f.Last())
		require.NoError(t, f.Close())
		f = store.NewFallback(open(t, "/store", d), limits)
	}
	require.NoError(t, f.Close())
}

// A disk that gets full while pebble writes breaks the store, and not the process; it is opened again when there is room.
func TestFullDiskUnderWay(t *testing.T) {
	full := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return &os.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
		}
		return nil
	})}
	s, err := Open(Settings{Path: "/store", Limits: limits, FS: errorfs.Wrap(vfs.NewMem(), &full), Log: quiet()})
	require.NoError(t, err)
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	full.On()
	for range 3 {
		require.Error(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}}))
		assert.Equal(t, []string{"60+60 fine true closed false: 1"}, contents(t, s), "what is there can be read")
	}
	full.Off()
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 100)}}))
	assert.Equal(t, []string{"60+60 fine true closed false: 101"}, contents(t, s))
	require.NoError(t, s.Close())
}

// What fails in the background, and what pebble would try again and again without a pause, is tried once a commit. Nothing is lost meanwhile.
func TestFailuresInTheBackground(t *testing.T) {
	for _, reason := range []syscall.Errno{syscall.ENOSPC, syscall.EIO} {
		t.Run(reason.Error(), func(t *testing.T) {
			var writes atomic.Int64
			fails := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
				table := strings.HasSuffix(op.Path, ".sst")
				if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || strings.HasSuffix(op.Path, ".log") || !table && reason == syscall.EIO {
					return nil
				}
				if table {
					writes.Add(1)
				}
				return &os.PathError{Op: "write", Path: op.Path, Err: reason}
			})}
			d := &disk{FS: errorfs.Wrap(vfs.NewMem(), &fails)}
			d.room.Store(1)
			log, told := logtest.NewNullLogger()
			s, err := Open(Settings{Path: "/store", Limits: limits, FS: d, Reserve: 1, Log: log})
			require.NoError(t, err)
			f := store.NewFallback(s, limits)
			name := strings.Repeat("x", 300_000)
			sent := 0
			commit := func() error {
				sent++
				return f.Commit([]store.Change{{Bucket: first, Partial: requests(name, 1)}})
			}
			fails.On()
			for commit() == nil {
				assert.Less(t, sent, 1000)
			}
			tried := writes.Load()
			for range 3 {
				require.Error(t, commit())
				assert.Equal(t, []string{fmt.Sprintf("60+60 fine true closed false: %d", sent)}, contents(t, f), "all of it can be read")
			}
			assert.LessOrEqual(t, writes.Load(), tried+3, "tried once a commit")
			fails.Off()
			require.NoError(t, commit())
			assert.False(t, f.Waiting())
			assert.Equal(t, []string{fmt.Sprintf("60+60 fine true closed false: %d", sent)}, contents(t, f))
			assert.LessOrEqual(t, len(told.AllEntries()), 2, "%v", told.AllEntries())
			require.NoError(t, f.Close())
		})
	}
}

// A start on a full disk: what is there is read and emitted, and what comes is in memory until there is room.
func TestStartOnAFullDisk(t *testing.T) {
	full := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileWrite {
			return &os.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
		}
		return nil
	})}
	fs := errorfs.Wrap(vfs.NewMem(), &full)
	s := open(t, "/store", fs)
	require.NoError(t, s.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}, {Op: store.Close, Bucket: first}}))
	require.NoError(t, s.Close())
	full.On()
	f := store.NewFallback(open(t, "/store", fs), limits)
	assert.Equal(t, []string{"60+60 fine true closed true: 1"}, contents(t, f))
	assert.Equal(t, first, f.Last())
	require.ErrorIs(t, f.Commit([]store.Change{{Op: store.Delete, Bucket: first}, {Bucket: second, Partial: requests("x", 10)}}), ErrFull)
	full.Off()
	require.NoError(t, f.Commit([]store.Change{{Bucket: second, Partial: requests("x", 100)}}))
	assert.Equal(t, []string{"120+60 fine true closed false: 110"}, contents(t, f))
	require.NoError(t, f.Close())
}

// A first start on a disk that is nearly full.
func TestFirstStartOnANearlyFullDisk(t *testing.T) {
	d := &disk{FS: vfs.NewMem()}
	f := store.NewFallback(openOn(t, d, 1), limits)
	require.ErrorIs(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}), ErrFull)
	assert.Equal(t, []string{"60+60 fine true closed false: 1"}, contents(t, f), "it is emitted in time")
	d.room.Store(1)
	require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}}))
	assert.False(t, f.Waiting())
	assert.Equal(t, []string{"60+60 fine true closed false: 11"}, contents(t, f))
	require.NoError(t, f.Close())
}

// A log that cannot be made or written, of which pebble dies, breaks the store only.
func TestFullDiskOfTheLog(t *testing.T) {
	for _, kind := range []errorfs.OpKind{errorfs.OpCreate, errorfs.OpReuseForWrite, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFilePreallocate, errorfs.OpFileClose} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			full := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind == kind && strings.HasSuffix(op.Path, ".log") {
					return &os.PathError{Op: "write", Path: op.Path, Err: syscall.ENOSPC}
				}
				return nil
			})}
			s := open(t, "/store", errorfs.Wrap(vfs.NewMem(), &full))
			f := store.NewFallback(s, limits)
			name := strings.Repeat("x", 300_000)
			sent := 0
			commit := func() error {
				sent++
				return f.Commit([]store.Change{{Bucket: first, Partial: requests(name, 1)}})
			}
			for range 20 { // logs are made, filled and used again
				require.NoError(t, commit())
			}
			full.On()
			for range 20 {
				_ = commit()
			}
			full.Off()
			require.NoError(t, commit())
			assert.False(t, f.Waiting())
			assert.Equal(t, []string{fmt.Sprintf("60+60 fine true closed false: %d", sent)}, contents(t, f))
			require.NoError(t, f.Close())
			s = open(t, "/store", s.settings.FS)
			assert.Equal(t, []string{fmt.Sprintf("60+60 fine true closed false: %d", sent)}, contents(t, s))
			require.NoError(t, s.Close())
		})
	}
}

// A store that has room and cannot be opened all the same is read.
func TestOpeningFails(t *testing.T) {
	var tries atomic.Int64
	fails := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		manifest := op.Kind == errorfs.OpCreate && strings.Contains(op.Path, "MANIFEST")
		if manifest {
			tries.Add(1)
		}
		if manifest || op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, ".log") {
			return &os.PathError{Op: "write", Path: op.Path, Err: syscall.EIO}
		}
		return nil
	})}
	s := open(t, "/store", errorfs.Wrap(vfs.NewMem(), &fails))
	f := store.NewFallback(s, limits)
	require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	fails.On()
	for i := range 5 {
		err := f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}})
		if i > 0 {
			require.ErrorIs(t, err, ErrBroken)
		}
		assert.Equal(t, []string{fmt.Sprintf("60+60 fine true closed false: %d", i+2)}, contents(t, f))
	}
	assert.EqualValues(t, 4, tries.Load(), "once a commit")
	fails.Off()
	require.NoError(t, f.Close())
	s = open(t, "/store", s.settings.FS)
	assert.Equal(t, []string{"60+60 fine true closed false: 6"}, contents(t, s), "what waited is written at the end")
	require.NoError(t, s.Close())
}

// What is on the disk although the disk said no is not to be made again.
func TestChangesAreMadeOnce(t *testing.T) {
	syncs := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo || op.Kind == errorfs.OpFileFlush {
			return &os.PathError{Op: "sync", Path: op.Path, Err: syscall.EIO}
		}
		return nil
	})}
	s, err := Open(Settings{Path: "/store", Limits: limits, FS: errorfs.Wrap(vfs.NewMem(), &syncs), Log: quiet()})
	require.NoError(t, err)
	f := store.NewFallback(s, limits)
	require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}}))
	syncs.On()
	for range 3 {
		_ = f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}})
	}
	syncs.Off()
	require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 100)}}))
	assert.Equal(t, []string{"60+60 fine true closed false: 131"}, contents(t, f))
	require.NoError(t, f.Close())
}

// A commit of which nobody can say whether it arrived, since the disk can neither be written nor read, counts once when it can be read again, be it on
// the disk or not; so does what came meanwhile.
func TestCommitThatMayHaveArrived(t *testing.T) {
	for _, arrives := range []bool{true, false} {
		for _, readFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("arrives %t, read first %t", arrives, readFirst), func(t *testing.T) {
				writes := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
					if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && (!arrives || op.Kind != errorfs.OpFileWrite || !strings.HasSuffix(op.Path, ".log")) {
						return &os.PathError{Op: "write", Path: op.Path, Err: syscall.EIO}
					}
					return nil
				})}
				reads := errorfs.Toggle{Injector: errorfs.InjectorFunc(func(op errorfs.Op) error {
					if op.Kind == errorfs.OpOpen && op.Path != "/store/"+markerName {
						return &os.PathError{Op: "open", Path: op.Path, Err: syscall.EIO}
					}
					return nil
				})}
				fs := errorfs.Wrap(errorfs.Wrap(vfs.NewMem(), &writes), &reads)
				f := store.NewFallback(open(t, "/store", fs), limits)
				require.NoError(t, f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 1)}, {Bucket: long, Partial: requests("x", 1000)}}))
				writes.On()
				reads.On()
				err := f.Commit([]store.Change{{Bucket: first, Partial: requests("x", 10)}, {Op: store.Close, Bucket: first}, {Bucket: second, Partial: requests("x", 1)}})
				require.ErrorIs(t, err, ErrBroken)
				require.ErrorAs(t, err, new(*store.Unsure))
				require.Error(t, f.Commit([]store.Change{{Bucket: second, Partial: requests("x", 2)}, {Op: store.Delete, Bucket: long}}))
				assert.True(t, f.Waiting())
				require.Error(t, f.Read(second, partial.New(limits)), "it is not known what it holds")
				states, err := f.Buckets()
				require.Error(t, err)
				assert.Equal(t, []store.State{{Bucket: first, Closed: true}, {Bucket: second}}, states, "what is in memory")
				assert.Equal(t, first, f.Last())
				reads.Off()
				want := []string{"60+60 fine true closed true: 11", "120+60 fine true closed false: 3"}
				if readFirst {
					require.Error(t, f.Commit(nil))
					assert.Equal(t, want, contents(t, f))
					assert.True(t, f.Waiting())
				}
				writes.Off()
				require.NoError(t, f.Commit([]store.Change{{Bucket: second, Partial: requests("x", 4)}}))
				want[1] = "120+60 fine true closed false: 7"
				assert.False(t, f.Waiting())
				for range 2 {
					assert.Equal(t, want, contents(t, f))
					assert.Equal(t, first, f.Last())
					require.NoError(t, f.Close())
					f = store.NewFallback(open(t, "/store", fs), limits)
				}
				require.NoError(t, f.Close())
			})
		}
	}
}

// What is not written because something failed before is never without the note of that: a commit would be taken for made.
func TestNothingIsSkippedWithoutANote(t *testing.T) {
	for range 2000 {
		s := &Store{settings: Settings{Log: quiet()}}
		fs := &diskFS{store: s}
		var failing sync.WaitGroup
		failing.Go(func() { _ = fs.do(func() error { return syscall.EIO }) })
		for s.failure.failed() == nil {
			written := false
			_ = fs.do(func() error { written = true; return nil })
			if !written {
				require.Error(t, s.failure.failed())
			}
		}
		failing.Wait()
	}
}

func TestKeys(t *testing.T) {
	for _, b := range []store.Bucket{first, second, long} {
		got, partition, kind := readKey(partitionKey(b, 3))
		assert.Equal(t, b, got)
		assert.EqualValues(t, 3, partition)
		assert.EqualValues(t, dataKey, kind)
		got, _, kind = readKey(bucketKey(markKey, b))
		assert.Equal(t, b, got)
		assert.EqualValues(t, markKey, kind)
		got, _, kind = readKey(sinkKey(b, "a"))
		assert.Equal(t, b, got)
		assert.EqualValues(t, takenKey, kind)
	}
	for _, key := range []string{"", "d", "x" + string(bucketKey(markKey, first)[1:]), string(bucketKey(dataKey, first)), string(bucketKey(markKey, store.Bucket{}))} {
		_, _, kind := readKey([]byte(key))
		assert.Zero(t, kind, "%x", key)
	}
	for _, key := range []byte{sequenceKey, lastKey} {
		_, _, kind := readKey([]byte{key})
		assert.Equal(t, key, kind)
	}
}
