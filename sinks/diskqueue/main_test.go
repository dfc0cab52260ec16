package diskqueue

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(childJob); job != "" {
		os.Exit(child(job))
	}
	leaktest.Main(m)
}

// born is when the records of tests came in: record i a second after record i-1.
var born = time.Unix(1_700_000_000, 0)

// small is a configuration of the least size.
func small(dir string) Config {
	c := DefaultConfig()
	c.Path = dir
	c.MaxBytes = minBytes
	return c
}

func open(t testing.TB, c Config) *Queue {
	t.Helper()
	q, err := Open(c, "points")
	require.NoError(t, err)
	return q
}

// record is the i-th record of a test, of i%7+1 items; its payload says which it is, in at least size bytes.
func record(i, size int) Record {
	text := fmt.Sprintf("record %d ", i)
	text += strings.Repeat("x", max(0, size-len(text)))
	return Record{Items: i%7 + 1, Born: born.Add(time.Duration(i) * time.Second), Payload: []byte(text)}
}

func appendAll(t testing.TB, q *Queue, from, to, size int) (lost Lost) {
	t.Helper()
	for i := from; i < to; i++ {
		l, err := q.Append(record(i, size))
		require.NoError(t, err)
		lost.Items += l.Items
		lost.Records += l.Records
	}
	return lost
}

// drain takes all records and returns which they are.
func drain(t testing.TB, q *Queue) (numbers []int) {
	t.Helper()
	for {
		r, _, ok := q.Next()
		if !ok {
			return numbers
		}
		i := number(t, r)
		require.Equal(t, i%7+1, r.Items)
		require.True(t, born.Add(time.Duration(i)*time.Second).Equal(r.Born))
		numbers = append(numbers, i)
		q.Done()
	}
}

func number(t testing.TB, r Record) (i int) {
	t.Helper()
	_, err := fmt.Sscanf(string(r.Payload), "record %d ", &i)
	require.NoError(t, err)
	return i
}

// counted is from, from+1, … to-1.
func counted(from, to int) (numbers []int) {
	for i := from; i < to; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// holds asserts that a queue's accounts are those of n records.
func holds(t testing.TB, q *Queue, n int) State {
	t.Helper()
	s := q.State()
	require.Equal(t, n, s.Records, "%+v", s)
	require.Equal(t, n == 0, s.Items == 0, "%+v", s)
	var bytes int64
	for _, path := range files(t, q.cfg.Path) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		bytes += info.Size()
	}
	require.Equal(t, bytes, s.Bytes, "%+v", s)
	return s
}

// files are the segments of a directory, the oldest first.
func files(t testing.TB, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	require.NoError(t, err)
	return paths
}
