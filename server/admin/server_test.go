package admin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/httpserve"
	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/telemetry"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// client keeps no connections, so that none is left at the end.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Minute}

func settings() Settings {
	log, _ := logtest.NewNullLogger()
	return Settings{
		Config:     Config{HTTPAddress: "127.0.0.1:0"},
		Registry:   telemetry.New(),
		Log:        log,
		Build:      buildinfo.Info{Version: "v1.2.3", Revision: "abc", Date: "2026-01-02T03:04:05Z", Go: "go1.26"},
		Ready:      func() (bool, string) { return true, "ready" },
		ConfigYAML: func() []byte { return []byte("interval: 10s\n") },
		ConfigJSON: func() []byte { return []byte("{\"interval\":\"10s\"}\n") },
		Stop:       func() {},
	}
}

// serve runs a server and returns its base URL; stop waits for its end.
func serve(t *testing.T, s Settings) (url string, stop func()) {
	t.Helper()
	server := New(s)
	require.NoError(t, server.Start(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	return "http://" + server.Addr().String(), func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func do(t *testing.T, method, url string, header ...string) (status int, body string, h http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(b), resp.Header
}

func TestPages(t *testing.T) {
	s := settings()
	s.Registry.Counter(&telemetry.Desc{Name: "ingest.lines", Help: "Lines."}).Add(3)
	url, stop := serve(t, s)
	defer stop()
	for _, tt := range []struct {
		method, path string
		status       int
		contentType  string
		body         string
	}{
		{"GET", "/healthcheck", 200, textType, "ok\n"},
		{"HEAD", "/healthcheck", 200, textType, ""},
		{"POST", "/healthcheck", 405, textType, "Method Not Allowed\n"},
		{"GET", "/ready", 200, textType, "ready\n"},
		{"GET", "/version", 200, textType, "v1.2.3\n"},
		{"GET", "/builddate", 200, textType, "2026-01-02T03:04:05Z\n"},
		{"GET", "/config", 200, textType, "interval: 10s\n"},
		{"GET", "/config/yaml", 200, textType, "interval: 10s\n"},
		{"GET", "/config/json", 200, "application/json", "{\"interval\":\"10s\"}\n"},
		{"GET", "/metrics", 200, telemetry.TextContentType, "# HELP veneur_admin_refused_total"},
		{"GET", "/metrics", 200, telemetry.TextContentType, "\nveneur_ingest_lines_total 3\n"},
		{"GET", "/", 200, textType, "/healthcheck      200 while the daemon lives\n"},
		{"GET", "/nosuch", 404, textType, "404 page not found\n"},
		{"GET", "/debug/pprof/", 404, textType, "404 page not found\n"},
		{"GET", "/debug/pprof/heap", 404, textType, "404 page not found\n"},
		{"POST", "/quitquitquit", 404, textType, "404 page not found\n"},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			status, body, header := do(t, tt.method, url+tt.path)
			require.Equal(t, tt.status, status)
			require.Equal(t, tt.contentType, header.Get("Content-Type"))
			require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
			require.Contains(t, body, tt.body)
		})
	}
}

func TestReadySaysWhatIsMissing(t *testing.T) {
	s := settings()
	ready, body := false, "starting"
	s.Ready = func() (bool, string) { return ready, body }
	url, stop := serve(t, s)
	defer stop()
	for _, tt := range []struct {
		ready  bool
		body   string
		status int
	}{
		{false, "starting", 503},
		{true, "ready", 200},
		{true, "ready\nsink main fails: 503 Service Unavailable\n", 200},
		{false, "draining", 503},
	} {
		ready, body = tt.ready, tt.body
		status, got, _ := do(t, "GET", url+"/ready")
		require.Equal(t, tt.status, status)
		require.Equal(t, strings.TrimSuffix(tt.body, "\n")+"\n", got)
		status, _, _ = do(t, "GET", url+"/healthcheck")
		require.Equal(t, 200, status)
	}
}

func TestQuit(t *testing.T) {
	s := settings()
	s.Config.HTTPQuit = true
	stops := make(chan struct{}, 10)
	s.Stop = func() { stops <- struct{}{} }
	url, stop := serve(t, s)
	defer stop()
	for _, tt := range []struct {
		name   string
		method string
		header []string
		status int
		stops  int
	}{
		{"GET", "GET", nil, 405, 0},
		{"from another site", "POST", []string{"Origin", "http://example.com"}, 403, 0},
		{"from another site, newer browser", "POST", []string{"Sec-Fetch-Site", "cross-site"}, 403, 0},
		{"POST", "POST", nil, 200, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, _, _ := do(t, tt.method, url+"/quitquitquit", tt.header...)
			require.Equal(t, tt.status, status)
			require.Len(t, stops, tt.stops)
		})
	}
	_, index, _ := do(t, "GET", url+"/")
	require.Contains(t, index, "/quitquitquit")
}

func TestProfiling(t *testing.T) {
	s := settings()
	s.Config.EnableProfiling = true
	url, stop := serve(t, s)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		status, _, _ := do(t, "GET", url+path)
		require.Equal(t, 200, status, path)
	}

	// A long profile holds up nobody's stop.
	ended := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/debug/pprof/trace?seconds=600", nil)
		resp, err := client.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body) // or the trace would end with the connection
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	require.Eventually(t, func() bool {
		_, body, _ := do(t, "GET", url+"/debug/pprof/goroutine?debug=1")
		return strings.Contains(body, "pprof.Trace")
	}, time.Minute, 10*time.Millisecond)
	begin := time.Now()
	stop()
	require.Less(t, time.Since(begin), time.Minute)
	<-ended
}

func TestOff(t *testing.T) {
	s := settings()
	s.Config.HTTPAddress = ""
	server := New(s)
	require.NoError(t, server.Start(t.Context()))
	require.Nil(t, server.Addr())
	require.NoError(t, server.Close())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, server.Run(ctx))
}

func TestAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	s := settings()
	s.Config.HTTPAddress = ln.Addr().String()
	require.ErrorContains(t, New(s).Start(t.Context()), fmt.Sprintf("http_address: listen tcp %s: bind: address already in use", ln.Addr()))
}

func TestCloseWithoutRunFreesThePort(t *testing.T) {
	s := settings()
	server := New(s)
	require.NoError(t, server.Start(t.Context()))
	s.Config.HTTPAddress = server.Addr().String()
	require.NoError(t, server.Close())
	again := New(s)
	require.NoError(t, again.Start(t.Context()))
	require.NoError(t, again.Close())
}

func TestConnectionsAreBounded(t *testing.T) {
	s := settings()
	url, stop := serve(t, s)
	address := strings.TrimPrefix(url, "http://")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range maxConnections + 10 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		conns = append(conns, c)
	}
	require.Eventually(t, func() bool { return s.Registry.Value("admin.refused", "reason:too_many_connections") == 10 }, time.Minute, time.Millisecond)
	_, err := bufio.NewReader(conns[0]).ReadByte()
	require.Error(t, err, "the one idle longest is closed at once")

	require.Eventually(t, func() bool {
		resp, err := client.Get(url + "/healthcheck")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == 200
	}, time.Minute, 10*time.Millisecond, "room again")

	begin := time.Now()
	stop()
	require.Less(t, time.Since(begin), idleTimeout, "silent connections hold up no stop")
}

// Whoever has requests under way on all connections that there may be, and is in no hurry, keeps nobody away for long.
func TestSlowRequestsKeepNobodyAway(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	s := settings()
	s.Ready = func() (bool, string) {
		began <- struct{}{}
		<-release
		return true, "ready"
	}
	url, stop := serve(t, s)
	defer stop()
	defer close(release)
	for range maxConnections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "GET /ready HTTP/1.1\r\nHost: x\r\n\r\n")
		require.NoError(t, err)
		<-began
	}
	require.Eventually(t, func() bool {
		resp, err := client.Get(url + "/healthcheck")
		if err != nil {
			return false // refused
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	require.Positive(t, s.Registry.Value("admin.refused", "reason:too_many_connections"))
}

func TestHeadersAreBounded(t *testing.T) {
	url, stop := serve(t, settings())
	defer stop()
	status, _, _ := do(t, "GET", url+"/healthcheck", "X-Long", strings.Repeat("x", httpserve.MaxHeaderBytes/2))
	require.Equal(t, 200, status)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthcheck", nil)
	require.NoError(t, err)
	req.Header.Set("X-Long", strings.Repeat("x", 1<<20))
	resp, err := client.Do(req)
	if err == nil { // or the connection was closed before the client had sent it all
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, resp.StatusCode)
	}
}

func TestBodyThatNeverComesHoldsUpNoStop(t *testing.T) {
	url, stop := serve(t, settings())
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /healthcheck HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = io.ReadAll(conn)
	require.NoError(t, err, "closed by the server")
	stop()
}

func TestAddrMayBeAskedAtAnyTime(t *testing.T) {
	server := New(settings())
	require.Nil(t, server.Addr())
	started := make(chan error, 1)
	go func() { started <- server.Start(t.Context()) }()
	require.Eventually(t, func() bool { return server.Addr() != nil }, time.Minute, time.Millisecond)
	require.NoError(t, <-started)
	require.NoError(t, server.Close())
}
