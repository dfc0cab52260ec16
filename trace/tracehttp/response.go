package tracehttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// response remembers the status that a handler answers.
type response struct {
	http.ResponseWriter
	status int
}

// wrap returns a writer that is a Flusher and a Hijacker just where the server's is: handlers ask by a type assertion.
func (r *response) wrap() http.ResponseWriter {
	_, flushes := r.ResponseWriter.(http.Flusher)
	_, hijacks := r.ResponseWriter.(http.Hijacker)
	switch {
	case flushes && hijacks:
		return struct {
			*response
			flusher
			hijacker
		}{r, flusher{r}, hijacker{r}}
	case flushes:
		return struct {
			*response
			flusher
		}{r, flusher{r}}
	case hijacks:
		return struct {
			*response
			hijacker
		}{r, hijacker{r}}
	}
	return r
}

// Unwrap lets a http.ResponseController find everything else that the server's writer can do.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) WriteHeader(status int) {
	// 1xx are only said in advance, except for 101, after which the connection is no longer HTTP.
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(b []byte) (int, error) {
	r.written()
	return r.ResponseWriter.Write(b)
}

func (r *response) WriteString(s string) (int, error) {
	r.written()
	return io.WriteString(r.ResponseWriter, s)
}

// ReadFrom keeps the way by which the system sends a file without copying it.
func (r *response) ReadFrom(from io.Reader) (int64, error) {
	r.written()
	return io.Copy(r.ResponseWriter, from)
}

func (r *response) written() {
	if r.status == 0 {
		r.status = http.StatusOK
	}
}

type flusher struct{ r *response }

func (f flusher) Flush() {
	f.r.written()
	f.r.ResponseWriter.(http.Flusher).Flush()
}

type hijacker struct{ r *response }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.r.ResponseWriter.(http.Hijacker).Hijack()
}
