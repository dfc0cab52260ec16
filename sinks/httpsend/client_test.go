package httpsend_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/httpsend"
)

func TestWhatIsSent(t *testing.T) {
	const secret = "correct-horse"
	tests := []struct {
		name   string
		change func(*httpsend.Config)
		want   map[string]string
	}{
		{"by default", nil, map[string]string{"Content-Type": "text/plain", "Content-Encoding": "gzip", "Accept-Encoding": "gzip", "Authorization": ""}},
		{
			"not compressed", func(c *httpsend.Config) { c.Compression = "none" },
			map[string]string{"Content-Encoding": ""},
		},
		{"zstd", func(c *httpsend.Config) { c.Compression = "zstd" }, map[string]string{"Content-Encoding": "zstd"}},
		{
			"basic", func(c *httpsend.Config) { c.Auth.Username, c.Auth.Password = "me", secret },
			map[string]string{"Authorization": "Basic bWU6Y29ycmVjdC1ob3JzZQ=="},
		},
		{"bearer", func(c *httpsend.Config) { c.Auth.BearerToken = secret }, map[string]string{"Authorization": "Bearer " + secret}},
		{"API key", func(c *httpsend.Config) { c.Auth.APIKey = secret }, map[string]string{"Authorization": "ApiKey " + secret}},
		{
			"API key in a header", func(c *httpsend.Config) { c.Auth.APIKey, c.Auth.APIKeyHeader = secret, "x-api-key" },
			map[string]string{"X-Api-Key": secret, "Authorization": ""},
		},
		{
			"headers", func(c *httpsend.Config) {
				c.Headers = map[string]config.Secret{"x-scope-orgid": "tenant", "host": "other.example", "user-agent": "mine"}
			},
			map[string]string{"X-Scope-Orgid": "tenant", "host": "other.example", "User-Agent": "mine"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got http.Header
			var body []byte
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				got = r.Header.Clone()
				got["host"] = []string{r.Host}
				assert.Positive(t, r.ContentLength)
				body = inflated(t, r)
			})
			r := newRig(t, tt.change, url)
			reply, err := r.post("hello")
			require.NoError(t, err)
			assert.Equal(t, 200, reply.Status)
			assert.Equal(t, "hello", string(body))
			for name, want := range tt.want {
				value := ""
				if len(got[name]) > 0 {
					value = got[name][0]
				}
				assert.Equal(t, want, value, name)
			}
			assert.Equal(t, 5.0, r.reg.Value("sink.http_bytes", "sink:out", "form:plain"))
			assert.Equal(t, 1.0, r.reg.Value("sink.http_requests", "sink:out", "status:2xx"))
		})
	}
}

// inflated is the body of a request as it was before it was compressed.
func inflated(t *testing.T, r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if !assert.NoError(t, err) {
		return nil
	}
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		zr, err := gzip.NewReader(bytes.NewReader(body))
		if !assert.NoError(t, err) {
			return nil
		}
		body, err = io.ReadAll(zr)
		assert.NoError(t, err)
	case "zstd":
		zr, err := zstd.NewReader(nil)
		if !assert.NoError(t, err) {
			return nil
		}
		defer zr.Close()
		body, err = zr.DecodeAll(body, nil)
		assert.NoError(t, err)
	}
	return body
}

func TestRequestWithoutABody(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "GET /p/_index_template/x?a=b", r.Method+" "+r.URL.RequestURI())
		assert.Empty(t, r.Header.Get("Content-Encoding"))
		assert.Equal(t, "application/json", r.Header.Get("Accept"))
		assert.Zero(t, r.ContentLength)
		w.WriteHeader(404)
	})
	r := newRig(t, nil, url+"/p/")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reply, err := r.Do(ctx, httpsend.Request{Method: "GET", Path: "/_index_template/x?a=b", Accept: "application/json"})
	require.Equal(t, "config", classOf(err))
	require.Equal(t, 404, reply.Status, "the sink may see it otherwise")
}

func TestConnectionIsKept(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(bytes.Repeat([]byte("x"), 100_000))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	r := newRig(t, nil, s.URL)
	for range 20 {
		reply, err := r.post("x")
		require.NoError(t, err)
		require.Len(t, reply.Body, 100_000)
	}
	// On a busy machine package http does not always know in time that a connection is free.
	require.LessOrEqual(t, connections.Load(), int32(5))
}

func TestHostThatCannotBeReachedIsPassedOver(t *testing.T) {
	var got atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { got.Add(1) })
	r := newRig(t, nil, "http://"+unused(t), "http://"+unused(t), url)
	for range 10 {
		_, err := r.post("x")
		require.NoError(t, err)
	}
	require.EqualValues(t, 10, got.Load())
	require.GreaterOrEqual(t, r.reg.Value("sink.http_hosts_paused", "sink:out"), 2.0)
	r = newRig(t, nil, "http://"+unused(t), "http://"+unused(t))
	_, err := r.post("x")
	require.Equal(t, "retry", classOf(err))
	require.ErrorContains(t, err, "connection refused")
	require.Equal(t, 2.0, r.reg.Value("sink.http_requests", "status:none"))
}

// unused is an address where nobody listens.
func unused(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// A request that may have arrived is not sent to another host: that is for delivery to decide, and for ids to make harmless.
func TestRequestThatMayHaveArrivedIsNotSentTwice(t *testing.T) {
	var got atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		got.Add(1)
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
		}
	}
	r := newRig(t, nil, serve(t, handler), serve(t, handler))
	_, err := r.post("x")
	require.Equal(t, "retry", classOf(err))
	require.EqualValues(t, 1, got.Load())
	require.Equal(t, 1.0, r.reg.Value("sink.http_hosts_paused"))
}

func TestDeadlineAndStop(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	request := httpsend.Request{Method: "POST", Path: "/", Body: []byte("x")}
	t.Run("a hanging host", func(t *testing.T) {
		r := newRig(t, nil, url)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Do(ctx, request)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 1.0, r.reg.Value("sink.http_hosts_paused"))
	})
	t.Run("the daemon stops", func(t *testing.T) {
		r := newRig(t, nil, url)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := r.Do(ctx, request)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, r.reg.Value("sink.http_hosts_paused"))
	})
}

// The body is the caller's again at once, although the transport may still read what it made of it: a backend that answers early.
func TestBodyIsTheCallersAgain(t *testing.T) {
	for _, compression := range []string{"none", "gzip", "zstd"} {
		t.Run(compression, func(t *testing.T) {
			var early atomic.Bool
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if early.Load() {
					w.WriteHeader(503) // without having read
					return
				}
				body := inflated(t, r)
				if len(body) > 0 && bytes.Count(body, body[:1]) != len(body) {
					t.Error("bodies are mixed")
				}
			})
			r := newRig(t, func(c *httpsend.Config) { c.Compression = compression }, url)
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					body := make([]byte, 200_000)
					for round := range 20 {
						for j := range body {
							body[j] = byte('a' + i)
						}
						early.Store(round%3 == 0)
						ctx, cancel := context.WithTimeout(t.Context(), patience)
						_, err := r.Do(ctx, httpsend.Request{Method: "POST", Path: "/", Body: body})
						cancel()
						var status *httpsend.StatusError
						if err != nil && !errors.As(err, &status) {
							// The connection may be closed while it is written to.
							var failed *httpsend.RequestError
							if !errors.As(err, &failed) {
								t.Errorf("%v", err)
							}
						}
						clear(body)
					}
				})
			}
			wg.Wait()
		})
	}
}

func TestNoSecretInErrors(t *testing.T) {
	const secret = "correct-horse"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(400)
		for name, values := range r.Header {
			_, _ = io.WriteString(w, name+": "+strings.Join(values, ",")+"\n")
		}
	})
	ways := map[string]func(*httpsend.Config){
		"basic":  func(c *httpsend.Config) { c.Auth.Username, c.Auth.Password = "me", secret },
		"bearer": func(c *httpsend.Config) { c.Auth.BearerToken = secret },
		"key":    func(c *httpsend.Config) { c.Auth.APIKey = secret },
		"header": func(c *httpsend.Config) { c.Headers = map[string]config.Secret{"A": secret} },
		"proxy":  func(c *httpsend.Config) { c.Proxy = config.Secret("http://me:" + secret + "@127.0.0.1:1") },
	}
	for name, change := range ways {
		for _, u := range []string{url, "http://127.0.0.1:1", url + "/p?token=" + secret} {
			_, err := newRig(t, change, u).post("x")
			require.Error(t, err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				if _, ours := e.(interface{ Timeout() bool }); ours {
					break // what the standard library says below our own errors is never printed
				}
				require.NotContains(t, e.Error(), secret, name)
				require.NotContains(t, e.Error(), "bWU6Y29ycmVjdC1ob3JzZQ", name)
			}
		}
	}
}

func TestPathThatIsNone(t *testing.T) {
	r := newRig(t, nil, "http://127.0.0.1:1")
	_, err := r.Do(t.Context(), httpsend.Request{Method: "POST", Path: "/%zz"})
	var permanent *sinks.PermanentError
	require.ErrorAs(t, err, &permanent)
}
