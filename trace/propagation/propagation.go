// Package propagation reads and writes the headers by which a trace goes from one process to the next: those of W3C, of B3, of OpenTracing,
// and those of the original Veneur. It knows headers only by name and value, and so serves HTTP, gRPC and message queues alike;
// packages tracehttp and tracegrpc use it.
//
// Spans of ours have ids of 64 bits. A trace id of 128 bits is kept whole in a [trace.SpanContext], and written as it came by the formats that
// have room for it. Headers are from outside: what is not well formed is as if it were not there.
package propagation

import "github.com/veneurd/veneur/trace"

// Format is one family of headers.
type Format uint8

// The formats.
const (
	// W3C is traceparent and tracestate, of the Trace Context recommendation.
	W3C Format = iota + 1
	// B3 is X-B3-TraceId, X-B3-SpanId, X-B3-Sampled and X-B3-Flags, of Zipkin.
	B3
	// B3Single is all of B3 in the header b3.
	B3Single
	// OpenTracing is ot-tracer-traceid, ot-tracer-spanid and ot-tracer-sampled, in hexadecimal digits. Envoy and LightStep speak it, and
	// the original Veneur does first of all.
	OpenTracing
	// TraceID is Trace-Id and Span-Id, in decimal digits as in the two formats that follow. Where the latter is missing, Parent-Id is read.
	TraceID
	// XTraceID is X-Trace-Id and X-Span-Id.
	XTraceID
	// Veneur is Traceid and Spanid, the original's own.
	Veneur
)

// codec reads and writes one format. It is given names in their usual spelling; carriers do not care about case.
type codec struct {
	name   string
	read   func(get func(key string) []string) (trace.SpanContext, bool)
	write  func(set func(key, value string), sc trace.SpanContext)
	fields []string
}

var codecs = [...]codec{
	W3C:         {"w3c", readW3C, writeW3C, []string{headerParent, headerState}},
	B3:          {"b3", readB3, writeB3, []string{headerB3TraceID, headerB3SpanID, headerB3Sampled, headerB3Flags}},
	B3Single:    {"b3single", readB3Single, writeB3Single, []string{headerB3}},
	OpenTracing: {"opentracing", readOpenTracing, writeOpenTracing, []string{headerOTTraceID, headerOTSpanID, headerOTSampled}},
	TraceID:     decimal("trace-id", "Trace-Id", "Span-Id", "Parent-Id"),
	XTraceID:    decimal("x-trace-id", "X-Trace-Id", "X-Span-Id", "X-Parent-Id"),
	Veneur:      decimal("veneur", "Traceid", "Spanid", "Parentid"),
}

// Known returns every format, in the order in which it is best to look for them.
func Known() []Format { return []Format{W3C, OpenTracing, B3, B3Single, TraceID, XTraceID, Veneur} }

// Written returns the formats that are written by default: W3C for everybody, and OpenTracing for services that still use the original.
func Written() []Format { return []Format{W3C, OpenTracing} }

func (f Format) codec() codec {
	if int(f) < len(codecs) {
		return codecs[f]
	}
	return codec{}
}

// String returns the format's name, such as "w3c".
func (f Format) String() string { return f.codec().name }

// Fields returns the names of the headers that the format writes.
func (f Format) Fields() []string { return f.codec().fields }

// Extract returns the context of the first format that is there and well formed. get returns the values of a header, whatever the case of its
// name, as http.Header.Values does. Without formats all are looked for, in the order of Known.
func Extract(get func(key string) []string, formats ...Format) (sc trace.SpanContext, ok bool) {
	if len(formats) == 0 {
		formats = Known()
	}
	for _, f := range formats {
		if c := f.codec(); c.read != nil {
			if sc, ok = c.read(get); ok && sc.Valid() {
				return sc, true
			}
		}
	}
	return trace.SpanContext{}, false
}

// Inject writes the context in each of the formats, those of Written if there are none. set replaces a header. An invalid context writes
// nothing.
func Inject(set func(key, value string), sc trace.SpanContext, formats ...Format) {
	if !sc.Valid() {
		return
	}
	if len(formats) == 0 {
		formats = Written()
	}
	for _, f := range formats {
		if c := f.codec(); c.write != nil {
			c.write(set, sc)
		}
	}
}

// one returns the value of a header that must not stand twice.
func one(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// first returns the first value of a header.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
