package tracehttp

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/veneurd/veneur/trace"
)

// Transport returns a http.RoundTripper that starts a span for each request, a child of the one in the request's context, and writes it into
// the headers. The span ends when the answer's body has been read to its end or is closed. An error, or a status of 500 and more, is an
// error. base nil is http.DefaultTransport.
func Transport(base http.RoundTripper, opts ...Option) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{apply(opts), base}
}

type transport struct {
	options
	base http.RoundTripper
}

// CloseIdleConnections passes on what http.Client.CloseIdleConnections asks for.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip does not touch the request, as the interface demands, but sends a copy with other headers.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	parent := trace.FromContext(r.Context())
	name := "http.request"
	if t.name != nil {
		name = t.name(r)
	}
	var span trace.Span
	switch {
	case parent.TraceID() != 0:
		span = parent.StartChild(name)
	case parent.Client() != nil:
		span = parent.Client().StartTrace(name)
	default:
		span = t.client.StartTrace(name)
	}
	if span.TraceID() == 0 {
		return t.base.RoundTrip(r)
	}
	span.SetTag(tagKind, "client")
	span.SetTag(tagMethod, r.Method)
	span.SetTag(tagURL, r.URL.Scheme+"://"+r.URL.Host+r.URL.EscapedPath())
	r = r.Clone(span.Attach(r.Context()))
	Inject(r.Header, span, t.write...)

	answer, err := t.base.RoundTrip(r)
	if err != nil {
		span.Error(err)
		span.Finish()
		return answer, err
	}
	span.SetTag(tagStatus, strconv.Itoa(answer.StatusCode))
	span.SetError(answer.StatusCode >= http.StatusInternalServerError)
	if answer.StatusCode == http.StatusSwitchingProtocols || answer.Body == nil {
		// The body is a connection now, and may be used for ever.
		span.Finish()
		return answer, nil
	}
	answer.Body = &body{ReadCloser: answer.Body, span: span}
	return answer, nil
}

// body finishes the span once.
type body struct {
	io.ReadCloser
	span trace.Span
	once sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(func() {
			if !errors.Is(err, io.EOF) {
				b.span.Error(err)
			}
			b.span.Finish()
		})
	}
	return n, err
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.span.Finish)
	return err
}
