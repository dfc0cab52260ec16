package tracehttp

import (
	"net/http"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
)

// Option changes a Handler or a Transport.
type Option func(*options)

type options struct {
	read, write  []propagation.Format
	name         func(*http.Request) string
	client       *trace.Client
	noIndicators bool
}

func apply(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// Read chooses the headers in which a Handler looks for the caller's span, the first that is there. The default is every format known.
func Read(formats ...propagation.Format) Option { return func(o *options) { o.read = formats } }

// Write chooses the headers that a Transport writes. The default is propagation.Written.
func Write(formats ...propagation.Format) Option { return func(o *options) { o.write = formats } }

// Name names the span of a request. By default it is http.request, in a Handler the pattern by which a http.ServeMux found the request's
// handler, if there was one. Names should be few: a path with ids in it belongs into a tag.
func Name(f func(*http.Request) string) Option { return func(o *options) { o.name = f } }

// Client is the client of a Transport's spans that have no parent. Without it such requests are not traced.
func Client(c *trace.Client) Option { return func(o *options) { o.client = c } }

// NoIndicators makes a Handler's spans no indicators. By default they are: the daemon derives timers of the service from them.
func NoIndicators() Option { return func(o *options) { o.noIndicators = true } }

// Extract returns the context that the headers carry, as propagation.Extract does.
func Extract(h http.Header, formats ...propagation.Format) (trace.SpanContext, bool) {
	return propagation.Extract(h.Values, formats...)
}

// Inject writes the span's context into the headers, as propagation.Inject does.
func Inject(h http.Header, span trace.Span, formats ...propagation.Format) {
	propagation.Inject(h.Set, span.Context(), formats...)
}
