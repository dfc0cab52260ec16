package localfile

import (
	"strconv"
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// ndjson writes one JSON object a line. Identifiers of spans are decimal strings: a JSON number read as a float64 would lose their last
// digits. Tags of a span stand in the order of their keys, each once.
type ndjson struct {
	hostname string
	*jsondoc.Encoder

	end      time.Time
	interval time.Duration
	tail     []byte // of the points of that interval that have no time of their own
}

// newNDJSON escapes also what some take for the end of a line, and what some terminals obey.
func newNDJSON(hostname string) *ndjson {
	return &ndjson{hostname: hostname, Encoder: jsondoc.New(jsondoc.Options{Style: jsonappend.Style{
		Escapes: jsonappend.EscapeSeparators | jsonappend.EscapeDelete,
	}})}
}

func (n *ndjson) point(dst []byte, p *metric.Point, b *sinks.Batch) []byte {
	dst = append(dst, `{"kind":"metric","name":`...)
	dst = n.Text(dst, p.Name)
	dst = append(dst, `,"tags":`...)
	dst = n.texts(dst, p.Series.Tags)
	if p.Type == metric.CounterPoint {
		dst = append(dst, `,"type":"counter","value":`...)
	} else {
		dst = append(dst, `,"type":"gauge","value":`...)
	}
	dst = jsonappend.Float(dst, p.Value)
	if p.Time != 0 {
		return n.appendTail(dst, p.Time, b.Interval)
	}
	if n.tail == nil || n.end != b.End || n.interval != b.Interval {
		n.end, n.interval = b.End, b.Interval
		n.tail = n.appendTail(n.tail[:0], b.End.Unix(), b.Interval)
	}
	return append(dst, n.tail...)
}

// appendTail appends what points have in common.
func (n *ndjson) appendTail(dst []byte, unix int64, interval time.Duration) []byte {
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, unix, 10)
	dst = append(dst, `,"interval_s":`...)
	dst = jsonappend.Float(dst, interval.Seconds())
	dst = append(dst, `,"hostname":`...)
	dst = n.Text(dst, n.hostname)
	return append(dst, '}', '\n')
}

func (n *ndjson) event(dst []byte, e *metric.Event) []byte {
	dst = append(dst, `{"kind":"event","title":`...)
	dst = n.Text(dst, e.Title)
	dst = n.text(dst, "text", e.Text)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, e.Time, 10)
	dst = n.text(dst, "host", e.Host)
	dst = n.text(dst, "aggregation_key", e.AggregationKey)
	dst = n.text(dst, "priority", e.Priority)
	dst = n.text(dst, "alert_type", e.AlertType)
	dst = n.text(dst, "source_type", e.SourceType)
	dst = append(dst, `,"tags":`...)
	dst = n.texts(dst, e.Tags)
	return append(dst, '}', '\n')
}

func (n *ndjson) check(dst []byte, c *metric.Check) []byte {
	dst = append(dst, `{"kind":"service_check","name":`...)
	dst = n.Text(dst, c.Name)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendUint(dst, uint64(c.Status), 10)
	dst = n.text(dst, "message", c.Message)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, c.Time, 10)
	dst = n.text(dst, "host", c.Host)
	dst = append(dst, `,"tags":`...)
	dst = n.texts(dst, c.Tags)
	return append(dst, '}', '\n')
}

func (n *ndjson) span(dst []byte, s *ssf.SSFSpan) []byte {
	dst = append(dst, `{"kind":"span"`...)
	dst = appendID(dst, "trace_id", s.TraceId)
	dst = appendID(dst, "id", s.Id)
	dst = appendID(dst, "parent_id", s.ParentId)
	dst = n.text(dst, "name", s.Name)
	dst = n.text(dst, "service", s.Service)
	dst = append(dst, `,"start_ns":`...)
	dst = strconv.AppendInt(dst, s.StartTimestamp, 10)
	dst = append(dst, `,"end_ns":`...)
	dst = strconv.AppendInt(dst, s.EndTimestamp, 10)
	dst = append(dst, `,"error":`...)
	dst = strconv.AppendBool(dst, s.Error)
	dst = append(dst, `,"indicator":`...)
	dst = strconv.AppendBool(dst, s.Indicator)
	dst = append(dst, `,"tags":`...)
	dst = n.AppendTags(dst, s.Tags)
	return append(dst, '}', '\n')
}

func (n *ndjson) texts(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = n.Text(dst, s)
	}
	return append(dst, ']')
}

func (n *ndjson) text(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return n.Text(dst, value)
}

func appendID(dst []byte, key string, id int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, `":"`...)
	dst = strconv.AppendInt(dst, id, 10)
	return append(dst, '"')
}
