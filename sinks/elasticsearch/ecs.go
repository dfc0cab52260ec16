package elasticsearch

import (
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// ecs is the layout of the Elastic Common Schema as Elastic's APM uses it. A root span is a transaction; tags are labels, with underscores
// for dots; durations are microseconds, rounded down.
type ecs struct{ *writer }

func (e ecs) span(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag, to *stream) ([]byte, error) {
	dst = e.begin(dst, s.StartTimestamp, to)
	if s.Error {
		dst = append(dst, `"event":{"outcome":"failure"},`...)
	} else {
		dst = append(dst, `"event":{"outcome":"success"},`...)
	}
	dst = e.hostAndService(dst, e.host, s.Service)
	if s.ParentId != 0 {
		dst = jsondoc.AppendSpanID(append(dst, `"parent":{"id":`...), s.ParentId)
		dst = append(dst, '}', ',')
	}
	duration, _ := s.Duration()
	if isRoot(s) {
		dst = append(dst, `"processor":{"event":"transaction","name":"transaction"},"transaction":{"duration":{"us":`...)
	} else {
		dst = append(dst, `"processor":{"event":"span","name":"transaction"},"span":{"duration":{"us":`...)
	}
	dst = jsonappend.Int(dst, int64(duration/time.Microsecond))
	dst = jsondoc.AppendSpanID(append(dst, `},"id":`...), s.Id)
	dst = e.Text(append(dst, `,"name":`...), s.Name)
	dst = jsonappend.Int(append(dst, `},"timestamp":{"us":`...), floorMicros(s.StartTimestamp))
	dst = jsondoc.AppendTraceID(append(dst, `},"trace":{"id":`...), s.TraceId)
	dst = e.sampleArray(append(dst, '}'), s)
	dst = append(dst, `,"labels":{`...)
	dst = e.AppendTagMembers(dst, tags)
	if s.Indicator {
		dst = append(comma(dst), `"ssf_indicator":"true"`...)
	}
	if s.RootStartTimestamp != 0 {
		dst = jsonappend.Int(append(comma(dst), `"ssf_root_start_timestamp":"`...), s.RootStartTimestamp)
		dst = append(dst, '"')
	}
	return e.end(dst), nil
}

func isRoot(s *ssf.SSFSpan) bool { return s.ParentId == 0 || s.Id == s.TraceId }

func floorMicros(nanos int64) int64 {
	micros := nanos / 1000
	if nanos%1000 < 0 {
		micros--
	}
	return micros
}

// end ends the labels and the document.
func (e ecs) end(dst []byte) []byte {
	if e.wasCut() {
		dst = append(comma(dst), `"veneur_truncated":"true"`...)
	}
	return append(dst, '}', '}')
}

// hostAndService appends who sent it, each with a comma behind.
func (e ecs) hostAndService(dst []byte, host, service string) []byte {
	if host != "" {
		dst = e.Text(append(dst, `"host":{"name":`...), host)
		dst = append(dst, '}', ',')
	}
	if service != "" {
		dst = e.Text(append(dst, `"service":{"name":`...), service)
		dst = append(dst, '}', ',')
	}
	return dst
}

func (e ecs) sample(dst []byte, s *ssf.SSFSpan, m *ssf.SSFSample, tags []ssf.Tag, to *stream) ([]byte, error) {
	start := len(dst)
	dst = e.begin(dst, sampleTime(s, m), to)
	dst = e.hostAndService(dst, e.host, s.Service)
	dst, ok := e.sampleFields(append(dst, `"metric":{`...), m)
	if !ok {
		return dst[:start], jsondoc.ReasonValue
	}
	dst = append(dst, `},"metricset":{"name":"app"},"processor":{"event":"metric","name":"metric"},"span":{"id":`...)
	dst = jsondoc.AppendSpanID(dst, s.Id)
	dst = jsondoc.AppendTraceID(append(dst, `},"trace":{"id":`...), s.TraceId)
	return e.end(e.AppendTagMembers(append(dst, `},"labels":{`...), tags)), nil
}

func (e ecs) point(dst []byte, p *metric.Point, in *period, tags []string, to *stream) ([]byte, error) {
	start := len(dst)
	dst, ok := e.beginAt(dst, pointTime(p, in.end), e.points, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = e.hostAndService(dst, e.host, "")
	dst = e.Text(append(dst, `"metric":{"name":`...), p.Name)
	dst = append(append(dst, `,"type":"`...), p.Type.String()...)
	if dst, ok = e.Float64(append(dst, `","value":`...), p.Value); !ok {
		return dst[:start], jsondoc.ReasonValue
	}
	return e.endPoint(dst, in, tags), nil
}

func (e ecs) endPoint(dst []byte, in *period, tags []string) []byte {
	dst = jsonappend.Int(append(dst, `},"metricset":{"interval":`...), in.length.Milliseconds())
	dst = append(dst, `,"name":"app"},"processor":{"event":"metric","name":"metric"},"labels":{`...)
	return e.end(e.AppendMetricTagMembers(dst, tags))
}

func (e ecs) digest(dst []byte, p *metric.DigestPoint, in *period, tags []string, to *stream) ([]byte, error) {
	dst, ok := e.beginAt(dst, in.end.Unix(), e.points, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = e.hostAndService(dst, e.host, "")
	dst = histogram(append(dst, `"metric":{"histogram":`...), p.Digest)
	dst = e.Text(append(dst, `,"name":`...), p.Series.Name)
	return e.endPoint(append(dst, `,"type":"histogram"`...), in, tags), nil
}

func (e ecs) event(dst []byte, v *metric.Event, tags []string, to *stream) ([]byte, error) {
	dst, ok := e.beginAt(dst, v.Time, e.times, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = append(dst, `"dogstatsd":{`...)
	dst = e.member(dst, `"aggregation_key":`, v.AggregationKey)
	dst = e.member(dst, `"alert_type":`, v.AlertType)
	dst = e.member(dst, `"priority":`, v.Priority)
	dst = e.member(dst, `"source_type":`, v.SourceType)
	dst = e.member(dst, `"title":`, v.Title)
	return e.log(append(dst, `},"event":{"kind":"event"},`...), v.Text, alertSeverity(v.AlertType), v.Host, tags), nil
}

func (e ecs) check(dst []byte, c *metric.Check, tags []string, to *stream) ([]byte, error) {
	dst, ok := e.beginAt(dst, c.Time, e.times, to)
	if !ok {
		return dst, jsondoc.ReasonTime
	}
	dst = e.Text(append(dst, `"dogstatsd":{"check":`...), c.Name)
	dst = append(append(dst, `,"status":"`...), c.Status.String()...)
	return e.log(append(dst, `"},"event":{"kind":"state"},`...), c.Message, statusSeverity(c.Status), c.Host, tags), nil
}

func (e ecs) log(dst []byte, message string, s severity, host string, tags []string) []byte {
	if host == "" {
		host = e.host
	}
	dst = e.hostAndService(dst, host, "")
	dst = append(append(dst, `"log":{"level":"`...), s.level...)
	dst = e.Text(append(dst, `"},"message":`...), message)
	return e.end(e.AppendMetricTagMembers(append(dst, `,"labels":{`...), tags))
}
