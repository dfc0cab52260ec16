package jsondoc

import (
	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/ssf"
)

// AppendSpan appends the document of a span. There is none that it refuses: the error is always nil.
func (e *Encoder) AppendSpan(dst []byte, s *ssf.SSFSpan) ([]byte, error) {
	dst, _ = e.appendSpan(dst, s, nil)
	return dst, nil
}

// appendSpan takes the samples from w if there is one. It is false if one of them is not plain; they are all looked at even where they are
// not written.
func (e *Encoder) appendSpan(dst []byte, s *ssf.SSFSpan, w *wireSpan) (_ []byte, ok bool) {
	dst = append(dst, `{"@timestamp":`...)
	dst = e.TimeNanos(dst, s.StartTimestamp)
	duration, _ := s.Duration()
	dst = append(dst, `,"duration":`...)
	dst = jsonappend.Int(dst, int64(duration))
	if s.Error {
		dst = append(dst, `,"error":true,"id":`...)
	} else {
		dst = append(dst, `,"error":false,"id":`...)
	}
	dst = AppendSpanID(dst, s.Id)
	if s.Indicator {
		dst = append(dst, `,"indicator":true,"kind":"span","name":`...)
	} else {
		dst = append(dst, `,"indicator":false,"kind":"span","name":`...)
	}
	dst = e.Text(dst, s.Name)
	if s.ParentId != 0 {
		dst = append(dst, `,"parent_id":`...)
		dst = AppendSpanID(dst, s.ParentId)
	}
	if s.RootStartTimestamp != 0 {
		dst = append(dst, `,"root_timestamp":`...)
		dst = e.TimeNanos(dst, s.RootStartTimestamp)
	}
	if w != nil {
		if dst, ok = e.appendWireSamples(dst, w); !ok {
			return dst, false
		}
	} else if e.samples && len(s.Metrics) > 0 {
		dst = append(dst, `,"samples":[{`...)
		for i := range s.Metrics {
			if i > 0 {
				dst = append(dst, `},{`...)
			}
			dst = e.appendSampleMembers(dst, &s.Metrics[i])
		}
		dst = append(dst, `}]`...)
	}
	dst = append(dst, `,"service":`...)
	dst = e.Text(dst, s.Service)
	dst = append(dst, `,"tags":`...)
	dst = e.AppendTags(dst, s.Tags)
	dst = append(dst, `,"trace_id":`...)
	dst = AppendTraceID(dst, s.TraceId)
	if s.Version != 0 {
		dst = append(dst, `,"version":`...)
		dst = jsonappend.Int(dst, int64(s.Version))
	}
	return append(dst, '}'), true
}

func (e *Encoder) appendWireSamples(dst []byte, w *wireSpan) (_ []byte, ok bool) {
	for i := range w.samples {
		sample, ok := w.sampleAt(i)
		switch {
		case !ok:
			return dst, false
		case !e.samples:
			continue
		case i == 0:
			dst = append(dst, `,"samples":[{`...)
		default:
			dst = append(dst, `},{`...)
		}
		dst = e.appendSampleMembers(dst, sample)
	}
	if e.samples && len(w.samples) > 0 {
		dst = append(dst, `}]`...)
	}
	return dst, true
}
