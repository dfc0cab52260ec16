package tracehttp

import (
	"net/http"
	"strconv"

	"github.com/veneurd/veneur/trace"
)

// The tags of spans, which are those that OpenTracing gave to HTTP.
const (
	tagKind   = "span.kind"
	tagMethod = "http.method"
	tagURL    = "http.url" // without query, which may hold secrets
	tagStatus = "http.status_code"
	tagRoute  = "http.route"
)

// Handler returns a handler that starts a span for each request, with the caller's as its parent, puts it into the request's context, and
// finishes it when next returns. A status of 500 and more, or a panic, is an error.
func Handler(client *trace.Client, next http.Handler, opts ...Option) http.Handler {
	if client == nil {
		return next
	}
	return &handler{apply(opts), client, next}
}

type handler struct {
	options
	client *trace.Client
	next   http.Handler
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := "http.request"
	if h.name != nil {
		name = h.name(r)
	}
	parent, _ := Extract(r.Header, h.read...)
	span := h.client.StartFrom(parent, name)
	span.SetIndicator(!h.noIndicators)
	span.SetTag(tagKind, "server")
	span.SetTag(tagMethod, r.Method)
	// Escaped: a stranger's %ff would make text that is no UTF-8, and the daemon refuse the span.
	span.SetTag(tagURL, r.URL.EscapedPath())

	r = r.WithContext(span.Attach(r.Context()))
	out := &response{ResponseWriter: w}
	panicked := true
	defer func() {
		h.end(span, r, out, panicked)
	}()
	h.next.ServeHTTP(out.wrap(), r)
	panicked = false
}

func (h *handler) end(span trace.Span, r *http.Request, out *response, panicked bool) {
	if r.Pattern != "" {
		span.SetTag(tagRoute, r.Pattern)
		if h.name == nil {
			span.SetName(r.Pattern)
		}
	}
	status := out.status
	if status == 0 && !panicked {
		status = http.StatusOK
	}
	if status != 0 {
		span.SetTag(tagStatus, strconv.Itoa(status))
	}
	span.SetError(panicked || status >= http.StatusInternalServerError)
	span.Finish()
}
