package httpserve

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// failingListener fails with errs, and then works.
type failingListener struct {
	net.Listener
	errs []error
}

func (l *failingListener) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return l.Listener.Accept()
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: err}
}

func TestErrorsOfAcceptEndNothing(t *testing.T) {
	lines := make(chan string, 10)
	s := settings(ok)
	s.Log = func(line string) { lines <- line }
	server, stop := serveOn(t, s, func(ln net.Listener) net.Listener {
		return &failingListener{Listener: ln, errs: []error{syscall.ENOBUFS, syscall.EPERM, syscall.EPROTO}}
	})
	answered(t, ask(t, server, get))
	stop()
	require.Len(t, lines, 1)
	require.Contains(t, <-lines, syscall.ENOBUFS.Error())
}

// pipes is a listener that fails n times.
type pipes struct {
	n        int
	attempts []time.Time
}

func (p *pipes) Accept() (net.Conn, error) {
	p.attempts = append(p.attempts, time.Now())
	if len(p.attempts) <= p.n {
		return nil, syscall.EMFILE
	}
	near, far := net.Pipe()
	_ = far.Close()
	return near, nil
}

func (*pipes) Close() error   { return nil }
func (*pipes) Addr() net.Addr { return nil }

func TestPausesAndLinesOfFailedAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		s := settings(ok)
		s.Log = func(line string) { lines = append(lines, line) }
		p := &pipes{n: 100}
		conn, err := newListener(p, s).Accept()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		var pauses []time.Duration
		for i := range 10 {
			pauses = append(pauses, p.attempts[i+1].Sub(p.attempts[i])/time.Millisecond)
		}
		require.Equal(t, []time.Duration{5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000}, pauses)
		require.Len(t, lines, 2, "in a minute and a half")
		require.True(t, strings.HasSuffix(lines[0], "line: 1)"), lines[0])
		require.Contains(t, lines[1], syscall.EMFILE.Error())
	})
}

func TestCloseEndsAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := newListener(&pipes{n: 1 << 30}, settings(ok))
		failed := make(chan error, 1)
		go func() {
			_, err := ln.Accept()
			failed <- err
		}()
		synctest.Wait()
		require.NoError(t, ln.Close())
		require.ErrorIs(t, <-failed, net.ErrClosed)
	})
}

func TestSilentConnectionsKeepNobodyAway(t *testing.T) {
	tests := map[string]string{
		"silent":                "",
		"half a request":        "GET / HT",
		"idle":                  get,
		"half a second request": get + "GET / HT",
	}
	for name, sent := range tests {
		for _, waits := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", port waits"}[waits], func(t *testing.T) {
				var refused atomic.Int64
				s := settings(ok)
				s.MaxConnections = 256
				if !waits {
					s.Refused = func() { refused.Add(1) }
				}
				server, stop := serve(t, s)
				defer stop()
				for range 300 {
					conn := dial(t, server)
					_, _ = io.WriteString(conn, sent)
				}
				answered(t, ask(t, server, get)) // within a minute, and they may be silent for an hour
				if !waits {
					require.EqualValues(t, 300+1-256, refused.Load())
				}
			})
		}
	}
}

// busy is a server both of whose places are taken by requests, which are answered when release is closed.
func busy(t *testing.T, s Settings) (server *Server, release chan struct{}, stop func() time.Duration) {
	t.Helper()
	began := make(chan struct{}, 10)
	release = make(chan struct{})
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
		ok(w, r)
	})
	server, stop = serve(t, s)
	for range 2 {
		ask(t, server, get)
		<-began
	}
	return server, release, stop
}

func TestNewcomersAreRefusedWhenAllAreBusy(t *testing.T) {
	refused := make(chan struct{}, 10)
	s := settings(nil)
	s.Refused = func() { refused <- struct{}{} }
	server, release, stop := busy(t, s)
	defer stop()
	further := dial(t, server)
	<-refused
	_, err := further.Read(make([]byte, 1))
	require.Error(t, err, "closed at once")

	close(release)
	require.Eventually(t, func() bool {
		conn := dial(t, server)
		defer conn.Close()
		_, _ = io.WriteString(conn, get)
		n, _ := conn.Read(make([]byte, 1))
		return n == 1
	}, time.Minute, 10*time.Millisecond, "room again")
}

func TestNewcomersWaitWhenAllAreBusy(t *testing.T) {
	server, release, stop := busy(t, settings(nil))
	defer stop()
	further := ask(t, server, get)
	require.NoError(t, further.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := further.Read(make([]byte, 1))
	require.ErrorContains(t, err, "timeout")

	close(release)
	require.NoError(t, further.SetReadDeadline(time.Now().Add(time.Minute)))
	answered(t, further)
}

func TestStopWaitsForNoNewcomer(t *testing.T) {
	server, _, stop := busy(t, settings(nil))
	ask(t, server, get)
	require.Less(t, stop(), time.Minute)
}

func TestTheLongestIdleMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(3, 0)
		conns := make([]*trackedConn, 6)
		for i := range conns {
			near, far := net.Pipe()
			require.NoError(t, far.Close())
			conns[i] = &trackedConn{Conn: near, room: r}
		}
		for _, c := range conns[:3] {
			entered, _, _ := r.enter(c)
			require.True(t, entered)
		}
		conns[0].note(http.StateActive)
		conns[1].note(http.StateActive)
		conns[1].note(http.StateIdle) // after conns[2]
		entered, _, wait := r.enter(conns[3])
		require.False(t, entered)
		require.Equal(t, idleGrace, wait, "its request may be on the way")

		time.Sleep(wait) // of the bubble
		for i, want := range []*trackedConn{conns[2], conns[1]} {
			entered, evicted, _ := r.enter(conns[3+i])
			require.True(t, entered)
			require.Same(t, want, evicted)
			evicted.note(http.StateIdle)
			require.NoError(t, evicted.Close(), "its place is given away already")
		}
		conns[3].note(http.StateActive)
		conns[4].note(http.StateHijacked)
		entered, _, wait = r.enter(conns[5])
		require.False(t, entered)
		require.Zero(t, wait, "all are busy")
		require.NoError(t, conns[4].Close())
		entered, evicted, _ := r.enter(conns[5])
		require.True(t, entered)
		require.Nil(t, evicted)
		require.Equal(t, 3, r.open)
	})
}

func TestTheLongestBusyMakesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(3, time.Minute)
		conns := make([]*trackedConn, 6)
		for i := range conns {
			near, far := net.Pipe()
			require.NoError(t, far.Close())
			conns[i] = &trackedConn{Conn: near, room: r}
		}
		for _, c := range conns[:3] {
			entered, _, _ := r.enter(c)
			require.True(t, entered)
		}
		conns[0].note(http.StateActive)
		conns[0].note(http.StateHijacked)
		conns[2].note(http.StateActive)
		time.Sleep(time.Second)
		conns[1].note(http.StateActive)
		conns[2].note(http.StateIdle)
		conns[2].note(http.StateActive) // another request, after that of conns[1]
		time.Sleep(time.Minute - time.Nanosecond)
		entered, _, wait := r.enter(conns[3])
		require.False(t, entered)
		require.Zero(t, wait, "all are kept")

		time.Sleep(time.Nanosecond)
		for i, want := range []*trackedConn{conns[1], conns[2]} {
			entered, evicted, _ := r.enter(conns[3+i])
			require.True(t, entered)
			require.Same(t, want, evicted)
			evicted.note(http.StateIdle)
			require.NoError(t, evicted.Close(), "its place is given away already")
			conns[3+i].note(http.StateActive)
		}
		entered, _, wait = r.enter(conns[5])
		require.False(t, entered)
		require.Zero(t, wait, "all are kept")
		require.Equal(t, 3, r.open)
	})
}

func TestSlowRequestsMakeRoom(t *testing.T) {
	refused := make(chan struct{}, 10)
	s := settings(nil)
	s.Refused, s.BusyGrace = func() { refused <- struct{}{} }, time.Nanosecond
	server, release, stop := busy(t, s)
	defer stop()
	conn := ask(t, server, get)
	<-refused
	close(release)
	answered(t, conn)
}
