package ingest

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const tcp = "tcp://127.0.0.1:0"

func TestStreams(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, address string }{
		{"tcp", tcp},
		{"tcp over IPv6", "tcp://[::1]:0"},
		{"unix", "unix://" + filepath.Join(dir, "s.sock")},
		{"abstract unix", "unix://@veneur-test-" + strconv.Itoa(os.Getpid())},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, statsd(tt.address))
			conn := r.send(0, "a:1|", "c|#x", ":y\r\nbad\n\n\nb:1|g\nb:2", ".5|g\n")
			r.wait(4, "ingest.lines")
			r.requireValue(1, "ingest.connections", "listener:"+tt.address)
			require.NoError(t, conn.Close())
			eventually(t, func() bool { return r.reg.Value("ingest.connections") == 0 }, "still open")
			r.stop()
			require.Equal(t, map[string]float64{"a{x:y}": 1, "b": 2.5}, r.flush().values)
			r.requireLaws()
		})
	}
}

func TestB083LastLineWithoutLineEnd(t *testing.T) {
	r := start(t, statsd(tcp))
	conn := r.send(0, "first:1|c\nnonl:1|c")
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	r.wait(2, "ingest.samples")
	r.stop()
	require.Equal(t, map[string]float64{"first": 1, "nonl": 1}, r.flush().values)
}

func TestLastLineOfBrokenConnectionIsNotTrusted(t *testing.T) {
	r := start(t, statsd(tcp))
	conn := r.send(0, "first:1|c\npart:1|c")
	r.wait(1, "ingest.samples")
	require.NoError(t, conn.(*net.TCPConn).SetLinger(0)) // reset instead of a proper end
	require.NoError(t, conn.Close())
	r.wait(1, "ingest.refused", "reason:truncated")
	r.stop()
	require.Equal(t, map[string]float64{"first": 1}, r.flush().values)
	r.requireLaws()
}

func TestB082LongLine(t *testing.T) {
	for _, address := range []string{tcp, "unix://" + filepath.Join(t.TempDir(), "s.sock")} {
		r := start(t, statsd(address))
		r.send(0, "pre:1|c\n"+strings.Repeat("x", 70_000)+":1|c\npost:1|c\n")
		r.wait(2, "ingest.samples")
		r.stop()
		require.Equal(t, map[string]float64{"pre": 1, "post": 1}, r.flush().values)
		r.requireValue(1, "ingest.refused", "reason:too_long")
		r.requireLaws()
	}
}

func blocks(texts ...string) string {
	var b []byte
	for _, text := range texts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return string(b)
}

func lengthFramed(t *testing.T) Config {
	c := statsd("unix://" + filepath.Join(t.TempDir(), "s.sock"))
	c.StatsdListenAddresses[0].Framing = framingLength
	return c
}

func TestLengthFraming(t *testing.T) {
	r := start(t, lengthFramed(t))
	big := strings.Repeat("x:1|c\n", 10_000) + "y:1|c|#" + strings.Repeat("t", maxBlock-60_000-7)
	require.Len(t, big, maxBlock)
	stream := blocks("a:1|c\nb:1|c", "", "c:1|c\n", big)
	r.send(0, stream[:3], stream[3:10], stream[10:20], stream[20:])
	r.wait(10_004, "ingest.samples")
	r.stop()
	got := r.flush().values
	require.EqualValues(t, 10_000, got["x"])
	require.EqualValues(t, 1, got["b"])
	require.EqualValues(t, 1, got["c"])
	r.requireValue(0, "ingest.refused")
	r.requireLaws()
}

func TestBrokenLengthFraming(t *testing.T) {
	t.Run("too long", func(t *testing.T) {
		r := start(t, lengthFramed(t))
		conn := r.send(0, blocks("a:1|c")+"\x00\x00\x01\x00b:1|c")
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err, "closed")
		r.wait(1, "ingest.connections_closed", "reason:framing")
		r.send(0, blocks("c:1|c"))
		r.wait(2, "ingest.samples")
		r.stop()
		require.Equal(t, map[string]float64{"a": 1, "c": 1}, r.flush().values)
		r.requireValue(1, "ingest.refused", "reason:too_long")
		r.requireLaws()
	})
	t.Run("cut short", func(t *testing.T) {
		r := start(t, lengthFramed(t))
		conn := r.send(0, blocks("a:1|c", "b:1|c")[:16])
		require.NoError(t, conn.Close())
		r.wait(1, "ingest.refused", "reason:truncated")
		r.stop()
		require.Equal(t, map[string]float64{"a": 1}, r.flush().values)
		r.requireLaws()
	})
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	c := statsd(tcp)
	a.serve(&c, false)
	r := start(t, c)
	network, address := r.addr(0)
	conn, err := tls.Dial(network, address, a.client(false))
	require.NoError(t, err)
	write(t, conn, "a:1|c\nlast:1|c")
	require.NoError(t, conn.Close())
	r.wait(2, "ingest.samples")
	plain := r.send(0, "b:1|c\n")
	_, err = plain.Read(make([]byte, 100))
	for err == nil { // the alert
		_, err = plain.Read(make([]byte, 100))
	}
	r.wait(1, "ingest.connections_closed", "reason:handshake")
	r.stop()
	require.Equal(t, map[string]float64{"a": 1, "last": 1}, r.flush().values)
}

func TestMutualTLS(t *testing.T) {
	a := newAuthority(t)
	c := statsd(tcp)
	a.serve(&c, true)
	r := start(t, c)
	network, address := r.addr(0)
	conn, err := tls.Dial(network, address, a.client(true))
	require.NoError(t, err)
	write(t, conn, "a:1|c\n")
	r.wait(1, "ingest.samples")
	require.NoError(t, conn.Close())

	for n, client := range []*tls.Config{a.client(false), newAuthority(t).client(true)} {
		client.RootCAs = a.pool
		conn, err := tls.Dial(network, address, client)
		if err == nil { // a client of TLS 1.3 learns it when it reads
			_, _ = conn.Write([]byte("b:1|c\n"))
			_, err = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
		require.Error(t, err)
		r.wait(float64(n+1), "ingest.connections_closed", "reason:handshake")
	}
	r.stop()
	require.Equal(t, map[string]float64{"a": 1}, r.flush().values)
}

func TestB084SilentTLSConnectionsHoldNobodyUp(t *testing.T) {
	a := newAuthority(t)
	c := statsd(tcp)
	a.serve(&c, false)
	const silent = 1000
	t.Run("others need not wait", func(t *testing.T) {
		r := start(t, c, func(b *binding) { b.handshakeTime = time.Hour })
		for range silent {
			r.dial(0)
		}
		r.wait(silent, "ingest.connections_accepted")
		network, address := r.addr(0)
		conn, err := tls.Dial(network, address, a.client(false))
		require.NoError(t, err)
		write(t, conn, "a:1|c\n")
		r.wait(1, "ingest.samples")
		require.NoError(t, conn.Close())
	})
	t.Run("they are closed", func(t *testing.T) {
		r := start(t, c, func(b *binding) { b.handshakeTime = 500 * time.Millisecond })
		base := runtime.NumGoroutine()
		for range silent {
			r.dial(0)
		}
		r.wait(silent, "ingest.connections_closed", "reason:handshake")
		eventually(t, func() bool { return runtime.NumGoroutine() <= base }, "goroutines stay")
	})
}

func TestB087IdleConnections(t *testing.T) {
	c := statsd(tcp)
	c.StatsdListenAddresses[0].IdleTimeout = 100 * time.Millisecond
	r := start(t, c)
	for conns := 1.0; r.reg.Value("ingest.samples") < 2; conns++ {
		taken := r.reg.Value("ingest.samples")
		conn := r.dial(0)
		_, _ = io.WriteString(conn, "a:1|c\n")
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		_, err := conn.Read(make([]byte, 1))
		r.wait(conns, "ingest.connections_closed", "reason:idle")
		eventually(t, func() bool { return r.reg.Value("ingest.connections") == 0 }, "still open")
		if r.reg.Value("ingest.samples") > taken { // on a busy machine it may have been idle before it sent anything
			require.ErrorIs(t, err, io.EOF)
		}
	}
}

// In a bubble of fake time, and on a pipe, since sockets are outside of it.
func TestB087OnlySilentConnectionsAreIdle(t *testing.T) {
	r := build(t, statsd(tcp))
	in := r.in.newIntake()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		c := &connection{
			conn: server, in: in, src: r.in.bindings[0].src, codec: &lineCodec{limit: 100}, idle: 10 * time.Minute,
			messageTime: messageTime, budget: newBudget(1 << 20), stopping: new(atomic.Bool),
		}
		done := make(chan error, 1)
		go func() { done <- c.serve() }()
		for range 100 {
			time.Sleep(10*time.Minute - time.Second)
			write(t, client, "a:1|c\n")
		}
		silent := time.Now()
		require.ErrorIs(t, <-done, os.ErrDeadlineExceeded)
		require.InDelta(t, 10*time.Minute, time.Since(silent), float64(2*time.Minute))
		r.requireValue(100, "ingest.samples")
	})
}

func TestConnectionLimit(t *testing.T) {
	c := statsd(tcp)
	c.MaxConnections = 2
	r := start(t, c)
	first := r.send(0, "a:1|c\n")
	r.send(0, "a:1|c\n")
	r.wait(2, "ingest.samples")
	third := r.dial(0)
	_, err := third.Read(make([]byte, 1))
	require.Error(t, err)
	r.wait(1, "ingest.connections_closed", "reason:limit")
	r.requireValue(2, "ingest.connections")
	require.NoError(t, first.Close())
	eventually(t, func() bool { return r.reg.Value("ingest.connections") == 1 }, "still open")
	r.send(0, "a:1|c\n")
	r.wait(3, "ingest.samples")
}

func TestWhatStreamsHoldAtTheStopIsRead(t *testing.T) {
	r := start(t, statsd(tcp))
	conn := r.send(0, "a:1|c\n")
	r.wait(1, "ingest.samples")
	write(t, conn, strings.Repeat("a:1|c\n", 500)+"part:1|c")
	r.stop()
	require.Equal(t, map[string]float64{"a": 501}, r.flush().values)
	r.requireValue(1, "ingest.refused", "reason:truncated")
	r.requireLaws()
}

// However a stream is cut into reads, its lines are the same, those around the limit included.
func TestLineLimitIsExactForAnyCut(t *testing.T) {
	const limit = 64
	var stream strings.Builder
	var want []string
	for n := limit - 3; n <= limit+3; n++ {
		line := fmt.Sprintf("l%d:1|c|#%s", n, strings.Repeat("t", n-9))
		require.Len(t, line, n)
		stream.WriteString(line + "\n")
		if n <= limit {
			want = append(want, line[:3])
		}
	}
	for cut := 1; cut <= stream.Len(); cut++ {
		r := build(t, statsd(tcp))
		in := r.in.newIntake()
		codec := &lineCodec{limit: limit}
		buf := make([]byte, 0, codec.room())
		for rest := stream.String(); len(rest) > 0; {
			n := min(cut, len(rest), cap(buf)-len(buf))
			require.Positive(t, n)
			buf = append(buf, rest[:n]...)
			rest = rest[n:]
			in.begin(newSource(0, tcp, false, false, r.reg), time.Now())
			done, err := codec.take(in, buf)
			in.end()
			require.NoError(t, err)
			buf = buf[:copy(buf, buf[done:])]
		}
		require.Empty(t, buf)
		r.requireValue(float64(len(want)), "ingest.samples")
		r.requireValue(3, "ingest.refused", "reason:too_long")
		r.requireLaws()
	}
}
