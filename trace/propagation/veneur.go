package propagation

import (
	"strconv"

	"github.com/veneurd/veneur/trace"
)

const (
	headerOTTraceID = "Ot-Tracer-Traceid"
	headerOTSpanID  = "Ot-Tracer-Spanid"
	headerOTSampled = "Ot-Tracer-Sampled"
)

func readOpenTracing(get func(string) []string) (sc trace.SpanContext, ok bool) {
	if sc.TraceIDHigh, sc.TraceID, ok = parseTraceID(first(get(headerOTTraceID))); !ok {
		return sc, false
	}
	if sc.SpanID, ok = parseSpanID(first(get(headerOTSpanID))); !ok {
		return sc, false
	}
	sc.Sampling = parseSampling(first(get(headerOTSampled)))
	return sc, true
}

func writeOpenTracing(set func(key, value string), sc trace.SpanContext) {
	set(headerOTTraceID, traceID(sc.TraceIDHigh, sc.TraceID))
	set(headerOTSpanID, spanID(sc.SpanID))
	set(headerOTSampled, strconv.FormatBool(sc.Sampling != trace.NotSampled))
}

// decimal makes a format of two ids in decimal digits. There is no room in it for a decision, nor for the upper half of a trace id.
func decimal(name, keyTrace, keySpan, keyParent string) codec {
	return codec{
		name:   name,
		fields: []string{keyTrace, keySpan},
		read: func(get func(string) []string) (sc trace.SpanContext, ok bool) {
			if sc.TraceID, ok = parseDecimal(first(get(keyTrace))); !ok {
				return sc, false
			}
			span := first(get(keySpan))
			if span == "" {
				span = first(get(keyParent))
			}
			sc.SpanID, ok = parseDecimal(span)
			return sc, ok
		},
		write: func(set func(key, value string), sc trace.SpanContext) {
			set(keyTrace, strconv.FormatInt(sc.TraceID, 10))
			set(keySpan, strconv.FormatInt(sc.SpanID, 10))
		},
	}
}
