package localfile

import (
	"strconv"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// encoder appends one line.
type encoder interface {
	point(dst []byte, p *metric.Point, b *sinks.Batch) []byte
	event(dst []byte, e *metric.Event) []byte
	check(dst []byte, c *metric.Check) []byte
	span(dst []byte, s *ssf.SSFSpan) []byte
}

func pointTime(p *metric.Point, b *sinks.Batch) int64 {
	if p.Time != 0 {
		return p.Time
	}
	return b.End.Unix()
}

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
	dst = append(dst, `,"tags":{`...)
	for i := range s.Tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonappend.String(dst, s.Tags[i].Key)
		dst = append(dst, ':')
		dst = jsonappend.String(dst, s.Tags[i].Value)
	}
	return append(dst, "}}\n"...)
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

// tsv writes the columns name, tags, type, hostname, interval in seconds, unix time in seconds, value, text. A delimiter, a newline, a carriage
// return or a backslash inside a column is written as a backslash with the delimiter itself, n, r or a backslash.
type tsv struct {
	delimiter rune
	hostname  string
}

func (t *tsv) point(dst []byte, p *metric.Point, b *sinks.Batch) []byte {
	dst = t.head(dst, p.Name, p.Series.Tags, p.Type.String(), t.hostname)
	dst = jsonappend.Float(dst, b.Interval.Seconds())
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, pointTime(p, b), 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = jsonappend.Float(dst, p.Value)
	return t.text(dst, "")
}

// event has the alert type as its value.
func (t *tsv) event(dst []byte, e *metric.Event) []byte {
	dst = t.head(dst, e.Title, e.Tags, "event", e.Host)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, e.Time, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, e.AlertType)
	return t.text(dst, e.Text)
}

// check has the number of the status as its value.
func (t *tsv) check(dst []byte, c *metric.Check) []byte {
	dst = t.head(dst, c.Name, c.Tags, "service_check", c.Host)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, c.Time, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendUint(dst, uint64(c.Status), 10)
	return t.text(dst, c.Message)
}

// span has its end as the time, its duration in nanoseconds as the value, its service as the host and its ids as the text.
func (t *tsv) span(dst []byte, s *ssf.SSFSpan) []byte {
	tags := make([]string, len(s.Tags))
	for i := range s.Tags {
		tags[i] = s.Tags[i].Key + ":" + s.Tags[i].Value
	}
	dst = t.head(dst, s.Name, tags, "span", s.Service)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, s.EndTimestamp/1e9, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, s.EndTimestamp-s.StartTimestamp, 10)
	ids := strconv.FormatInt(s.TraceId, 10) + "/" + strconv.FormatInt(s.Id, 10) + "/" + strconv.FormatInt(s.ParentId, 10)
	return t.text(dst, ids)
}

func (t *tsv) head(dst []byte, name string, tags []string, typ, host string) []byte {
	dst = t.column(dst, name)
	dst = utf8.AppendRune(dst, t.delimiter)
	for i, tag := range tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.column(dst, tag)
	}
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = append(dst, typ...)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, host)
	return utf8.AppendRune(dst, t.delimiter)
}

func (t *tsv) text(dst []byte, text string) []byte {
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, text)
	return append(dst, '\n')
}

func (t *tsv) column(dst []byte, s string) []byte {
	for _, r := range s {
		switch r {
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\\':
			dst = append(dst, '\\', '\\')
		case t.delimiter:
			dst = append(dst, '\\')
			dst = utf8.AppendRune(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
