package ingest

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/lifecycle"
)

// bindable is a listener that can be started without being run.
type bindable interface {
	lifecycle.Starter
	lifecycle.Closer
}

// listenerAt builds the only listener of an Ingest at the address.
func listenerAt(t *testing.T, address string) bindable {
	runners := build(t, statsd(address)).in.Runners()
	return runners[len(runners)-1].(bindable)
}

// networks runs f for both kinds of unix sockets, with an address in a directory of its own.
func networks(t *testing.T, f func(t *testing.T, network, path, address string)) {
	for _, network := range []string{"unix", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "v.sock")
			f(t, network, path, network+"://"+path)
		})
	}
}

// abandon leaves a socket file as a process does that was killed.
func abandon(t *testing.T, network, path string) {
	var closer interface{ Close() error }
	if network == "unix" {
		l, err := net.Listen(network, path)
		require.NoError(t, err)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		closer = l
	} else {
		c, err := net.ListenPacket(network, path)
		require.NoError(t, err)
		closer = c
	}
	require.NoError(t, closer.Close())
	require.FileExists(t, path)
	require.NoError(t, os.WriteFile(path+".lock", []byte("1\n"), 0o600))
}

func TestB073StaleSocketIsTakenOver(t *testing.T) {
	networks(t, func(t *testing.T, network, path, address string) {
		abandon(t, network, path)
		r := start(t, statsd(address))
		r.send(0, "a:1|c\n")
		r.wait(1, "ingest.samples")
	})
}

func TestB074LiveSocketIsRefused(t *testing.T) {
	networks(t, func(t *testing.T, network, path, address string) {
		first := start(t, statsd(address))
		err := listenerAt(t, address).Start(context.Background())
		require.EqualError(t, err, "listen on "+address+": in use by pid "+strconv.Itoa(os.Getpid()))
		first.send(0, "a:1|c\n")
		first.wait(1, "ingest.samples")
	})
}

func TestB074LiveSocketOfAnotherProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.sock")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	require.ErrorContains(t, listenerAt(t, "unix://"+path).Start(context.Background()), "in use by pid "+strconv.Itoa(os.Getpid()))
	require.ErrorContains(t, listenerAt(t, "unixgram://"+path).Start(context.Background()), "in use by another process")
	require.FileExists(t, path)
	require.NoFileExists(t, path+".lock")
}

func TestFileThatIsNoSocketStays(t *testing.T) {
	networks(t, func(t *testing.T, _, path, address string) {
		require.NoError(t, os.WriteFile(path, []byte("precious"), 0o600))
		require.EqualError(t, listenerAt(t, address).Start(context.Background()), "listen on "+address+": exists and is not a socket")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "precious", string(content))
	})
}

func TestMissingDirectory(t *testing.T) {
	address := "unix://" + filepath.Join(t.TempDir(), "none", "v.sock")
	require.ErrorIs(t, listenerAt(t, address).Start(context.Background()), fs.ErrNotExist)
}

func TestB075SocketFilesAreRemovedAtTheStop(t *testing.T) {
	networks(t, func(t *testing.T, network, path, address string) {
		r := start(t, statsd(address))
		conn := r.send(0, "a:1|c\n")
		r.wait(1, "ingest.samples")
		r.stop()
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Empty(t, left)
		_, err = net.Dial(network, path)
		require.ErrorIs(t, err, syscall.ENOENT)
		if network == "unixgram" {
			_, err = conn.Write([]byte("b:1|c"))
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
		}
	})
}

func TestB075SocketFileOfSomebodyElseStays(t *testing.T) {
	networks(t, func(t *testing.T, network, path, address string) {
		l := listenerAt(t, address)
		require.NoError(t, l.Start(context.Background()))
		require.NoError(t, os.Remove(path))
		abandon(t, network, path)
		require.NoError(t, l.Close())
		require.FileExists(t, path)
	})
}

func TestFilesAreGoneWhenAnotherListenerFails(t *testing.T) {
	networks(t, func(t *testing.T, _, path, address string) {
		l := listenerAt(t, address)
		require.NoError(t, l.Start(context.Background()))
		require.NoError(t, l.Close())
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

func TestB077Mode(t *testing.T) {
	networks(t, func(t *testing.T, _, path, address string) {
		for _, mode := range []FileMode{defaultMode, 0o600, 0o722} {
			c := statsd(address)
			c.StatsdListenAddresses[0].Mode = mode
			r := start(t, c)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(mode), info.Mode().Perm())
			r.stop()
		}
	})
}

// In a directory where strangers may make links, one in place of the lock file must not lead the daemon to empty what it leads to.
func TestLockFileIsNoLink(t *testing.T) {
	networks(t, func(t *testing.T, _, path, address string) {
		precious := filepath.Join(t.TempDir(), "precious")
		require.NoError(t, os.WriteFile(precious, []byte("content"), 0o600))
		require.NoError(t, os.Symlink(precious, path+".lock"))
		require.ErrorContains(t, listenerAt(t, address).Start(context.Background()), path)
		content, err := os.ReadFile(precious)
		require.NoError(t, err)
		require.Equal(t, "content", string(content))
	})
}

// An abstract name has no file. It is free as soon as nobody holds it, and an error as long as somebody does.
func TestAbstractNames(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	for _, network := range []string{"unix", "unixgram"} {
		address := network + "://@veneur-test-" + filepath.Base(t.TempDir()) + strconv.Itoa(os.Getpid())
		for range 2 {
			r := start(t, statsd(address))
			require.EqualError(t, listenerAt(t, address).Start(context.Background()), "listen on "+address+": bind: address already in use")
			r.send(0, "a:1|c\n")
			r.wait(1, "ingest.samples")
			r.stop()
		}
	}
}
