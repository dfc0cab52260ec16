package jsondoc

import (
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
)

// AppendPoint appends the document of a point. end, the end of its interval, is its time where it has none of its own. A value that is not
// finite, and a time outside of the years 0 to 9999, are refused.
func (e *Encoder) AppendPoint(dst []byte, p *metric.Point, end time.Time, interval time.Duration) ([]byte, error) {
	start := len(dst)
	dst = append(dst, `{"@timestamp":`...)
	seconds, nanos := p.Time, int64(0)
	if seconds == 0 {
		seconds, nanos = end.Unix(), int64(end.Nanosecond())
	}
	dst, ok := e.Time(dst, seconds, nanos)
	if !ok {
		return dst[:start], ReasonTime
	}
	dst = append(dst, `,"interval":`...)
	dst = jsonappend.Int(dst, int64(interval))
	dst = append(dst, `,"kind":"point","name":`...)
	dst = e.Text(dst, p.Name)
	dst = append(dst, `,"tags":`...)
	dst = e.AppendMetricTags(dst, p.Series.Tags)
	if p.Type == metric.CounterPoint {
		dst = append(dst, `,"type":"counter","value":`...)
	} else {
		dst = append(dst, `,"type":"gauge","value":`...)
	}
	if dst, ok = e.Float64(dst, p.Value); !ok {
		return dst[:start], ReasonValue
	}
	return append(dst, '}'), nil
}

// AppendEvent appends the document of an event. A time outside of the years 0 to 9999 is refused.
func (e *Encoder) AppendEvent(dst []byte, v *metric.Event) ([]byte, error) {
	start := len(dst)
	dst, ok := e.Time(append(dst, `{"@timestamp":`...), v.Time, 0)
	if !ok {
		return dst[:start], ReasonTime
	}
	dst = e.appendText(dst, `,"aggregation_key":`, v.AggregationKey)
	dst = e.appendText(dst, `,"alert_type":`, v.AlertType)
	dst = e.appendText(dst, `,"host":`, v.Host)
	dst = append(dst, `,"kind":"event"`...)
	dst = e.appendText(dst, `,"priority":`, v.Priority)
	dst = e.appendText(dst, `,"source_type":`, v.SourceType)
	dst = append(dst, `,"tags":`...)
	dst = e.AppendMetricTags(dst, v.Tags)
	dst = append(dst, `,"text":`...)
	dst = e.Text(dst, v.Text)
	dst = append(dst, `,"title":`...)
	dst = e.Text(dst, v.Title)
	return append(dst, '}'), nil
}

// AppendCheck appends the document of a service check. A time outside of the years 0 to 9999 is refused.
func (e *Encoder) AppendCheck(dst []byte, c *metric.Check) ([]byte, error) {
	start := len(dst)
	dst, ok := e.Time(append(dst, `{"@timestamp":`...), c.Time, 0)
	if !ok {
		return dst[:start], ReasonTime
	}
	dst = e.appendText(dst, `,"host":`, c.Host)
	dst = append(dst, `,"kind":"check"`...)
	dst = e.appendText(dst, `,"message":`, c.Message)
	dst = append(dst, `,"name":`...)
	dst = e.Text(dst, c.Name)
	dst = append(dst, `,"status":"`...)
	dst = appendName(dst, statusNames[:], int32(c.Status))
	dst = append(dst, `","tags":`...)
	dst = e.AppendMetricTags(dst, c.Tags)
	return append(dst, '}'), nil
}

// appendText appends nothing for no text.
func (e *Encoder) appendText(dst []byte, field, s string) []byte {
	if s == "" {
		return dst
	}
	return e.Text(append(dst, field...), s)
}
