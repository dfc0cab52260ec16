package localfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
)

func TestAppends(t *testing.T) {
	k, path := newFile(t, nil)
	require.NoError(t, os.WriteFile(path, []byte("before\n"), 0o600))
	require.NoError(t, k.Start(t.Context()))
	send(t, k, numberedPoints(1, 2))
	send(t, k, &sinks.Batch{})
	send(t, k, numberedPoints(3, 1))
	assert.Equal(t, []string{"before", line(1), line(2), line(3)}, lines(t, path))
}

func TestStartMakesTheFile(t *testing.T) {
	k, path := newFile(t, func(c *Config) { c.Mode = "0600" })
	require.NoError(t, k.Start(t.Context()))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, info.Size())
	assert.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestStartSaysWhatIsWrongWithThePath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		dir:                             dir + " is a directory; write to a file",
		filepath.Join(dir, "no", "out"): "no such file or directory",
		filepath.Join(file, "out"):      "not a directory",
	} {
		k, _ := newFile(t, func(c *Config) { c.Path = path })
		assert.ErrorContains(t, k.Start(t.Context()), "cannot write to the file: ", path)
		assert.ErrorContains(t, k.Start(t.Context()), want, path)
	}
}

func TestEndedContextWritesNothing(t *testing.T) {
	k, path := newFile(t, nil)
	require.NoError(t, k.Start(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, k.Send(ctx, numberedPoints(1, 1)), context.Canceled)
	assert.Empty(t, lines(t, path))
}

func TestRotation(t *testing.T) {
	k, path := newFile(t, func(c *Config) { c.MaxBytes, c.MaxFiles = minRotation, 2 })
	perFile := minRotation / (len(line(1000)) + 1)
	for i := range 4 * perFile {
		send(t, k, numberedPoints(1000+i, 1))
	}
	for i, name := range []string{path + ".2", path + ".1", path} {
		got := lines(t, name)
		require.Len(t, got, perFile, name)
		assert.Equal(t, line(1000+(i+1)*perFile), got[0], "the first of four files was the one too many")
	}
	assert.NoFileExists(t, path+".3")

	send(t, k, numberedPoints(1, 100))
	assert.Len(t, lines(t, path), 100, "one write is never cut, however large")
	send(t, k, numberedPoints(1, 1))
	assert.Len(t, lines(t, path+".1"), 100)
}

func TestRotationWithoutOldFiles(t *testing.T) {
	k, path := newFile(t, func(c *Config) { c.MaxBytes, c.MaxFiles = minRotation, 0 })
	for i := range 100 {
		send(t, k, numberedPoints(1000+i, 1))
	}
	got := lines(t, path)
	assert.LessOrEqual(t, len(strings.Join(got, "\n"))+1, minRotation)
	assert.Equal(t, line(1099), got[len(got)-1])
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestRotationThatFailsLosesNothing(t *testing.T) {
	k, path := newFile(t, func(c *Config) { c.MaxBytes, c.MaxFiles = minRotation, 1 })
	require.NoError(t, os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o755))
	sent := 0
	for ; k.Send(t.Context(), numberedPoints(sent, 1)) == nil; sent++ {
	}
	require.ErrorContains(t, k.Send(t.Context(), numberedPoints(sent, 1)), "rotate: ")
	assert.Len(t, lines(t, path), sent)
	require.NoError(t, os.RemoveAll(path+".1"))
	send(t, k, numberedPoints(sent, 1))
	assert.Equal(t, []string{line(sent)}, lines(t, path))
	assert.Len(t, lines(t, path+".1"), sent)
}

func TestFileThatSomebodyElseMovesOrRemoves(t *testing.T) {
	k, path := newFile(t, nil)
	send(t, k, numberedPoints(1, 1))
	require.NoError(t, os.Rename(path, path+".old"))
	send(t, k, numberedPoints(2, 1))
	require.NoError(t, os.Remove(path))
	send(t, k, numberedPoints(3, 1))
	assert.Equal(t, []string{line(1)}, lines(t, path+".old"))
	assert.Equal(t, []string{line(3)}, lines(t, path))
	require.NoError(t, os.Truncate(path, 0))
	send(t, k, numberedPoints(4, 1))
	assert.Equal(t, []string{line(4)}, lines(t, path))
}

// TestManySinksOnOneFile: lines stay whole, and each stands once, while the file is rotated under all of them.
func TestManySinksOnOneFile(t *testing.T) {
	const sinksOnIt, sends, perSend = 4, 50, 5
	path := filepath.Join(t.TempDir(), "out")
	var writers sync.WaitGroup
	for i := range sinksOnIt {
		k, _ := newFile(t, func(c *Config) { c.Path, c.MaxBytes, c.MaxFiles = path, 20_000, 100 })
		writers.Go(func() {
			for j := range sends {
				assert.NoError(t, k.Send(t.Context(), numberedPoints((i*sends+j)*perSend, perSend)))
			}
		})
	}
	writers.Wait()
	seen := map[string]int{}
	names, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Greater(t, len(names), 3)
	for _, name := range names {
		for _, l := range lines(t, name) {
			seen[l]++
		}
	}
	require.Len(t, seen, sinksOnIt*sends*perSend)
	for i := range sinksOnIt * sends * perSend {
		require.Equal(t, 1, seen[line(i)], "line %d", i)
	}
}

func newStream(t *testing.T, out io.Writer) *sink {
	t.Helper()
	c := DefaultConfig()
	c.Path = "-"
	k, err := newSink(c, sinks.Settings{Hostname: "host", Stdout: out})
	require.NoError(t, err)
	return k
}

// shortWriter takes a number of bytes and then fails, until told otherwise.
type shortWriter struct {
	strings.Builder
	room int
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) <= w.room {
		w.room -= len(p)
		return w.Builder.Write(p)
	}
	n := w.room
	w.room = 0
	w.Builder.Write(p[:n])
	return n, errors.New("no more")
}

func TestStandardOutputThatTakesAPart(t *testing.T) {
	out := &shortWriter{room: len(line(1)) + 10}
	k := newStream(t, out)
	require.NoError(t, k.Start(t.Context()))

	err := k.Send(t.Context(), numberedPoints(1, 3))
	var partial *sinks.PartialError
	require.ErrorAs(t, err, &partial, "what is out cannot be taken back, and must not come twice")
	assert.Equal(t, 2, partial.Refused)

	err = k.Send(t.Context(), numberedPoints(4, 1))
	require.EqualError(t, err, "no more", "nothing was taken")

	out.room = 1000
	require.NoError(t, k.Send(t.Context(), numberedPoints(5, 1)))
	require.NoError(t, k.Send(t.Context(), numberedPoints(6, 1)))
	assert.Equal(t, fmt.Sprintf("%s\n%s\n%s\n%s\n", line(1), line(2)[:9], line(5), line(6)), out.String())
}

func TestHugeBufferIsLetGo(t *testing.T) {
	k := newStream(t, io.Discard)
	send(t, k, numberedPoints(0, 100))
	kept := cap(k.buf)
	assert.NotZero(t, kept)
	send(t, k, numberedPoints(0, 20_000))
	assert.LessOrEqual(t, cap(k.buf), maxKept)
}
