package diskqueue

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecordsComeBackInOrder(t *testing.T) {
	q := open(t, small(t.TempDir()))
	appendAll(t, q, 0, 100, 0)
	s := holds(t, q, 100)
	assert.Equal(t, born, s.Oldest)
	assert.Equal(t, counted(0, 100), drain(t, q))
	s = holds(t, q, 0)
	assert.True(t, s.Oldest.IsZero())
	require.NoError(t, q.Close())
}

func TestNextIsTheSameUntilDone(t *testing.T) {
	q := open(t, small(t.TempDir()))
	appendAll(t, q, 0, 2, 0)
	for range 3 {
		r, _, ok := q.Next()
		require.True(t, ok)
		require.Equal(t, 0, number(t, r))
	}
	q.Done()
	q.Done() // which says nothing
	require.Equal(t, []int{1}, drain(t, q))
	require.NoError(t, q.Close())
}

func TestWhatIsNotDoneIsThereAtTheNextStart(t *testing.T) {
	for _, done := range []int{0, 1, 50, 99, 100} {
		c := small(t.TempDir())
		q := open(t, c)
		appendAll(t, q, 0, 100, 2000) // in several segments
		for range done {
			_, _, ok := q.Next()
			require.True(t, ok)
			q.Done()
		}
		_, _, _ = q.Next() // taken, not done
		require.NoError(t, q.Close())
		q = open(t, c)
		holds(t, q, 100-done)
		appendAll(t, q, 100, 103, 0)
		require.Equal(t, counted(done, 103), drain(t, q))
		require.NoError(t, q.Close())
	}
}

func TestSegmentsThatAreDoneAreGone(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	appendAll(t, q, 0, 200, 3000)
	before := len(files(t, c.Path))
	require.Greater(t, before, 5)
	for range 150 {
		_, _, ok := q.Next()
		require.True(t, ok)
		q.Done()
	}
	require.Less(t, len(files(t, c.Path)), before/2)
	holds(t, q, 50)
	require.NoError(t, q.Close())
}

func TestNumbersOfSegmentsAreNotUsedTwice(t *testing.T) {
	c := small(t.TempDir())
	var last string
	for i := range 4 {
		q := open(t, c)
		appendAll(t, q, i, i+1, 0)
		paths := files(t, c.Path)
		require.Len(t, paths, 1)
		require.Greater(t, paths[0], last)
		last = paths[0]
		require.Equal(t, []int{i}, drain(t, q))
		require.NoError(t, q.Close())
	}
}

func TestOldestGoesWhenTheBoundIsReached(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	taken, _, _ := q.Next()
	require.Zero(t, taken.Items)
	appendAll(t, q, 0, 1, 10_000)
	first, _, ok := q.Next() // it is with the caller while its segment goes
	require.True(t, ok)
	lost := appendAll(t, q, 1, 1000, 10_000)
	s := q.State()
	require.LessOrEqual(t, s.Bytes, int64(c.MaxBytes))
	require.Greater(t, s.Bytes, int64(c.MaxBytes)*9/10)
	require.Equal(t, 1000, s.Records+lost.Records, "the one that is taken is still counted")
	require.Equal(t, 0, number(t, first))
	q.Done()
	holds(t, q, 999-lost.Records)
	numbers := drain(t, q)
	require.Equal(t, counted(1000-len(numbers), 1000), numbers, "the newest stay")
	require.NoError(t, q.Close())
}

func TestBoundThatWasLowered(t *testing.T) {
	c := small(t.TempDir())
	c.MaxBytes = 16 * minBytes
	q := open(t, c)
	appendAll(t, q, 0, 500, 10_000)
	require.NoError(t, q.Close())
	c.MaxBytes = minBytes
	q = open(t, c)
	lost := appendAll(t, q, 500, 501, 10_000)
	require.LessOrEqual(t, q.State().Bytes, int64(c.MaxBytes))
	numbers := drain(t, q)
	require.Equal(t, 501, lost.Records+len(numbers))
	require.NoError(t, q.Close())
}

func TestRecordLargerThanTheQueue(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	_, err := q.Append(record(0, c.MaxBytes))
	require.ErrorIs(t, err, ErrTooLarge)
	appendAll(t, q, 1, 2, c.MaxBytes/2) // larger than a segment alone
	require.Equal(t, []int{1}, drain(t, q))
	require.NoError(t, q.Close())
}

func TestFilesAreTheOwnersAlone(t *testing.T) {
	c := small(filepath.Join(t.TempDir(), "a", "queue"))
	q := open(t, c)
	appendAll(t, q, 0, 1, 0)
	q.Next()
	q.Done()
	appendAll(t, q, 1, 2, 0)
	info, err := os.Stat(c.Path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(c.Path)
	require.NoError(t, err)
	require.Len(t, entries, 4)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), e.Name())
	}
	require.NoError(t, q.Close())
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string)
		err     string
	}{
		{"empty", func(*testing.T, string) {}, ""},
		{"a file system of its own", func(t *testing.T, dir string) { require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700)) }, ""},
		{"somebody's home", write("letter.txt", "dear"), `holds "letter.txt" and is no disk queue: give the queue a directory of its own`},
		{"another mark", write("queue", "tickets"), "is not the mark of a disk queue"},
		{"a later version", write("queue", "veneur disk queue 2 points\n"), "is a queue of version 2 and this daemon knows version 1: let the daemon"},
		{"another signal", write("queue", "veneur disk queue 1 spans\n"), "holds spans and this sink takes points: give it another directory"},
		{"a mark that was not written any more", write("queue", ""), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.prepare(t, dir)
			for range 2 {
				q, err := Open(small(dir), "points")
				if tt.err != "" {
					require.ErrorContains(t, err, tt.err)
					continue
				}
				require.NoError(t, err)
				require.NoError(t, q.Close())
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		write("file", "x")(t, filepath.Dir(path))
		_, err := Open(small(path), "points")
		require.ErrorContains(t, err, "must be able to make this directory")
	})
}

func TestDirectoryIsForOne(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	_, err := Open(c, "points")
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, c.Path)
	require.NoError(t, q.Close())
	q = open(t, c)
	require.NoError(t, q.Close())
}

// One appends, one takes, others look, and the bound is reached all the time: nothing is lost that is not said to be.
func TestAppendAndTakeAtOnce(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	const n = 1000
	var wg sync.WaitGroup
	var lost Lost
	ended := make(chan struct{})
	wg.Go(func() {
		defer close(ended)
		for i := range n {
			l, err := q.Append(record(i, 5000))
			if err != nil {
				t.Errorf("%v", err)
			}
			lost.Records += l.Records
			lost.Items += l.Items
			q.Sync()
		}
	})
	records, items, last := 0, 0, -1
	wg.Go(func() {
		for over := false; ; {
			r, damaged, ok := q.Next()
			if damaged != (Lost{}) {
				t.Errorf("damaged: %+v", damaged)
			}
			if !ok && over {
				return
			}
			if !ok {
				select {
				case <-ended:
					over = true
				default:
				}
				continue
			}
			if i := number(t, r); i <= last {
				t.Errorf("%d after %d", i, last)
			} else {
				last = i
			}
			records++
			items += r.Items
			q.Done()
		}
	})
	wg.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				if s := q.State(); s.Bytes > int64(c.MaxBytes) || s.Records < 0 || s.Items < s.Records {
					t.Errorf("%+v", s)
				}
			}
		}
	})
	wg.Wait()
	sum := 0
	for i := range n {
		sum += i%7 + 1
	}
	require.Equal(t, n, records+lost.Records)
	require.Equal(t, sum, items+lost.Items)
	holds(t, q, 0)
	require.NoError(t, q.Close())
}

func TestConfig(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
	require.False(t, c.On())
	c = Config{Path: "x", MaxBytes: 1, FsyncInterval: -1}
	require.EqualError(t, c.Validate(), "max_bytes: 1 is less than 1048576\nmax_age: 0s is not above 0\nfsync_interval: -1ns is less than 0")
	require.True(t, c.On())
}
