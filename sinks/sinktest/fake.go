package sinktest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// fake is a backend that answers as it is told, and otherwise as the case's Fake does.
type fake struct {
	healthy http.Handler
	server  *httptest.Server
	closing chan struct{}
	close   func() // may be called twice

	connections atomic.Int32 // that were ever made

	mu       sync.Mutex
	answer   respond // nil: healthy
	requests []request
}

// respond answers a request. The body has been read and can be read again.
type respond func(w http.ResponseWriter, r *http.Request, f *fake)

type request struct {
	method, uri string
	header      http.Header
	body        []byte
}

func newFake(healthy http.Handler, tls bool) *fake {
	f := &fake{healthy: healthy, closing: make(chan struct{})}
	f.server = httptest.NewUnstartedServer(f)
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0) // who does not trust us is what a check is about
	f.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			f.connections.Add(1)
		}
	}
	if tls {
		f.server.StartTLS()
	} else {
		f.server.Start()
	}
	f.close = sync.OnceFunc(func() {
		close(f.closing)
		f.server.Close()
	})
	return f
}

// will sets how the next requests are answered.
func (f *fake) will(answer respond) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

// ServeHTTP notes the request and answers it.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read whole: only then does the server notice that the other side has gone.
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	f.requests = append(f.requests, request{r.Method, r.RequestURI, r.Header.Clone(), body})
	answer := f.answer
	f.mu.Unlock()
	if answer == nil {
		answer = well
	}
	answer(w, r, f)
}

func (f *fake) largestBody() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, r := range f.requests {
		n = max(n, len(r.body))
	}
	return n
}

// appendRequests appends every request, readable, for a golden file.
func (f *fake) appendRequests(dst []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range f.requests {
		if i > 0 {
			dst = append(dst, "\n\n"...)
		}
		dst = fmt.Appendf(dst, "%s %s\n", r.method, r.uri)
		var lines []string
		for name, values := range r.header {
			switch name {
			case "User-Agent", "Content-Length", "Accept-Encoding":
				continue
			}
			lines = append(lines, name+": "+strings.Join(values, ", ")+"\n")
		}
		slices.Sort(lines)
		dst = append(dst, strings.Join(lines, "")+"\n"...)
		body := inflate(r.header.Get("Content-Encoding"), r.body)
		if !utf8.Valid(body) {
			body = []byte(hex.Dump(body))
		}
		dst = append(dst, body...)
	}
	return dst
}

// inflate undoes a content encoding, as far as the standard library can.
func inflate(encoding string, body []byte) []byte {
	var (
		r   io.Reader
		err error
	)
	switch encoding {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(body))
	case "deflate":
		r, err = zlib.NewReader(bytes.NewReader(body))
	default:
		return body
	}
	if err != nil {
		return body
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return body
	}
	return plain
}

func well(w http.ResponseWriter, r *http.Request, f *fake) { f.healthy.ServeHTTP(w, r) }

func status(code int, header ...string) respond {
	return func(w http.ResponseWriter, _ *http.Request, _ *fake) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		http.Error(w, http.StatusText(code), code)
	}
}

// retryOn answers 429 with a date until which to wait.
func retryOn(wait time.Duration) respond {
	return func(w http.ResponseWriter, r *http.Request, f *fake) {
		status(http.StatusTooManyRequests, "Retry-After", time.Now().Add(wait).UTC().Format(http.TimeFormat))(w, r, f)
	}
}

// slowly answers well, but for a while not at all.
func slowly(w http.ResponseWriter, r *http.Request, f *fake) {
	timer := time.NewTimer(250 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		well(w, r, f)
	case <-r.Context().Done():
	case <-f.closing:
	}
}

// hang answers nothing until the sink goes away.
func hang(_ http.ResponseWriter, r *http.Request, f *fake) {
	select {
	case <-r.Context().Done():
	case <-f.closing:
	}
}

// reset breaks the connection without a word.
func reset(w http.ResponseWriter, _ *http.Request, _ *fake) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// tooLargeAbove refuses bodies of more than n bytes.
func tooLargeAbove(n int) respond {
	return func(w http.ResponseWriter, r *http.Request, f *fake) {
		if r.ContentLength > int64(n) {
			status(http.StatusRequestEntityTooLarge)(w, r, f)
			return
		}
		well(w, r, f)
	}
}
