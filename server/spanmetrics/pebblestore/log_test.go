package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// logs is a store whose buckets are all in its log, one a commit, be it closed or left behind by a process that was killed.
type logs struct {
	fs   vfs.FS
	name string // of the log
	data []byte
}

// writeLogs writes one at the first start of a store, or at a later one, when chunks of logs are of another kind.
func writeLogs(t *testing.T, commits, size int, killed, later bool) *logs {
	fs := vfs.NewMem()
	s := open(t, "/store", fs)
	if later {
		require.NoError(t, s.Close())
		s = open(t, "/store", fs)
	}
	for i := range commits {
		name := fmt.Sprint(i, "-", strings.Repeat("x", size))
		require.NoError(t, s.Commit([]store.Change{{Bucket: store.At(60, int64(60*i), true), Partial: requests(name, 1)}}))
	}
	if !killed {
		require.NoError(t, s.Close())
	}
	l := &logs{fs: copied(t, fs)}
	if killed {
		require.NoError(t, s.Close())
	}
	names, err := l.fs.List("/store")
	require.NoError(t, err)
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			l.name = "/store/" + name
		}
	}
	f, err := l.fs.Open(l.name)
	require.NoError(t, err)
	l.data, err = io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return l
}

func copied(t *testing.T, fs vfs.FS) vfs.FS {
	to := vfs.NewMem()
	_, err := vfs.Clone(fs, to, "/store", "/store")
	require.NoError(t, err)
	return to
}

// written is how much of the log is not empty.
func (l *logs) written() int { return len(bytes.TrimRight(l.data, "\x00")) }

// opened says what a store of the log is: refused, or how many commits can be read and how many are said to be lost.
func (l *logs) opened(t *testing.T, data []byte) (read, lost int, refused bool) {
	fs := copied(t, l.fs)
	f, err := fs.Create(l.name, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(bytes.Clone(data)) // where it checks itself, the file system garbles what it was lent
	require.NoError(t, errors.Join(err, f.Close()))
	log, told := logtest.NewNullLogger()
	s, err := Open(Settings{Path: "/store", Limits: limits, FS: fs, Log: log})
	if err != nil {
		assert.ErrorContains(t, err, "the store is damaged: delete /store")
		return 0, 0, true
	}
	states, err := s.Buckets()
	require.NoError(t, err)
	for i := range states {
		set := partial.New(limits)
		require.NoError(t, s.Read(states[i].Bucket, set))
		read += len(set.Services())
	}
	lost = int(s.Lost())
	require.NoError(t, s.Commit([]store.Change{{Bucket: long, Partial: requests("x", 1)}}))
	require.NoError(t, s.Close())
	if lost > 0 {
		if assert.Len(t, told.AllEntries(), 1, "once") {
			assert.Contains(t, told.LastEntry().Message, "/store, is damaged")
			assert.Equal(t, s.Lost(), told.LastEntry().Data["commits"])
		}
	} else {
		assert.Empty(t, told.AllEntries())
	}
	s = open(t, "/store", fs)
	assert.Zero(t, s.Lost(), "it is told at one start")
	require.NoError(t, s.Close())
	return read, lost, false
}

// Wherever the log of a store is damaged: the start is refused, or what is missing is counted and told, but for damage of the very last commit of a
// process that was killed, which nobody can tell from a commit that was cut off.
func TestDamagedLog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name          string
		commits, size int
		killed, later bool
		every         int // a damage each so many bytes
	}{
		{"small commits, closed", 8, 10, false, false, 11},
		{"small commits, killed", 8, 10, true, false, 11},
		{"small commits, closed, later", 8, 10, false, true, 11},
		{"small commits, killed, later", 8, 10, true, true, 11},
		{"commits of several blocks, closed", 12, 200, false, false, 97},
		{"many blocks, closed", 60, 3000, false, false, 9973},
		{"many blocks, killed", 60, 3000, true, false, 9973},
		{"many blocks, closed, later", 60, 3000, false, true, 9973},
		{"many blocks, killed, later", 60, 3000, true, true, 9973},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := writeLogs(t, tt.commits, tt.size, tt.killed, tt.later)
			read, lost, refused := l.opened(t, l.data)
			require.Equal(t, []any{tt.commits, 0, false}, []any{read, lost, refused}, "whole")
			seen := map[string]int{}
			for at := 0; at < l.written(); at += tt.every {
				for damage, data := range map[string][]byte{
					"flipped": flipped(l.data, at, 1),
					"garbled": flipped(l.data, at, 1+random.IntN(40)),
					"without": append(append([]byte{}, l.data[:at]...), l.data[min(len(l.data), at+1+random.IntN(60)):]...),
				} {
					read, lost, refused := l.opened(t, data)
					what := fmt.Sprintf("%s at %d of %d: read %d, lost %d, refused %t", damage, at, l.written(), read, lost, refused)
					switch {
					case refused:
						seen["refused"]++
					case lost == 0 && read == tt.commits:
						seen["harmless"]++
					case lost == 0:
						seen["as a crash"]++
						assert.True(t, tt.killed || damage != "flipped", what)
						assert.GreaterOrEqual(t, read, tt.commits-2, what) // a damage is shorter than a commit
					default:
						seen["counted"]++
						assert.LessOrEqual(t, read+lost, tt.commits, what)
						assert.GreaterOrEqual(t, read+lost, tt.commits-1, what)
					}
				}
			}
			t.Log(seen)
			assert.NotZero(t, seen["counted"])
		})
	}
}

func flipped(data []byte, at, n int) []byte {
	data = bytes.Clone(data)
	for i := at; i < min(len(data), at+n); i++ {
		data[i] ^= 0x5a
	}
	return data
}

// A log that ends anywhere, as after a crash, is no damage.
func TestLogThatWasCutOff(t *testing.T) {
	l := writeLogs(t, 8, 10, true, true)
	before := 0
	for at := 0; at <= l.written(); at += 7 {
		read, lost, refused := l.opened(t, l.data[:at])
		require.False(t, refused)
		assert.Zero(t, lost, at)
		assert.GreaterOrEqual(t, read, before)
		before = read
	}
	assert.GreaterOrEqual(t, before, 7)
}
