package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var count = []string{"-name", "a", "-count", "1"}

// closedPort returns an address where nothing listens.
func closedPort(t *testing.T, network string) string {
	t.Helper()
	p := listen(t, network)
	if p.stream != nil {
		require.NoError(t, p.stream.Close())
	} else {
		require.NoError(t, p.datagram.Close())
	}
	return p.hostport
}

// emitFor runs veneur-emit with less patience than it has.
func emitFor(t *testing.T, d time.Duration, in string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return emitIn(ctx, in, nil, args...)
}

func TestNobodyThere(t *testing.T) {
	for _, tt := range []struct {
		name, hostport, why string
	}{
		{"tcp", closedPort(t, "tcp"), "connect: connection refused"},
		{"no unix socket", "unix://" + filepath.Join(t.TempDir(), "s"), "connect: no such file or directory"},
		{"no unixgram socket", "unixgram://" + filepath.Join(t.TempDir(), "s"), "connect: no such file or directory"},
		{"a dead unixgram socket", closedPort(t, "unixgram"), "connect: connection refused"},
		{"B127 udp", closedPort(t, "udp"), "nobody listens there"},
		{"a datagram socket taken for a stream", strings.Replace(listen(t, "unixgram").hostport, "unixgram", "unix", 1), "is a socket of another type: write unixgram://"},
		{"a stream taken for a datagram socket", strings.Replace(listen(t, "unix").hostport, "unix", "unixgram", 1), "is a socket of another type: write unix://"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			requireRefused(t, emit(t, append([]string{"-hostport", tt.hostport}, count...)...), tt.why)
			requireRefused(t, emit(t, append([]string{"-ssf", "-hostport", tt.hostport}, count...)...), tt.why)
			r := emitWith(t, "a:1|c\n", nil, "-hostport", tt.hostport, "-")
			requireRefused(t, r, tt.why)
			require.Equal(t, 1, strings.Count(r.err, "\n"), r.err)
		})
	}
}

// Of two packets into the void the second write fails, and that is not the end of what is told.
func TestB127RefusedInTheMiddle(t *testing.T) {
	in, out := io.Pipe()
	var stderr strings.Builder
	ended := make(chan int, 1)
	to := closedPort(t, "udp")
	go func() {
		ended <- run(t.Context(), []string{"-hostport", to, "-"}, nil, streams{in, io.Discard, &stderr})
		in.Close()
	}()
	for err := error(nil); err == nil; {
		_, err = io.WriteString(out, "a:1|c\n")
	}
	require.Equal(t, exitFailure, <-ended)
	require.Contains(t, stderr.String(), ": "+to+": nobody listens there")
}

// A peer that accepts and never reads costs the time that it is given, not more.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(counter(1, 1000)+"\n", 20_000)
	for _, network := range []string{"tcp", "unix", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			p := listen(t, network)
			requireRefused(t, emitFor(t, 3*time.Second, many, "-hostport", p.hostport, "-"), "nobody reads what is sent")
		})
	}
}

// Whoever closes the connection before reading everything is told of: the kernel took it, and nobody else.
func TestHungUp(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			p := listen(t, network)
			ended := emitting(t, "", append([]string{"-hostport", p.hostport}, count...)...)
			conn, err := p.stream.Accept()
			require.NoError(t, err)
			_, err = io.ReadFull(conn, make([]byte, 1)) // the rest has come as well
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			requireRefused(t, <-ended, "it hung up before it read everything")
		})
	}
}

// Others may answer, and may keep the connection open: the message is theirs.
func TestPeersWithManners(t *testing.T) {
	t.Parallel()
	t.Run("answers", func(t *testing.T) {
		p := listen(t, "tcp")
		ended := emitting(t, "", append([]string{"-hostport", p.hostport}, count...)...)
		conn, err := p.stream.Accept()
		require.NoError(t, err)
		_, err = io.WriteString(conn, "welcome\n")
		require.NoError(t, err)
		data, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Equal(t, "a:1|c\n", string(data))
		require.NoError(t, conn.Close())
		requireSent(t, <-ended)
	})
	t.Run("keeps open", func(t *testing.T) {
		p := listen(t, "tcp")
		requireSent(t, emit(t, append([]string{"-hostport", p.hostport}, count...)...))
	})
	t.Run("answers over udp", func(t *testing.T) {
		p := listen(t, "udp")
		ended := emitting(t, "", append([]string{"-hostport", p.hostport}, count...)...)
		buf := make([]byte, 100)
		_, from, err := p.datagram.ReadFrom(buf)
		require.NoError(t, err)
		_, err = p.datagram.WriteTo([]byte("ok"), from)
		if err != nil {
			require.ErrorContains(t, err, "refused") // it has gone
		}
		requireSent(t, <-ended)
	})
}

func TestB092B118Destinations(t *testing.T) {
	v6, err := net.ListenPacket("udp", "[::1]:0")
	require.NoError(t, err)
	defer v6.Close()
	v4, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer v4.Close()
	_, port, err := net.SplitHostPort(v4.LocalAddr().String())
	require.NoError(t, err)
	for _, tt := range []struct {
		name, hostport string
		at             net.PacketConn
	}{
		{"B092 IPv6", "udp://" + v6.LocalAddr().String(), v6},
		{"B092 IPv6 with its network", "udp6://" + v6.LocalAddr().String(), v6},
		{"B092 IPv6 without a scheme", v6.LocalAddr().String(), v6},
		{"B118 without a scheme", v4.LocalAddr().String(), v4},
		{"a slash at the end", "udp://" + v4.LocalAddr().String() + "/", v4},
		{"a name of both families is IPv4 over udp", "localhost:" + port, v4},
		{"no host is this one", "udp://:" + port, v4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			requireSent(t, emit(t, append([]string{"-hostport", tt.hostport}, count...)...))
			p := peer{t: t, datagram: tt.at}
			require.Equal(t, "a:1|c", p.packet())
		})
	}
}

// A path may be relative to the working directory.
func TestRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	conn, err := net.ListenPacket("unixgram", "s")
	require.NoError(t, err)
	defer conn.Close()
	requireSent(t, emit(t, append([]string{"-hostport", "unixgram://./s"}, count...)...))
	p := peer{t: t, datagram: conn}
	require.Equal(t, "a:1|c", p.packet())
	require.FileExists(t, "s")
	_ = os.Remove("s")
}
