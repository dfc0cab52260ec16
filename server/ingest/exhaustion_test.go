//go:build unix

package ingest

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const childVariable = "VENEUR_TEST_CHILD"

// The limit on file descriptors is one of the whole process, so tests that lower it run in one of their own.
func inChild(t *testing.T) bool {
	t.Helper()
	if os.Getenv(childVariable) != "" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:gosec // this test itself
	command.Env = append(os.Environ(), childVariable+"=1")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return false
}

func limitFiles(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = n
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
}

// Connections on which nothing comes leave descriptors for everybody else.
func TestB085IdleConnectionsLeaveFileDescriptors(t *testing.T) {
	if !inChild(t) {
		return
	}
	limitFiles(t, 400) // 200 for connections, of which either end counts here
	c := statsd(tcp)
	c.GRPCListenAddresses = []Listener{NewListener("127.0.0.1:0")}
	r := start(t, c)
	require.Contains(t, r.log.String(), "takes 100 connections at most, not the 10000 of max_connections: the system lets the process open 400 files")
	for range 101 {
		r.dial(0)
	}
	r.wait(1, "ingest.connections_closed", "reason:limit")
	r.requireValue(100, "ingest.connections")
	r.requireValue(0, "ingest.accept_errors")
}

func TestConnectionsTakeAShareOfTheFiles(t *testing.T) {
	for _, tt := range []struct{ files, listeners, want int }{
		{1024, 1, 512}, {1024, 4, 128}, {20_000, 1, 19_488}, {64, 2, 16}, {1, 1, 1}, {0, 0, 1}, {2, 100, 1},
	} {
		require.Equal(t, tt.want, connectionRoom(tt.files, tt.listeners), "%v", tt)
	}
}

func TestB085NoFileDescriptorsLeft(t *testing.T) {
	if !inChild(t) {
		return
	}
	c := statsd(tcp)
	c.StatsdListenAddresses = append(c.StatsdListenAddresses, NewListener(loopback))
	c.GRPCListenAddresses = []Listener{NewListener("127.0.0.1:0")}
	r := start(t, c)
	datagrams := r.dial(1)
	limitFiles(t, 64)

	// Both ends count: connections are made until neither side can make another.
	var clients []net.Conn
	network, address := r.addr(0)
	_, grpcAddress := r.addr(2)
	for {
		conn, err := net.Dial(network, address)
		if err != nil {
			require.True(t, errors.Is(err, syscall.EMFILE), "%v", err)
			break
		}
		clients = append(clients, conn)
	}
	r.wait(1, "ingest.accept_errors")
	for range 100 {
		write(t, datagrams, "a:1|c")
	}
	r.wait(100, "ingest.samples")

	for _, conn := range clients[:len(clients)/2] {
		require.NoError(t, conn.Close())
	}
	for _, conn := range clients[len(clients)/2:] {
		write(t, conn, "b:1|c\n")
	}
	r.wait(100+float64(len(clients)-len(clients)/2), "ingest.samples")
	for _, address := range []string{address, grpcAddress} {
		eventually(t, func() bool { // the server's ends of what was closed are closed a little later
			conn, err := net.Dial(network, address)
			return err == nil && conn.Close() == nil
		}, "no new connection")
	}
	for _, conn := range clients[len(clients)/2:] {
		require.NoError(t, conn.Close())
	}
}
