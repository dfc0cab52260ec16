package elasticsearch

import (
	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// otel is the layout of the OpenTelemetry exporter's mode "otel": snake case, attributes with their dots in one object. attributes come
// last, since they say whether any text was cut.
type otel struct{ *writer }

// logKeys are attributes of events and service checks that the tags must not hide.
var logKeys = [...]string{
	"dogstatsd.aggregation_key", "dogstatsd.alert_type", "dogstatsd.check", "dogstatsd.priority", "dogstatsd.source_type", "dogstatsd.status",
	"dogstatsd.title",
}

func (o otel) span(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag, to *stream) ([]byte, error) {
	dst = o.begin(dst, s.StartTimestamp, to)
	duration, _ := s.Duration()
	dst = jsonappend.Int(append(dst, `"duration":`...), int64(duration))
	dst = append(append(dst, `,"kind":"`...), spanKind(s)...)
	dst = o.Text(append(dst, `","name":`...), s.Name)
	if s.ParentId != 0 {
		dst = jsondoc.AppendSpanID(append(dst, `,"parent_span_id":`...), s.ParentId)
	}
	dst = o.resource(append(dst, ','), o.host, s.Service)
	dst = jsondoc.AppendSpanID(append(dst, `,"scope":{"name":"veneur"},"span_id":`...), s.Id)
	if s.Error {
		dst = append(dst, `,"status":{"code":"Error"},"trace_id":`...)
	} else {
		dst = append(dst, `,"status":{"code":"Unset"},"trace_id":`...)
	}
	dst = jsondoc.AppendTraceID(dst, s.TraceId)
	dst = o.sampleArray(dst, s)
	dst = append(dst, `,"attributes":{`...)
	dst = o.AppendTagMembers(dst, tags)
	if s.Indicator {
		dst = append(comma(dst), `"`+keyIndicator+`":true`...)
	}
	if s.RootStartTimestamp != 0 {
		dst = append(comma(dst), `"`+keyRootStart+`":"`...)
		dst = append(jsonappend.Int(dst, s.RootStartTimestamp), '"')
	}
	return o.end(dst), nil
}

// end ends the attributes and the document.
func (o otel) end(dst []byte) []byte {
	if o.wasCut() {
		dst = append(comma(dst), `"`+keyTruncated+`":true`...)
	}
	return append(dst, '}', '}')
}

// resource appends who sent it.
func (o otel) resource(dst []byte, host, service string) []byte {
	dst = append(dst, `"resource":{"attributes":{`...)
	dst = o.member(dst, `"host.name":`, host)
	dst = o.member(dst, `"service.name":`, service)
	return append(dst, '}', '}')
}

// spanKind is the kind that a tag of OpenTracing says, as OpenTelemetry names it.
func spanKind(s *ssf.SSFSpan) string {
	kind, _ := s.Tag("span.kind")
	switch kind {
	case "server":
		return "Server"
	case "client":
		return "Client"
	case "producer":
		return "Producer"
	case "consumer":
		return "Consumer"
	default:
		return "Internal"
	}
}

func (o otel) sample(dst []byte, s *ssf.SSFSpan, m *ssf.SSFSample, tags []ssf.Tag, to *stream) ([]byte, error) {
	start := len(dst)
	dst = o.begin(dst, sampleTime(s, m), to)
	dst, ok := o.sampleFields(append(dst, `"metric":{`...), m)
	if !ok {
		return dst[:start], jsondoc.ReasonValue
	}
	dst = o.resource(append(dst, '}', ','), o.host, s.Service)
	dst = jsondoc.AppendSpanID(append(dst, `,"scope":{"name":"veneur"},"span_id":`...), s.Id)
	dst = jsondoc.AppendTraceID(append(dst, `,"trace_id":`...), s.TraceId)
	dst = o.AppendTagMembers(append(dst, `,"attributes":{`...), tags)
	return o.end(dst), nil
}

// sampleTime is the sample's own time, or that of its span.
func sampleTime(s *ssf.SSFSpan, m *ssf.SSFSample) int64 {
	if m.Timestamp != 0 {
		return m.Timestamp
	}
	return s.StartTimestamp
}

func (o otel) point(dst []byte, p *metric.Point, in *period, tags []string, to *stream) ([]byte, error) {
	start := len(dst)
	dst, ok := o.beginAt(dst, pointTime(p, in.end), o.points, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	if dst, ok = o.pointValue(dst, p, tags); !ok {
		return dst[:start], jsondoc.ReasonValue
	}
	if p.Time == 0 {
		dst = o.startOf(dst, in)
	}
	return o.endPoint(dst, tags), nil
}

// pointValue appends what the point says.
func (o otel) pointValue(dst []byte, p *metric.Point, tags []string) (_ []byte, ok bool) {
	if o.fields {
		dst = o.fieldKey(dst, p.Name, p.Series.Tags, tags)
	} else {
		dst = o.Text(append(dst, `"metric":{"name":`...), p.Name)
		dst = append(append(dst, `,"type":"`...), p.Type.String()...)
		dst = append(dst, `","value":`...)
	}
	if dst, ok = o.Float64(dst, p.Value); !ok {
		return dst, false
	}
	return append(dst, '}'), true
}

// fieldKey begins the field of a metric. The hash keeps metrics of one time and the same attributes apart in time series data streams, which
// would take the second for one that is there already: those of other names, and series that differ in what is left out of written.
func (o otel) fieldKey(dst []byte, name string, tags, written []string) []byte {
	h := hashed(offsetFNV, name)
	if len(written) < len(tags) {
		for _, tag := range tags {
			h = hashed(hashed(h, "\x00"), tag)
		}
	}
	dst = append(dst, `"_metric_names_hash":"`...)
	dst = appendHash(dst, h)
	dst = jsonappend.String(append(dst, `","metrics":{`...), o.metricKey(name))
	return append(dst, ':')
}

const offsetFNV uint32 = 2166136261

// hashed goes on with a 32-bit FNV-1a.
func hashed(h uint32, s string) uint32 {
	const prime = 16777619
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * prime
	}
	return h
}

func appendHash(dst []byte, h uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[h>>shift&15])
	}
	return dst
}

// startOf appends when the interval began.
func (o otel) startOf(dst []byte, in *period) []byte {
	return o.TimeNanos(append(dst, `,"start_timestamp":`...), in.end.UnixNano()-int64(in.length))
}

func (o otel) endPoint(dst []byte, tags []string) []byte {
	dst = o.resource(append(dst, ','), o.host, "")
	dst = append(dst, `,"scope":{"name":"veneur"},"attributes":{`...)
	return o.end(o.AppendMetricTagMembers(dst, tags))
}

func (o otel) digest(dst []byte, p *metric.DigestPoint, in *period, tags []string, to *stream) ([]byte, error) {
	dst, ok := o.beginAt(dst, in.end.Unix(), o.points, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	if o.fields {
		dst = histogram(o.fieldKey(dst, p.Series.Name, p.Series.Tags, tags), p.Digest)
		dst = append(dst, '}')
	} else {
		dst = histogram(append(dst, `"metric":{"histogram":`...), p.Digest)
		dst = o.Text(append(dst, `,"name":`...), p.Series.Name)
		dst = append(dst, `,"type":"histogram"}`...)
	}
	return o.endPoint(o.startOf(dst, in), tags), nil
}

func (o otel) event(dst []byte, e *metric.Event, tags []string, to *stream) ([]byte, error) {
	dst, ok := o.beginAt(dst, e.Time, o.times, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = o.log(dst, e.Text, "dogstatsd.event", alertSeverity(e.AlertType), e.Host)
	dst = o.AppendMetricTagMembers(dst, tags)
	dst = o.member(dst, `"dogstatsd.aggregation_key":`, e.AggregationKey)
	dst = o.member(dst, `"dogstatsd.alert_type":`, e.AlertType)
	dst = o.member(dst, `"dogstatsd.priority":`, e.Priority)
	dst = o.member(dst, `"dogstatsd.source_type":`, e.SourceType)
	dst = o.member(dst, `"dogstatsd.title":`, e.Title)
	return o.end(dst), nil
}

func (o otel) check(dst []byte, c *metric.Check, tags []string, to *stream) ([]byte, error) {
	dst, ok := o.beginAt(dst, c.Time, o.times, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = o.log(dst, c.Message, "dogstatsd.service_check", statusSeverity(c.Status), c.Host)
	dst = o.AppendMetricTagMembers(dst, tags)
	dst = o.member(dst, `"dogstatsd.check":`, c.Name)
	dst = o.member(dst, `"dogstatsd.status":`, c.Status.String())
	return o.end(dst), nil
}

// log appends what events and checks have in common, up to the attributes.
func (o otel) log(dst []byte, body, name string, s severity, host string) []byte {
	if host == "" {
		host = o.host
	}
	dst = o.Text(append(dst, `"body":{"text":`...), body)
	dst = append(append(dst, `},"event_name":"`...), name...)
	dst = o.resource(append(dst, '"', ','), host, "")
	dst = jsonappend.Int(append(dst, `,"scope":{"name":"veneur"},"severity_number":`...), s.number)
	dst = append(append(dst, `,"severity_text":"`...), s.text...)
	return append(dst, `","attributes":{`...)
}

// severity is one of OpenTelemetry's.
type severity struct {
	number int64
	text   string
	level  string // in ECS
}

var (
	severityInfo  = severity{9, "INFO", "info"}
	severityWarn  = severity{13, "WARN", "warn"}
	severityError = severity{17, "ERROR", "error"}
)

func alertSeverity(alert string) severity {
	switch alert {
	case "error":
		return severityError
	case "warning":
		return severityWarn
	default:
		return severityInfo
	}
}

func statusSeverity(s metric.Status) severity {
	switch s {
	case metric.OK:
		return severityInfo
	case metric.Critical:
		return severityError
	default:
		return severityWarn
	}
}
