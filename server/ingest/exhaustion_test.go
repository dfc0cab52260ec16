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

// The limit on file descriptors is one of the whole process, so the test runs in one of its own.
func TestB085NoFileDescriptorsLeft(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestB085NoFileDescriptorsLeft$", "-test.v") //nolint:gosec // this test itself
		command.Env = append(os.Environ(), childVariable+"=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return
	}
	c := statsd(tcp)
	c.StatsdListenAddresses = append(c.StatsdListenAddresses, NewListener(loopback))
	c.GRPCListenAddresses = []Listener{NewListener("127.0.0.1:0")}
	r := start(t, c)
	datagrams := r.dial(1)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	limit.Cur = 64
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))

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
