package traceot

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/opentracing/opentracing-go"
	"github.com/opentracing/opentracing-go/log"

	"github.com/veneurd/veneur/trace"
)

// span is one of ours with OpenTracing's methods. Those after Finish do nothing.
type span struct {
	trace.Span
	tracer *tracer

	mu       sync.Mutex
	baggage  map[string]string
	finished bool
}

// live calls f unless the span is finished.
func (s *span) live(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.finished {
		f()
	}
}

// Finish ends the span now.
func (s *span) Finish() { s.FinishWithOptions(opentracing.FinishOptions{}) }

// FinishWithOptions ends the span at the time given. Of the records only errors are kept.
func (s *span) FinishWithOptions(o opentracing.FinishOptions) {
	for _, record := range o.LogRecords {
		s.LogFields(record.Fields...)
	}
	for _, data := range o.BulkLogData {
		s.Log(data)
	}
	s.live(func() {
		s.finished = true
		if o.FinishTime.IsZero() {
			s.Span.Finish()
		} else {
			s.Span.FinishAt(o.FinishTime)
		}
	})
}

// Context returns the span's context, which works after Finish.
func (s *span) Context() opentracing.SpanContext {
	s.mu.Lock()
	defer s.mu.Unlock()
	return spanContext{local: s.Span, baggage: s.baggage}
}

// SetOperationName gives the span another name.
func (s *span) SetOperationName(name string) opentracing.Span {
	s.live(func() { s.Span.SetName(name) })
	return s
}

// SetTag gives the tag its value as text. The tag error says whether the span failed.
func (s *span) SetTag(key string, value any) opentracing.Span {
	written := text(value) // by code of the value's own, which may use the span
	s.live(func() {
		if key == "error" {
			if failed, err := strconv.ParseBool(written); err == nil {
				s.Span.SetError(failed)
				return
			}
			s.Span.SetError(true)
		}
		s.Span.SetTag(key, written)
	})
	return s
}

func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

// LogFields keeps errors: a field of that kind, or the message of an event that is called error.
func (s *span) LogFields(fields ...log.Field) {
	failed, message := false, ""
	for _, f := range fields {
		if err, ok := f.Value().(error); ok && err != nil {
			s.live(func() { s.Span.Error(err) })
			return
		}
		switch f.Key() {
		case "event":
			failed = text(f.Value()) == "error"
		case "message":
			message = text(f.Value())
		}
	}
	if failed {
		s.live(func() {
			s.Span.SetError(true)
			if message != "" {
				s.Span.SetTag("error.msg", message)
			}
		})
	}
}

// LogKV is LogFields for keys and values in turns. What is no such list is not kept.
func (s *span) LogKV(pairs ...any) {
	if fields, err := log.InterleavedKVToFields(pairs...); err == nil {
		s.LogFields(fields...)
	}
}

// SetBaggageItem gives an item to the span and to children that are started afterwards, in this process and in others.
func (s *span) SetBaggageItem(key, value string) opentracing.Span {
	s.live(func() {
		items := make(map[string]string, len(s.baggage)+1)
		maps.Copy(items, s.baggage)
		items[key] = value
		s.baggage = items
	})
	return s
}

// BaggageItem returns an item, or "".
func (s *span) BaggageItem(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.baggage[key]
}

// Tracer returns the tracer that started the span.
func (s *span) Tracer() opentracing.Tracer { return s.tracer }

// LogEvent is a deprecated form of LogFields.
func (s *span) LogEvent(event string) { s.LogFields(log.Event(event)) }

// LogEventWithPayload is a deprecated form of LogFields.
func (s *span) LogEventWithPayload(event string, payload any) {
	s.LogFields(log.Event(event), log.Object("payload", payload))
}

// Log is a deprecated form of LogFields.
func (s *span) Log(data opentracing.LogData) {
	s.LogEventWithPayload(data.Event, data.Payload)
}
