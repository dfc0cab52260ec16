package diskqueue

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// size is that of a record of these tests in its file.
const (
	payload = 100
	size    = headerSize + payload
)

func at(record int) int64 { return segmentHeader + int64(record)*size }

// flip changes one bit of a file.
func flip(t *testing.T, path string, at int64) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[at] ^= 0x10
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

func TestDamagedSegments(t *testing.T) {
	const n = 10
	without := func(i int) []int { return append(counted(0, i), counted(i+1, n)...) }
	tests := []struct {
		name    string
		damage  func(t *testing.T, path string)
		want    []int
		corrupt int
		bytes   int64
	}{
		{"none", func(*testing.T, string) {}, counted(0, n), 0, 0},
		{
			"a tail of some bytes", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, at(9)+5)) },
			counted(0, 9), 1, 5,
		},
		{
			"a tail of a header", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, at(9)+headerSize)) },
			counted(0, 9), 1, headerSize,
		},
		{
			"a tail that lacks a byte", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, at(10)-1)) },
			counted(0, 9), 1, size - 1,
		},
		{
			"zeros at the end", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, at(12))) },
			counted(0, n), 1, 2 * size,
		},
		{"cut at a record", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, at(7))) }, counted(0, 7), 0, 0},
		{"a payload", func(t *testing.T, path string) { flip(t, path, at(3)+headerSize+50) }, without(3), 1, size},
		{"the first payload", func(t *testing.T, path string) { flip(t, path, at(0)+headerSize) }, counted(1, n), 1, size},
		{"the last payload", func(t *testing.T, path string) { flip(t, path, at(10)-1) }, counted(0, 9), 1, size},
		{
			"two payloads in a row",
			func(t *testing.T, path string) { flip(t, path, at(4)+headerSize); flip(t, path, at(5)+headerSize) },
			append(counted(0, 4), counted(6, n)...), 2, 2 * size,
		},
		{"a length", func(t *testing.T, path string) { flip(t, path, at(3)) }, counted(0, 3), 1, 7 * size},
		{"a huge length", func(t *testing.T, path string) { flip(t, path, at(3)+3) }, counted(0, 3), 1, 7 * size},
		{"a number of items", func(t *testing.T, path string) { flip(t, path, at(3)+4) }, counted(0, 3), 1, 7 * size},
		{"a time", func(t *testing.T, path string) { flip(t, path, at(3)+9) }, counted(0, 3), 1, 7 * size},
		{"the CRC of a payload", func(t *testing.T, path string) { flip(t, path, at(3)+17) }, counted(0, 3), 1, 7 * size},
		{"the CRC of a header", func(t *testing.T, path string) { flip(t, path, at(3)+21) }, counted(0, 3), 1, 7 * size},
		{"the beginning", func(t *testing.T, path string) { flip(t, path, 2) }, nil, 1, at(10)},
		{"the segment's number", func(t *testing.T, path string) { flip(t, path, 9) }, nil, 1, at(10)},
		{"an empty file", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 0)) }, nil, 0, 0},
		{"half a beginning", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 7)) }, nil, 1, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := small(t.TempDir())
			q := open(t, c)
			appendAll(t, q, 0, n, payload)
			require.NoError(t, q.Close())
			tt.damage(t, files(t, c.Path)[0])

			q = open(t, c)
			s := holds(t, q, len(tt.want))
			require.Equal(t, tt.corrupt, s.Corrupt)
			require.Equal(t, tt.bytes, s.CorruptBytes)
			appendAll(t, q, n, n+2, payload) // in a segment of its own
			require.Equal(t, append(tt.want, n, n+1), drain(t, q))
			require.Equal(t, tt.corrupt, q.State().Corrupt, "counted once")
			require.NoError(t, q.Close())

			q = open(t, c)
			require.Zero(t, holds(t, q, 0).Corrupt, "and not at the next start")
			require.NoError(t, q.Close())
		})
	}
}

// A damaged segment in the middle costs itself only.
func TestDamageStaysInItsSegment(t *testing.T) {
	c := small(t.TempDir())
	q := open(t, c)
	appendAll(t, q, 0, 100, 5000)
	require.NoError(t, q.Close())
	paths := files(t, c.Path)
	require.Greater(t, len(paths), 3)
	flip(t, paths[1], 0)
	flip(t, paths[2], segmentHeader+1)
	q = open(t, c)
	numbers := drain(t, q)
	require.Equal(t, 0, numbers[0])
	require.Equal(t, 99, numbers[len(numbers)-1])
	require.Greater(t, len(numbers), 50)
	require.IsIncreasing(t, numbers)
	require.Equal(t, 2, q.State().Corrupt)
	require.NoError(t, q.Close())
}

// What is damaged while the queue is open is found when it is read.
func TestDamageWhileOpen(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		want   []int
		lost   int
	}{
		{"a payload", func(t *testing.T, path string) { flip(t, path, at(2)+headerSize) }, []int{0, 1, 3, 4}, 1},
		{"a header", func(t *testing.T, path string) { flip(t, path, at(2)) }, []int{0, 1}, 3},
		{"the file is gone", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, nil, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := small(t.TempDir())
			q := open(t, c)
			appendAll(t, q, 0, 5, payload)
			tt.damage(t, files(t, c.Path)[0])
			var numbers []int
			var lost Lost
			for {
				r, l, ok := q.Next()
				lost.Records += l.Records
				lost.Items += l.Items
				if !ok {
					break
				}
				numbers = append(numbers, number(t, r))
				q.Done()
			}
			require.Equal(t, tt.want, numbers)
			require.Equal(t, tt.lost, lost.Records)
			require.NotZero(t, lost.Items)
			s := q.State()
			require.Zero(t, s.Records)
			require.Zero(t, s.Items)
			require.Equal(t, 1, s.Corrupt)
			require.NoError(t, q.Close())
		})
	}
}

func TestDamagedCursor(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		want   []int
	}{
		{"none", func(*testing.T, string) {}, counted(4, 10)},
		{"gone", func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, counted(0, 10)},
		{"torn", func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 11)) }, counted(0, 10)},
		{"a bit", func(t *testing.T, path string) { flip(t, path, 8) }, counted(0, 10)},
		{"into a record", func(t *testing.T, path string) {
			c, id, offset, err := openCursor(filepath.Dir(path))
			require.NoError(t, err)
			require.NoError(t, c.set(id, offset+1))
			require.NoError(t, c.close())
		}, counted(0, 10)},
		{"past the end", func(t *testing.T, path string) {
			c, id, offset, err := openCursor(filepath.Dir(path))
			require.NoError(t, err)
			require.NoError(t, c.set(id, offset+1_000_000))
			require.NoError(t, c.close())
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := small(t.TempDir())
			q := open(t, c)
			appendAll(t, q, 0, 10, payload)
			for range 4 {
				q.Next()
				q.Done()
			}
			require.NoError(t, q.Close())
			tt.damage(t, filepath.Join(c.Path, cursorName))
			q = open(t, c)
			require.Equal(t, tt.want, drain(t, q))
			require.Zero(t, q.State().Corrupt)
			require.NoError(t, q.Close())
		})
	}
}

func TestPayloadThatCannotBeReadAfterAll(t *testing.T) {
	q := open(t, small(t.TempDir()))
	appendAll(t, q, 0, 2, payload)
	_, _, ok := q.Next()
	require.True(t, ok)
	q.Damaged()
	s := holds(t, q, 1)
	require.Equal(t, 1, s.Corrupt)
	require.EqualValues(t, size, s.CorruptBytes)
	require.Equal(t, []int{1}, drain(t, q))
	require.NoError(t, q.Close())
}

// Whatever stands in a segment: opening and reading it ends, and every record that comes out was written by us.
func FuzzSegment(f *testing.F) {
	valid := appendSegmentHeader(nil, 1)
	for i := range 3 {
		valid = appendRecord(valid, 1, record(i, 30))
	}
	f.Add(valid)
	f.Add(valid[:len(valid)-1])
	f.Add(append(valid, make([]byte, 100)...))
	f.Add(appendSegmentHeader(nil, 2))
	for range 8 {
		b := append([]byte(nil), valid...)
		b[rand.IntN(len(b))] ^= 1 << rand.IntN(8)
		f.Add(b)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		c := small(t.TempDir())
		q := open(t, c)
		require.NoError(t, q.Close())
		require.NoError(t, os.WriteFile(segmentPath(c.Path, 1), b, 0o600))
		q = open(t, c)
		s := q.State()
		n := 0
		for {
			r, lost, ok := q.Next()
			if lost != (Lost{}) {
				t.Fatalf("found damaged when read, not when opened: %+v", lost)
			}
			if !ok {
				break
			}
			if time.Since(r.Born) < 0 && len(r.Payload) > len(b) {
				t.Fatal("a record from nowhere")
			}
			n++
			q.Done()
		}
		require.Equal(t, s.Records, n)
		require.Zero(t, q.State().Items)
		require.NoError(t, q.Close())
	})
}
