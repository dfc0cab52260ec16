package httpserve

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/lifecycle"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var (
	_ lifecycle.Runner  = (*Server)(nil)
	_ lifecycle.Starter = (*Server)(nil)
	_ lifecycle.Closer  = (*Server)(nil)
)

func settings(h http.HandlerFunc) Settings {
	return Settings{
		Key: "address", Address: "127.0.0.1:0", Handler: h, Log: func(string) {}, MaxConnections: 2,
		HeaderTimeout: time.Hour, ReadTimeout: 2 * time.Hour, WriteTimeout: 3 * time.Hour, IdleTimeout: 4 * time.Hour,
	}
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

// serve runs a server; stop waits for its end and says how long that took.
func serve(t *testing.T, s Settings) (server *Server, stop func() time.Duration) {
	t.Helper()
	return serveOn(t, s, func(ln net.Listener) net.Listener { return ln })
}

// serveOn serves on what wrap makes of the socket.
func serveOn(t *testing.T, s Settings, wrap func(net.Listener) net.Listener) (server *Server, stop func() time.Duration) {
	t.Helper()
	server = New(s)
	require.NoError(t, server.Start(t.Context()))
	if server.listener != nil {
		server.listener.Listener = wrap(server.listener.Listener)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return server, func() time.Duration {
		begin := time.Now()
		cancel()
		require.NoError(t, <-done)
		return time.Since(begin)
	}
}

func dial(t *testing.T, server *Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

// ask sends text on a connection of its own.
func ask(t *testing.T, server *Server, text string) net.Conn {
	t.Helper()
	conn := dial(t, server)
	_, err := io.WriteString(conn, text)
	require.NoError(t, err)
	return conn
}

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

func answered(t *testing.T, conn net.Conn) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, "ok", string(body))
}

func TestStopEndsWhatARequestWaitsFor(t *testing.T) {
	began := make(chan struct{})
	server, stop := serve(t, settings(func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}))
	ask(t, server, get)
	<-began
	require.Less(t, stop(), time.Minute)
}

func TestStopWaitsForNoSilentConnection(t *testing.T) {
	server, stop := serve(t, settings(ok))
	conn := ask(t, server, get)
	answered(t, conn)
	ask(t, server, "GET / HT")
	require.Less(t, stop(), time.Minute)
}

func TestLinesOfTheLog(t *testing.T) {
	lines := make(chan string, 10)
	s := settings(func(http.ResponseWriter, *http.Request) { panic("boom") })
	s.Log = func(line string) { lines <- line }
	server, stop := serve(t, s)
	defer stop()
	ask(t, server, get)
	line := <-lines
	require.Contains(t, line, "boom")
	require.False(t, strings.HasSuffix(line, "\n"))
}

func TestAddrMayBeAskedAtAnyTime(t *testing.T) {
	server := New(settings(ok))
	require.Nil(t, server.Addr())
	started := make(chan error, 1)
	go func() { started <- server.Start(t.Context()) }()
	require.Eventually(t, func() bool { return server.Addr() != nil }, time.Minute, time.Millisecond)
	require.NoError(t, <-started)
	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
}

func TestNoAddressIsNoPort(t *testing.T) {
	s := settings(ok)
	s.Address = ""
	server, stop := serve(t, s)
	require.Nil(t, server.Addr())
	require.NoError(t, server.Close())
	stop()
}

func TestErrorsNameTheKey(t *testing.T) {
	server := New(settings(ok))
	require.NoError(t, server.Start(t.Context()))
	s := settings(ok)
	s.Address = server.Addr().String()
	require.ErrorContains(t, New(s).Start(t.Context()), "address: listen tcp "+s.Address+": bind: address already in use")

	require.NoError(t, server.Close())
	err := server.Run(t.Context()) // its listener is gone
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorContains(t, err, "address 127.0.0.1:0: ")
}

func TestBoundsAreThoseOfTheSettings(t *testing.T) {
	got := New(settings(ok)).httpServer()
	require.Equal(t, time.Hour, got.ReadHeaderTimeout)
	require.Equal(t, 2*time.Hour, got.ReadTimeout)
	require.Equal(t, 3*time.Hour, got.WriteTimeout)
	require.Equal(t, 4*time.Hour, got.IdleTimeout)
	require.Equal(t, MaxHeaderBytes, got.MaxHeaderBytes)
}
