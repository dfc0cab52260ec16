//go:build unix

package diskqueue

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// child is what a process started by a test does: it appends records for ever and says of each that it is in.
func child(job string) int {
	name, dir, _ := strings.Cut(job, ":")
	q, err := Open(small(dir), "points")
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	switch name {
	case "append":
		return appendForEver(q)
	case "full":
		return appendOnAFullDisk(q)
	}
	return 2
}

func appendForEver(q *Queue) int {
	first := 0
	if s := q.State(); s.Records > 0 {
		r, _, _ := q.Next()
		_, _ = fmt.Sscanf(string(r.Payload), "record %d ", &first)
		first += s.Records
	}
	for i := first; ; i++ {
		// Large ones, so that the signal falls into the middle of a write.
		if _, err := q.Append(record(i, 1000+i%50_000)); err != nil {
			fmt.Println("error:", err)
			return 1
		}
		fmt.Println(i)
		if i%10 == 9 { // something is taken, too
			_, _, _ = q.Next()
			q.Done()
		}
	}
}

// What Append has returned for is there after kill -9, in order, and nothing else is but at most the one that was being written.
func TestKilledWhileItAppends(t *testing.T) {
	c := small(t.TempDir())
	c.MaxBytes = 1 << 30
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	last := -1
	for range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childJob+"=append:"+c.Path)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		said := bufio.NewScanner(out)
		for enough := last + 1 + rnd.IntN(200); last < enough && said.Scan(); {
			last, err = strconv.Atoi(said.Text())
			require.NoError(t, err, said.Text())
		}
		require.NoError(t, cmd.Process.Kill())
		for said.Scan() { // what it said before the signal came
			if n, err := strconv.Atoi(said.Text()); err == nil {
				last = n
			}
		}
		require.Error(t, cmd.Wait())
	}
	// The bound of the child is smaller: what it dropped is the oldest.
	q := open(t, c)
	numbers := drain(t, q)
	require.NotEmpty(t, numbers)
	got := numbers[len(numbers)-1]
	require.GreaterOrEqual(t, got, last)
	require.LessOrEqual(t, got, last+1)
	require.Equal(t, counted(numbers[0], got+1), numbers)
	require.NoError(t, q.Close())
}

// appendOnAFullDisk lets files grow to 20 kB only, and says what became of each record.
func appendOnAFullDisk(q *Queue) int {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 20_000, Max: 20_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	for i := range 30 {
		if _, err := q.Append(record(i, 3000)); err != nil {
			fmt.Println("refused", i)
		} else {
			fmt.Println("in", i)
		}
	}
	if err := q.Close(); err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// A write that fails takes nothing back of what was written, leaves no half record, and the next one begins anew.
func TestFullDisk(t *testing.T) {
	c := small(t.TempDir())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"=full:"+c.Path)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	var in []int
	refused := 0
	for line := range strings.Lines(string(out)) {
		word, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		i, err := strconv.Atoi(text)
		require.NoError(t, err, line)
		if word == "in" {
			in = append(in, i)
		} else {
			refused++
		}
	}
	require.NotZero(t, refused)
	require.NotEmpty(t, in)
	q := open(t, c)
	require.Zero(t, holds(t, q, len(in)).Corrupt)
	require.Equal(t, in, drain(t, q))
	require.NoError(t, q.Close())
}

func TestDirectoryOfAnotherProcess(t *testing.T) {
	c := small(t.TempDir())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"=append:"+c.Path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.True(t, bufio.NewScanner(out).Scan(), "it has the queue")
	_, err = Open(c, "points")
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NoError(t, open(t, c).Close(), "the lock went with the process")
}
