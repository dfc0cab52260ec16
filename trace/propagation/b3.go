package propagation

import (
	"strings"

	"github.com/veneurd/veneur/trace"
)

const (
	headerB3        = "B3"
	headerB3TraceID = "X-B3-Traceid"
	headerB3SpanID  = "X-B3-Spanid"
	headerB3Sampled = "X-B3-Sampled"
	headerB3Flags   = "X-B3-Flags"
)

func readB3(get func(string) []string) (sc trace.SpanContext, ok bool) {
	if sc.TraceIDHigh, sc.TraceID, ok = parseTraceID(first(get(headerB3TraceID))); !ok {
		return sc, false
	}
	if sc.SpanID, ok = parseSpanID(first(get(headerB3SpanID))); !ok {
		return sc, false
	}
	sc.Sampling = parseSampling(first(get(headerB3Sampled)))
	if first(get(headerB3Flags)) == "1" {
		sc.Sampling = trace.SamplingDebug
	}
	return sc, true
}

func writeB3(set func(key, value string), sc trace.SpanContext) {
	set(headerB3TraceID, traceID(sc.TraceIDHigh, sc.TraceID))
	set(headerB3SpanID, spanID(sc.SpanID))
	if sc.Sampling == trace.SamplingDebug {
		set(headerB3Flags, "1") // which implies that it is sampled
		return
	}
	set(headerB3Sampled, sampling(sc.Sampling))
}

// readB3Single reads trace id, span id, and perhaps the decision and the parent, which is of no use. A decision alone is no context.
func readB3Single(get func(string) []string) (sc trace.SpanContext, ok bool) {
	parts := strings.Split(first(get(headerB3)), "-")
	if len(parts) < 2 || len(parts) > 4 {
		return sc, false
	}
	if sc.TraceIDHigh, sc.TraceID, ok = parseTraceID(parts[0]); !ok {
		return sc, false
	}
	if sc.SpanID, ok = parseSpanID(parts[1]); !ok {
		return sc, false
	}
	if len(parts) > 2 {
		sc.Sampling = parseSampling(parts[2])
	}
	return sc, true
}

func writeB3Single(set func(key, value string), sc trace.SpanContext) {
	set(headerB3, traceID(sc.TraceIDHigh, sc.TraceID)+"-"+spanID(sc.SpanID)+"-"+sampling(sc.Sampling))
}

func parseSampling(s string) trace.Sampling {
	switch s {
	case "1", "true", "True":
		return trace.Sampled
	case "0", "false", "False":
		return trace.NotSampled
	case "d":
		return trace.SamplingDebug
	}
	return trace.SamplingUnknown
}

// sampling returns the decision as B3 has it. Where nobody decided the trace is kept, since we keep all.
func sampling(s trace.Sampling) string {
	switch s {
	case trace.NotSampled:
		return "0"
	case trace.SamplingDebug:
		return "d"
	}
	return "1"
}
