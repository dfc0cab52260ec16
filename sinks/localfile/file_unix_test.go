//go:build unix

package localfile

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/delivery"
)

func TestPipesAndSocketsAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	socket := filepath.Join(dir, "socket")
	ln, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer ln.Close()
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(pipe, link))

	read, err := os.OpenFile(pipe, os.O_RDWR, 0)
	require.NoError(t, err)
	for range 2 { // with a reader and without
		for path, what := range map[string]string{pipe: "a pipe", link: "a pipe", socket: "a socket"} {
			k, _ := newFile(t, func(c *Config) { c.Path = path })
			require.EqualError(t, k.Start(t.Context()), "cannot write to the file: "+path+" is "+what+"; write to a file, or to - for standard output")
		}
		_ = read.Close()
	}
}

func TestPlaceWhereNobodyMayWrite(t *testing.T) {
	const readOnly = "/sys/veneur" // to root, too
	k, _ := newFile(t, func(c *Config) { c.Path = readOnly })
	require.ErrorContains(t, k.Start(t.Context()), "cannot write to the file: open "+readOnly+": ")
	if os.Geteuid() == 0 {
		return
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o500))
	k, _ = newFile(t, func(c *Config) { c.Path = filepath.Join(dir, "out") })
	require.ErrorIs(t, k.Start(t.Context()), os.ErrPermission)
}

func TestPipeInThePlaceOfTheFile(t *testing.T) {
	k, path := newFile(t, nil)
	send(t, k, numberedPoints(1, 1))
	require.NoError(t, os.Remove(path))
	require.NoError(t, unix.Mkfifo(path, 0o600))
	require.ErrorContains(t, k.Send(t.Context(), numberedPoints(2, 1)), "is a pipe")
	require.NoError(t, os.Remove(path))
	send(t, k, numberedPoints(2, 1))
	assert.Equal(t, []string{line(2)}, lines(t, path))
}

func TestSymbolicLinkStays(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "big", "data"), filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(filepath.Dir(target), 0o755))
	require.NoError(t, os.Symlink(target, link)) // the target is yet to be made
	k, _ := newFile(t, func(c *Config) { c.Path, c.MaxBytes = link, minRotation })
	for i := range 40 {
		send(t, k, numberedPoints(1000+i, 1))
	}
	assert.Greater(t, len(lines(t, target)), 5)
	assert.Len(t, append(lines(t, target+".1"), lines(t, target)...), 40)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
}

func TestLockThatSomebodyElseHas(t *testing.T) {
	k, path := newFile(t, nil)
	require.NoError(t, k.Start(t.Context()))
	other, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_EX))
	err = k.Send(within(t, 50*time.Millisecond), numberedPoints(1, 1))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "lock "+path)
	second, _ := newFile(t, func(c *Config) { c.Path = path })
	require.ErrorIs(t, second.Start(within(t, 50*time.Millisecond)), context.DeadlineExceeded)

	sent := make(chan error, 1)
	go func() { sent <- k.Send(t.Context(), numberedPoints(1, 1)) }()
	require.NoError(t, unix.Flock(int(other.Fd()), unix.LOCK_UN))
	require.NoError(t, <-sent)
	assert.Equal(t, []string{line(1)}, lines(t, path))
}

// TestDeviceThatIsFull: a write that fails is tried again and, in the end, counted.
func TestDeviceThatIsFull(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Logf("this system has no %s: %v", full, err)
		return
	}
	k, _ := newFile(t, func(c *Config) { c.Path = full })
	require.ErrorIs(t, k.Send(t.Context(), numberedPoints(1, 1)), unix.ENOSPC)

	c := delivery.DefaultConfig()
	c.RetryAttempts, c.RetryInitial, c.RetryMax = 3, time.Millisecond, time.Millisecond
	log, _ := logtest.NewNullLogger()
	d := delivery.New(k, c, delivery.Settings{Name: "full", Interval: 10 * time.Second, Log: log, Telemetry: telemetry.New(), DrainTimeout: 20 * time.Second})
	require.NoError(t, d.Start(t.Context()))
	d.Offer(numberedPoints(1, 7))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, d.Run(ctx))
	assert.Equal(t, delivery.Ledger{Offered: 7, Expired: 7}, d.Ledger())
}

const limitedDir = "LOCALFILE_TEST_LIMITED_DIR"

// TestDiskThatIsFull runs fillUp in a process of its own, since a limit on the size of files is the whole process's.
func TestDiskThatIsFull(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(within(t, 2*time.Minute), exe)
	cmd.Env = append(os.Environ(), limitedDir+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// fillUp writes until no file may grow any more, as on a full disk: the write that does not fit is cut short by the system in the middle of a
// line. It returns the exit code.
func fillUp(dir string) int {
	if err := fill(dir); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func fill(dir string) error {
	signal.Ignore(unix.SIGXFSZ) // which would end the process before the write can fail
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	plenty := limit.Cur
	limit.Cur = 10_000
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	c := DefaultConfig()
	c.Path = filepath.Join(dir, "out")
	k, err := newSink(c, settingsOf("host"))
	if err != nil {
		return err
	}
	const perSend = 7
	sent, failed := 0, 0
	for failed < 3 {
		err := k.Send(context.Background(), numberedPoints(sent, perSend))
		switch {
		case err == nil:
			sent += perSend
		case strings.Contains(err.Error(), "file too large"):
			failed++
		default:
			return err
		}
		if sent > 1000 {
			return fmt.Errorf("the limit does not hold")
		}
	}
	if err := expect(c.Path, sent); err != nil {
		return fmt.Errorf("while it is full: %w", err)
	}
	limit.Cur = plenty
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	for range 5 {
		if err := k.Send(context.Background(), numberedPoints(sent, perSend)); err != nil {
			return err
		}
		sent += perSend
	}
	if err := expect(c.Path, sent); err != nil {
		return fmt.Errorf("when there is room again: %w", err)
	}
	return k.Close()
}

// expect says whether a file has the first n lines, and nothing else.
func expect(path string, n int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var want strings.Builder
	for i := range n {
		want.WriteString(line(i) + "\n")
	}
	if string(text) != want.String() {
		return fmt.Errorf("%d lines expected, found\n%s", n, text)
	}
	return nil
}
