package jsondoc

import (
	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/ssf"
)

// AppendSample appends a document of one sample. at, in nanoseconds since 1970, is its time where it has none of its own. A sample whose
// value is not finite is refused, with ReasonValue.
func (e *Encoder) AppendSample(dst []byte, s *ssf.SSFSample, at int64) ([]byte, error) {
	if s.Value-s.Value != 0 {
		e.Counts.NonFinite++
		return dst, ReasonValue
	}
	if s.Timestamp != 0 {
		at = s.Timestamp
	}
	dst = append(dst, `{"@timestamp":`...)
	dst = e.TimeNanos(dst, at)
	dst = append(dst, `,"kind":"sample",`...)
	dst = e.appendSampleMembers(dst, s)
	return append(dst, '}'), nil
}

// appendSampleMembers leaves out a value that is not finite: within a span its neighbours are worth keeping.
func (e *Encoder) appendSampleMembers(dst []byte, s *ssf.SSFSample) []byte {
	if s.Message != "" {
		dst = append(dst, `"message":`...)
		dst = e.Text(dst, s.Message)
		dst = append(dst, ',')
	}
	dst = append(dst, `"metric":"`...)
	dst = appendName(dst, metricNames[:], int32(s.Metric))
	dst = append(dst, `","name":`...)
	dst = e.Text(dst, s.Name)
	if s.SampleRate != 0 {
		dst = e.appendFloat32(dst, `,"sample_rate":`, s.SampleRate)
	}
	if s.Scope != ssf.SSFSample_DEFAULT {
		dst = append(dst, `,"scope":"`...)
		dst = appendName(dst, scopeNames[:], int32(s.Scope))
		dst = append(dst, '"')
	}
	if s.Metric == ssf.SSFSample_STATUS || s.Status != ssf.SSFSample_OK {
		dst = append(dst, `,"status":"`...)
		dst = appendName(dst, statusNames[:], int32(s.Status))
		dst = append(dst, '"')
	}
	dst = append(dst, `,"tags":`...)
	dst = e.AppendTags(dst, s.Tags)
	if s.Timestamp != 0 {
		dst = append(dst, `,"timestamp":`...)
		dst = e.TimeNanos(dst, s.Timestamp)
	}
	if s.Unit != "" {
		dst = append(dst, `,"unit":`...)
		dst = e.Text(dst, s.Unit)
	}
	return e.appendFloat32(dst, `,"value":`, s.Value)
}

// appendFloat32 appends nothing for what is not finite.
func (e *Encoder) appendFloat32(dst []byte, field string, v float32) []byte {
	start := len(dst)
	dst, ok := e.Float32(append(dst, field...), v)
	if !ok {
		return dst[:start]
	}
	return dst
}

var (
	metricNames = [...]string{"counter", "gauge", "histogram", "set", "status"}
	scopeNames  = [...]string{"default", "local", "global"}
	statusNames = [...]string{"ok", "warning", "critical", "unknown"}
)

// appendName appends the number of what has no name, without quotes either way.
func appendName(dst []byte, names []string, n int32) []byte {
	if uint32(n) < uint32(len(names)) {
		return append(dst, names[n]...)
	}
	return jsonappend.Int(dst, int64(n))
}
