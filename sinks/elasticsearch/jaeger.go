package elasticsearch

import (
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// jaeger is the layout of the index jaeger-span-… It is for spans only, and times are microseconds, rounded down.
type jaeger struct {
	*writer
	asFields bool
}

func (j jaeger) span(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag, _ *stream) ([]byte, error) {
	j.cut = j.Counts.CutTexts
	duration, _ := s.Duration()
	dst = jsonappend.Int(append(dst, `{"duration":`...), int64(duration/time.Microsecond))
	dst = j.Text(append(dst, `,"flags":1,"logs":[],"operationName":`...), s.Name)
	dst = j.Text(append(dst, `,"process":{"serviceName":`...), s.Service)
	dst = append(dst, `,"tags":[`...)
	if j.host != "" {
		dst = j.Text(append(dst, `{"key":"hostname","type":"string","value":`...), j.host)
		dst = append(dst, '}')
	}
	dst = append(dst, `]},"references":[`...)
	if s.ParentId != 0 {
		dst = jsondoc.AppendSpanID(append(dst, `{"refType":"CHILD_OF","spanID":`...), s.ParentId)
		dst = jsondoc.AppendTraceID(append(dst, `,"traceID":`...), s.TraceId)
		dst = append(dst, '}')
	}
	dst = jsondoc.AppendSpanID(append(dst, `],"spanID":`...), s.Id)
	dst = jsonappend.Int(append(dst, `,"startTime":`...), floorMicros(s.StartTimestamp))
	dst = jsonappend.Millis(append(dst, `,"startTimeMillis":`...), s.StartTimestamp)
	dst = jsondoc.AppendTraceID(append(dst, `,"traceID":`...), s.TraceId)
	dst = j.sampleArray(dst, s)
	if j.asFields {
		return j.fields(dst, s, tags), nil
	}
	return j.list(dst, s, tags), nil
}

// list appends the tags as a list, and ends the document.
func (j jaeger) list(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag) []byte {
	dst = append(dst, `,"tags":[`...)
	start := len(dst)
	add := func(key, kind string) {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = jsonappend.String(append(dst, `{"key":`...), key)
		dst = append(append(append(dst, `,"type":"`...), kind...), `","value":`...)
	}
	for _, tag := range j.Sorted(tags) {
		add(tag.Key, "string")
		dst = append(j.Text(dst, tag.Value), '}')
	}
	yes := func(key string, is bool) {
		if is {
			add(key, "bool")
			dst = append(dst, `"true"}`...)
		}
	}
	yes("error", s.Error)
	yes(keyIndicator, s.Indicator)
	if s.RootStartTimestamp != 0 {
		add(keyRootStart, "string")
		dst = append(jsonappend.Int(append(dst, '"'), s.RootStartTimestamp), `"}`...)
	}
	yes(keyTruncated, j.wasCut())
	return append(dst, ']', '}')
}

// fields appends the tags as an object, and ends the document.
func (j jaeger) fields(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag) []byte {
	dst = j.AppendTagMembers(append(dst, `,"tag":{`...), tags)
	yes := func(key string, is bool) {
		if is {
			dst = append(append(comma(dst), key...), `:"true"`...)
		}
	}
	yes(`"error"`, s.Error)
	yes(`"ssf@indicator"`, s.Indicator)
	if s.RootStartTimestamp != 0 {
		dst = jsonappend.Int(append(comma(dst), `"ssf@root_start_timestamp":"`...), s.RootStartTimestamp)
		dst = append(dst, '"')
	}
	yes(`"veneur@truncated"`, j.wasCut())
	return append(dst, '}', '}')
}

// Whatever else there is, Jaeger has no place for it: the kind takes no metrics in this layout, and samples have no documents.

func (jaeger) sample(dst []byte, _ *ssf.SSFSpan, _ *ssf.SSFSample, _ []ssf.Tag, _ *stream) ([]byte, error) {
	return dst, errUnsupported
}

func (jaeger) point(dst []byte, _ *metric.Point, _ *period, _ []string, _ *stream) ([]byte, error) {
	return dst, errUnsupported
}

func (jaeger) digest(dst []byte, _ *metric.DigestPoint, _ *period, _ []string, _ *stream) ([]byte, error) {
	return dst, errUnsupported
}

func (jaeger) event(dst []byte, _ *metric.Event, _ []string, _ *stream) ([]byte, error) {
	return dst, errUnsupported
}

func (jaeger) check(dst []byte, _ *metric.Check, _ []string, _ *stream) ([]byte, error) {
	return dst, errUnsupported
}
