package tracehttp_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
	"github.com/veneurd/veneur/trace/tracehttp"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// serve runs a traced server and returns its address and a client that is traced.
func serve(t *testing.T, client *trace.Client, h http.Handler, opts ...tracehttp.Option) (string, *http.Client) {
	t.Helper()
	s := httptest.NewServer(tracehttp.Handler(client, h, opts...))
	t.Cleanup(s.Close)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return s.URL, &http.Client{Transport: tracehttp.Transport(base, opts...)}
}

func TestOneTraceThroughTwoServices(t *testing.T) {
	for _, f := range propagation.Known() {
		t.Run(f.String(), func(t *testing.T) {
			client, recorder := tracetest.New(t)
			mux := http.NewServeMux()
			mux.HandleFunc("GET /charges/{id}", func(w http.ResponseWriter, r *http.Request) {
				inner, _ := trace.StartSpanFromContext(r.Context(), "inner")
				inner.Finish()
				_, _ = io.WriteString(w, "yes")
			})
			url, web := serve(t, client, mux, tracehttp.Read(f), tracehttp.Write(f))
			outer, ctx := client.StartSpanFromContext(t.Context(), "outer")
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/charges/5?secret=1", nil)
			require.NoError(t, err)
			answer, err := web.Do(r)
			require.NoError(t, err)
			require.Empty(t, r.Header, "the caller's request is the caller's")
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.Equal(t, "yes", string(text))
			require.NoError(t, answer.Body.Close())
			outer.Finish()

			recorder.Span("http.request").ChildOf("outer").Succeeded().HasTag("span.kind", "client").
				HasTag("http.method", "GET").HasTag("http.url", url+"/charges/5").HasTag("http.status_code", "200")
			recorder.Span("GET /charges/{id}").ChildOf("http.request").Succeeded().IsIndicator().HasTag("span.kind", "server").
				HasTag("http.url", "/charges/5").HasTag("http.route", "GET /charges/{id}").HasTag("http.status_code", "200")
			recorder.Span("inner").ChildOf("GET /charges/{id}")
		})
	}
}

// An id of 128 bits goes through a service of ours, and can be searched for.
func TestTraceID128(t *testing.T) {
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	client, recorder := tracetest.New(t)
	got := make(chan http.Header, 1)
	last := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	defer last.Close()
	base := &http.Transport{}
	defer base.CloseIdleConnections()
	web := &http.Client{Transport: tracehttp.Transport(base, tracehttp.Write(propagation.W3C, propagation.B3, propagation.B3Single))}
	h := tracehttp.Handler(client, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		r, err := http.NewRequestWithContext(r.Context(), http.MethodGet, last.URL, nil)
		if err != nil {
			t.Error(err)
			return
		}
		if answer, err := web.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}), tracehttp.Name(func(*http.Request) string { return "middle" }))
	in := httptest.NewRequest(http.MethodGet, "/", nil)
	in.Header.Set("Traceparent", "00-"+id+"-00f067aa0ba902b7-00")
	in.Header.Set("Tracestate", "vendor=value")
	h.ServeHTTP(httptest.NewRecorder(), in)

	out := <-got
	require.Regexp(t, "^00-"+id+"-[0-9a-f]{16}-00$", out.Get("Traceparent"))
	require.Equal(t, "vendor=value", out.Get("Tracestate"))
	require.Equal(t, id, out.Get("X-B3-TraceId"))
	require.Regexp(t, "^"+id+"-[0-9a-f]{16}-0$", out.Get("B3"))
	recorder.Span("middle").HasTag(trace.TagTraceID128, id)
	recorder.Span("http.request").ChildOf("middle")
}

func TestServerOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		status  string // "" for none
		failed  bool
	}{
		{"nothing written", func(http.ResponseWriter, *http.Request) {}, "200", false},
		{"body alone", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("x")) }, "200", false},
		{"copied body", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, strings.NewReader("x")) }, "200", false},
		{"404", http.NotFound, "404", false},
		{"503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, "503", true},
		{"the first counts", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); w.WriteHeader(500) }, "201", false},
		{"a hint first", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(500) }, "500", true},
		{"panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", true},
		{"panic after an answer", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); panic(http.ErrAbortHandler) }, "200", true},
		{"flush", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, "200", false},
		{"controller", func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
				w.WriteHeader(500)
			}
		}, "200", false},
		{"hijack", func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		}, "200", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, recorder := tracetest.New(t)
			done := make(chan struct{})
			traced := tracehttp.Handler(client, tt.handler, tracehttp.NoIndicators())
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer close(done)
				traced.ServeHTTP(w, r)
			}))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.Start()
			defer s.Close()
			base := &http.Transport{}
			defer base.CloseIdleConnections()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, nil)
			require.NoError(t, err)
			if answer, err := base.RoundTrip(r); err == nil {
				_ = answer.Body.Close()
			}
			<-done
			span := recorder.Span("http.request").IsRoot()
			require.Equal(t, tt.failed, span.Error)
			require.False(t, span.Indicator)
			status, _ := span.Tag("http.status_code")
			require.Equal(t, tt.status, status)
		})
	}
}

// A writer of the server that can do less is not made to look as if it could do more.
func TestWriterDoesNotPretend(t *testing.T) {
	client, _ := tracetest.New(t)
	type plain struct{ http.ResponseWriter }
	type hijacker struct {
		http.ResponseWriter
		http.Hijacker
	}
	for _, tt := range []struct {
		writer          http.ResponseWriter
		flushes, hijack bool
	}{
		{httptest.NewRecorder(), true, false},
		{plain{httptest.NewRecorder()}, false, false},
		{hijacker{httptest.NewRecorder(), nil}, false, true},
	} {
		called := false
		h := tracehttp.Handler(client, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			called = true
			_, flushes := w.(http.Flusher)
			_, hijack := w.(http.Hijacker)
			require.Equal(t, tt.flushes, flushes)
			require.Equal(t, tt.hijack, hijack)
			_, ok := w.(io.ReaderFrom)
			require.True(t, ok)
		}))
		h.ServeHTTP(tt.writer, httptest.NewRequest(http.MethodGet, "/", nil))
		require.True(t, called)
	}
}

// trip answers as it is told.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
func (failing) Close() error               { return nil }

func TestClientOutcomes(t *testing.T) {
	answer := func(status int, body io.ReadCloser) trip {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: body}, nil
		}
	}
	for _, tt := range []struct {
		name   string
		trip   trip
		failed bool
	}{
		{"200", answer(200, http.NoBody), false},
		{"404", answer(404, http.NoBody), false},
		{"500", answer(500, http.NoBody), true},
		{"101", answer(101, nil), false},
		{"no body", answer(204, nil), false},
		{"no answer", func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, true},
		{"half an answer", answer(200, failing{io.ErrUnexpectedEOF}), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, recorder := tracetest.New(t)
			rt := tracehttp.Transport(tt.trip, tracehttp.Client(client))
			r := httptest.NewRequest(http.MethodGet, "http://user:password@host/a%2Fb?c", nil)
			got, err := rt.RoundTrip(r)
			if err == nil && got.Body != nil {
				_, _ = io.ReadAll(got.Body)
				_ = got.Body.Close()
				_ = got.Body.Close()
			}
			require.Equal(t, tt.failed, recorder.Span("http.request").IsRoot().HasTag("http.url", "http://host/a%2Fb").Error)
			require.EqualValues(t, 1, client.Stats().Recorded)
		})
	}
}

// A request cannot hide itself by a path that makes text the daemon refuses.
func TestPathsOfStrangers(t *testing.T) {
	for path, want := range map[string]string{"/%ff": "/%ff", "/a%20b": "/a%20b", "/\xff": "/%FF", "/%00%0a": "/%00%0a"} {
		client, recorder := tracetest.New(t)
		r := httptest.NewRequest(http.MethodGet, path, nil)
		tracehttp.Handler(client, http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), r)
		require.NoError(t, ssf.ValidateTrace(recorder.Span("http.request").HasTag("http.url", want).SSFSpan))
	}
}

type idling struct {
	trip
	closed bool
}

func (i *idling) CloseIdleConnections() { i.closed = true }

func TestIdleConnectionsAreClosed(t *testing.T) {
	base := &idling{}
	(&http.Client{Transport: tracehttp.Transport(base)}).CloseIdleConnections()
	require.True(t, base.closed)
	(&http.Client{Transport: tracehttp.Transport(base.trip)}).CloseIdleConnections()
}

func TestUntraced(t *testing.T) {
	h := http.NewServeMux()
	require.Same(t, h, tracehttp.Handler(nil, h))
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	rt := tracehttp.Transport(trip(func(got *http.Request) (*http.Response, error) {
		require.Same(t, r, got, "without a span nothing is changed")
		return nil, net.ErrClosed
	}))
	_, err := rt.RoundTrip(r)
	require.ErrorIs(t, err, net.ErrClosed)
	client, recorder := tracetest.New(t)
	_, err = rt.RoundTrip(r)
	require.Error(t, err)
	rt = tracehttp.Transport(trip(func(*http.Request) (*http.Response, error) { return nil, net.ErrClosed }))
	_, err = rt.RoundTrip(r.WithContext(client.Attach(r.Context())))
	require.Error(t, err)
	recorder.Span("http.request").IsRoot().Failed()
}
