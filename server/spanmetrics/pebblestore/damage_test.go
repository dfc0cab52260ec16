package pebblestore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// written makes a store with two buckets in tables, and a third in the log.
func written(t *testing.T, path string) {
	s := open(t, path, nil)
	for _, b := range []store.Bucket{first, long} {
		for range 3 {
			require.NoError(t, s.Commit([]store.Change{{Bucket: b, Partial: requests("x", 10)}}))
			require.NoError(t, s.db.Flush())
		}
	}
	require.NoError(t, s.Commit([]store.Change{{Bucket: second, Partial: requests("y", 1)}}))
	require.NoError(t, s.Close())
}

// Whatever files of a stopped store are cut, garbled or deleted: a start fails and says what to do, or the store works, reads what is left and counts
// what is not, if it can tell.
func TestDamagedFiles(t *testing.T) {
	damages := map[string]func(name string, data []byte) error{
		"emptied": func(name string, _ []byte) error { return os.WriteFile(name, nil, 0o600) },
		"cut":     func(name string, data []byte) error { return os.WriteFile(name, data[:len(data)/2], 0o600) },
		"garbled at the start": func(name string, data []byte) error {
			return os.WriteFile(name, append([]byte("garbage!"), data[min(8, len(data)):]...), 0o600)
		},
		"garbled in the middle": func(name string, data []byte) error {
			for i := len(data) / 2; i < min(len(data), len(data)/2+32); i++ {
				data[i] ^= 0x5a
			}
			return os.WriteFile(name, data, 0o600)
		},
		"garbled": func(name string, data []byte) error {
			for i := range data {
				data[i] ^= 0xa5
			}
			return os.WriteFile(name, data, 0o600)
		},
		"deleted": func(name string, _ []byte) error { return os.Remove(name) },
	}
	seen := map[string]int{}
	for damage, do := range damages {
		for _, files := range []string{"*.sst", "*.log", "MANIFEST-*", "OPTIONS-*", "marker.format-version.*", "marker.manifest.*", lockName, markerName} {
			t.Run(files+" "+damage, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "store")
				written(t, path)
				names, err := filepath.Glob(filepath.Join(path, files))
				require.NoError(t, err)
				require.NotEmpty(t, names)
				for _, name := range names {
					data, err := os.ReadFile(name)
					require.NoError(t, err)
					require.NoError(t, do(name, data))
				}
				became := useDamaged(t, path)
				seen[became]++
				t.Log(became)
			})
		}
	}
	t.Log(seen)
}

// What turns out to be damaged under way is left out, counted and told, and the rest goes on.
func TestDamagedUnderWay(t *testing.T) {
	const buckets, name = 400, 20_000 // together more than is cached
	path := filepath.Join(t.TempDir(), "store")
	log, told := logtest.NewNullLogger()
	s, err := Open(Settings{Path: path, Limits: limits, Log: log})
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	var changes []store.Change
	for i := range buckets {
		text := make([]byte, name)
		for i := range text {
			text[i] = 'a' + byte(random.Uint32N(26))
		}
		changes = append(changes, store.Change{Bucket: store.At(60, int64(60*i), true), Partial: requests(string(text), 1)})
	}
	require.NoError(t, s.Commit(changes))
	require.NoError(t, s.db.Flush())
	require.NoError(t, s.db.Compact(t.Context(), []byte{0}, []byte{0xff}, false))
	tables, err := s.db.SSTables()
	require.NoError(t, err)
	for _, level := range tables {
		for _, table := range level {
			file := filepath.Join(path, table.FileNum.String()+".sst")
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for i := range 8 {
				data[1000+i] ^= 0x5a // in the first block, which was read long ago
			}
			require.NoError(t, os.WriteFile(file, data, 0o600))
		}
	}
	read := 0
	for i := range changes {
		set := partial.New(limits)
		require.NoError(t, s.Read(changes[i].Bucket, set))
		read += len(set.Services())
	}
	assert.Less(t, read, buckets)
	assert.Greater(t, read, buckets/2)
	assert.EqualValues(t, buckets-read, s.Corrupt(), "what cannot be read is counted, and nothing else is missing")
	require.NoError(t, s.Commit([]store.Change{{Op: store.Close, Bucket: changes[0].Bucket}, {Op: store.Delete, Bucket: changes[0].Bucket}}))
	require.NoError(t, s.Commit([]store.Change{{Bucket: long, Partial: requests("x", 4)}}))
	require.NotEmpty(t, told.AllEntries())
	assert.Contains(t, told.LastEntry().Message, "stop the daemon and delete "+path)
	assert.Len(t, told.AllEntries(), 1, "once, whatever goes on")
	require.NoError(t, s.Close())
}

// useDamaged starts a store, reads and deletes all there is, and goes on. It returns what became of it.
func useDamaged(t *testing.T, path string) string {
	log, told := logtest.NewNullLogger()
	s, err := Open(Settings{Path: path, Limits: limits, Log: log})
	if err != nil {
		assert.Empty(t, told.AllEntries(), "the error says it")
		assert.ErrorContains(t, err, "span_metrics.store_path: ")
		assert.ErrorContains(t, err, path)
		assert.NotContains(t, err.Error(), "\n", "it is logged as one line")
		assert.NotContains(t, err.Error(), carrier)
		_, what, _ := strings.Cut(err.Error(), ": open "+path+": ")
		what, _, _ = strings.Cut(what, ": if it stays so")
		said := strings.Split(what, "; ")
		slices.Sort(said)
		assert.Len(t, slices.Compact(slices.Clone(said)), len(said), "nothing is said twice: %q", said)
		assert.Regexp(t, "delete|name another directory|name an empty directory", err.Error())
		return "refused"
	}
	states, err := s.Buckets()
	require.NoError(t, err)
	set := partial.New(limits)
	for _, b := range states {
		require.NoError(t, s.Read(b.Bucket, set))
		require.NoError(t, s.Commit([]store.Change{{Op: store.Close, Bucket: b.Bucket}}))
		require.NoError(t, s.Commit([]store.Change{{Op: store.Delete, Bucket: b.Bucket}}))
	}
	after := store.Bucket{Interval: 60, Start: 6000, Fine: true}
	require.NoError(t, s.Commit([]store.Change{{Bucket: after, Partial: requests("x", 7)}}))
	assert.Equal(t, []string{"6000+60 fine true closed false: 7"}, contents(t, s))
	require.NoError(t, s.Close())
	if s.Corrupt() > 0 {
		return "counted"
	}
	return fmt.Sprint(len(states), " buckets")
}

// What the system forbids when the daemon starts is said with what to do.
func TestStartsThatAreForbidden(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  syscall.Errno
		on   func(errorfs.Op) bool
		want string
	}{
		{"a directory that may not be read", syscall.EACCES, func(op errorfs.Op) bool { return op.Kind == errorfs.OpList }, "store_path: list store: permission denied: the user that the daemon runs as"},
		{"files that may not be read", syscall.EACCES, func(op errorfs.Op) bool { return op.Kind == errorfs.OpOpenDir }, "has to be allowed to read and write store and all that is in it"},
		{"files that may not be written", syscall.EACCES, func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate }, "has to be allowed to read and write store and all that is in it"},
		{"a read-only file system", syscall.EROFS, func(op errorfs.Op) bool { return op.Kind == errorfs.OpCreate }, "store has to be on a file system that can be written"},
		{"a full disk", syscall.ENOSPC, func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }, "no space left on device: make room, or name a directory on another disk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
				if tt.on(op) {
					return &os.PathError{Op: "list", Path: op.Path, Err: tt.err}
				}
				return nil
			}))
			_, err := Open(Settings{Path: "store", Limits: limits, FS: fs, Log: quiet()})
			require.ErrorContains(t, err, "span_metrics.store_path: ")
			require.ErrorContains(t, err, tt.want)
		})
	}
}
