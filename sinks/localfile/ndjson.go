package localfile

import (
	"strconv"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// ndjson writes one JSON object a line. Identifiers of spans are decimal strings: a JSON number read as a float64 would lose their last
// digits.
type ndjson struct{ hostname string }

func (n *ndjson) point(dst []byte, p *metric.Point, b *sinks.Batch) []byte {
	dst = append(dst, `{"kind":"metric","name":`...)
	dst = jsonappend.String(dst, p.Name)
	dst = append(dst, `,"tags":`...)
	dst = jsonappend.Strings(dst, p.Series.Tags)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, p.Type.String()...)
	dst = append(dst, `","value":`...)
	dst = jsonappend.Float(dst, p.Value)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, pointTime(p, b), 10)
	dst = append(dst, `,"interval_s":`...)
	dst = jsonappend.Float(dst, b.Interval.Seconds())
	dst = append(dst, `,"hostname":`...)
	dst = jsonappend.String(dst, n.hostname)
	return append(dst, '}', '\n')
}

func (n *ndjson) event(dst []byte, e *metric.Event) []byte {
	dst = append(dst, `{"kind":"event","title":`...)
	dst = jsonappend.String(dst, e.Title)
	dst = appendText(dst, "text", e.Text)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, e.Time, 10)
	dst = appendText(dst, "host", e.Host)
	dst = appendText(dst, "aggregation_key", e.AggregationKey)
	dst = appendText(dst, "priority", e.Priority)
	dst = appendText(dst, "alert_type", e.AlertType)
	dst = appendText(dst, "source_type", e.SourceType)
	dst = append(dst, `,"tags":`...)
	dst = jsonappend.Strings(dst, e.Tags)
	return append(dst, '}', '\n')
}

func (n *ndjson) check(dst []byte, c *metric.Check) []byte {
	dst = append(dst, `{"kind":"service_check","name":`...)
	dst = jsonappend.String(dst, c.Name)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendUint(dst, uint64(c.Status), 10)
	dst = appendText(dst, "message", c.Message)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, c.Time, 10)
	dst = appendText(dst, "host", c.Host)
	dst = append(dst, `,"tags":`...)
	dst = jsonappend.Strings(dst, c.Tags)
	return append(dst, '}', '\n')
}

func (n *ndjson) span(dst []byte, s *ssf.SSFSpan) []byte {
	dst = append(dst, `{"kind":"span"`...)
	dst = appendID(dst, "trace_id", s.TraceId)
	dst = appendID(dst, "id", s.Id)
	dst = appendID(dst, "parent_id", s.ParentId)
	dst = appendText(dst, "name", s.Name)
	dst = appendText(dst, "service", s.Service)
	dst = append(dst, `,"start_ns":`...)
	dst = strconv.AppendInt(dst, s.StartTimestamp, 10)
	dst = append(dst, `,"end_ns":`...)
	dst = strconv.AppendInt(dst, s.EndTimestamp, 10)
	dst = append(dst, `,"error":`...)
	dst = strconv.AppendBool(dst, s.Error)
	dst = append(dst, `,"indicator":`...)
	dst = strconv.AppendBool(dst, s.Indicator)
	dst = append(dst, `,"tags":`...)
	dst = appendSpanTags(dst, s.Tags)
	return append(dst, '}', '\n')
}

// fewTags is up to how many tags looking at each for each is faster than a map.
const fewTags = 16

// appendSpanTags writes an object with each key once: of a key that stands twice the last one counts.
func appendSpanTags(dst []byte, tags []ssf.Tag) []byte {
	var last map[string]int
	if len(tags) > fewTags {
		last = make(map[string]int, len(tags))
		for i := range tags {
			last[writtenKey(tags[i].Key)] = i
		}
	}
	dst = append(dst, '{')
	first := true
	for i := range tags {
		if last != nil && last[writtenKey(tags[i].Key)] != i || last == nil && hasKey(tags[i+1:], tags[i].Key) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = jsonappend.String(dst, tags[i].Key)
		dst = append(dst, ':')
		dst = jsonappend.String(dst, tags[i].Value)
	}
	return append(dst, '}')
}

func hasKey(tags []ssf.Tag, key string) bool {
	for i := range tags {
		if writtenKey(tags[i].Key) == writtenKey(key) {
			return true
		}
	}
	return false
}

// writtenKey is the key as a reader of the JSON sees it: bytes that are no UTF-8 are all the same to it.
func writtenKey(key string) string {
	if utf8.ValidString(key) {
		return key
	}
	return string([]rune(key))
}

func appendText(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return jsonappend.String(dst, value)
}

func appendID(dst []byte, key string, id int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, `":"`...)
	dst = strconv.AppendInt(dst, id, 10)
	return append(dst, '"')
}
