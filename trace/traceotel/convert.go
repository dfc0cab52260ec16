package traceotel

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

const (
	tagKind    = "span.kind"
	tagStatus  = "otel.status_code"
	tagScope   = "otel.scope.name"
	tagVersion = "otel.scope.version"
	tagEvents  = "events"
	tagLinks   = "links"
	tagCut     = "otel.events_and_links_dropped" // there was no room for them
)

var kinds = map[oteltrace.SpanKind]string{
	oteltrace.SpanKindServer:   "server",
	oteltrace.SpanKindClient:   "client",
	oteltrace.SpanKindProducer: "producer",
	oteltrace.SpanKindConsumer: "consumer",
}

// convert makes out what in is. out's tags are used again.
func (e *Exporter) convert(out *ssf.SSFSpan, in sdktrace.ReadOnlySpan) {
	sc := in.SpanContext()
	traceID, spanID := sc.TraceID(), sc.SpanID()
	*out = ssf.SSFSpan{
		TraceId:        int64(binary.BigEndian.Uint64(traceID[8:])),
		Id:             int64(binary.BigEndian.Uint64(spanID[:])),
		Name:           in.Name(),
		StartTimestamp: in.StartTime().UnixNano(),
		EndTimestamp:   in.EndTime().UnixNano(),
		Tags:           out.Tags[:0],
	}
	if out.TraceId == 0 {
		out.TraceId = int64(binary.BigEndian.Uint64(traceID[:8]))
	}
	if parent := in.Parent().SpanID(); parent.IsValid() {
		out.ParentId = int64(binary.BigEndian.Uint64(parent[:]))
	}
	// SetTag lets the later one win: the span's own attributes come last.
	if resource := in.Resource(); resource != nil {
		for iter := resource.Iter(); iter.Next(); {
			if a := iter.Attribute(); a.Key == "service.name" {
				out.Service = a.Value.String()
			} else {
				out.SetTag(string(a.Key), a.Value.String())
			}
		}
	}
	if scope := in.InstrumentationScope(); scope.Name != "" {
		out.SetTag(tagScope, scope.Name)
		if scope.Version != "" {
			out.SetTag(tagVersion, scope.Version)
		}
	}
	for _, a := range in.Attributes() {
		out.SetTag(string(a.Key), a.Value.String())
	}
	out.SetTag(trace.TagTraceID128, traceID.String())
	if kind := kinds[in.SpanKind()]; kind != "" {
		out.SetTag(tagKind, kind)
		out.Indicator = !e.noIndicators && (kind == "server" || kind == "consumer")
	}
	setEvents(out, in.Events())
	setLinks(out, in.Links())
	setStatus(out, in.Status())
}

func setStatus(out *ssf.SSFSpan, status sdktrace.Status) {
	switch status.Code {
	case codes.Error:
		out.Error = true
		out.SetTag(tagStatus, "ERROR")
		if status.Description != "" {
			out.SetTag("error.msg", status.Description)
		}
	case codes.Ok:
		out.SetTag(tagStatus, "OK")
	}
}

type event struct {
	Name       string            `json:"name"`
	Time       string            `json:"time"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

func setEvents(out *ssf.SSFSpan, events []sdktrace.Event) {
	list := make([]event, 0, len(events))
	for _, ev := range events {
		list = append(list, event{ev.Name, ev.Time.UTC().Format(time.RFC3339Nano), texts(ev.Attributes)})
		if ev.Name == "exception" {
			setException(out, ev.Attributes)
		}
	}
	setJSON(out, tagEvents, list)
}

func setException(out *ssf.SSFSpan, attributes []attribute.KeyValue) {
	for _, a := range attributes {
		switch a.Key {
		case "exception.message":
			out.SetTag("error.msg", a.Value.String())
		case "exception.type":
			out.SetTag("error.type", a.Value.String())
		case "exception.stacktrace":
			out.SetTag("error.stack", a.Value.String())
		}
	}
}

type linked struct {
	TraceID    string            `json:"trace_id"`
	SpanID     string            `json:"span_id"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

func setLinks(out *ssf.SSFSpan, links []sdktrace.Link) {
	list := make([]linked, 0, len(links))
	for _, l := range links {
		list = append(list, linked{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String(), texts(l.Attributes)})
	}
	setJSON(out, tagLinks, list)
}

func setJSON[T any](out *ssf.SSFSpan, tag string, list []T) {
	if len(list) == 0 {
		return
	}
	if text, err := json.Marshal(list); err == nil { // which texts cannot fail
		out.SetTag(tag, string(text))
	}
}

func texts(attributes []attribute.KeyValue) map[string]string {
	m := make(map[string]string, len(attributes))
	for _, a := range attributes {
		m[string(a.Key)] = a.Value.String()
	}
	return m
}
