package propagation

import (
	"strings"

	"github.com/veneurd/veneur/trace"
)

const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"

	parentLength = len("00-") + 32 + len("-") + 16 + len("-00")

	// maxState is how much of a tracestate is passed on: what the recommendation asks for at least. Entries beyond it are left out.
	maxState = 512
)

// readW3C reads version 00, and of later versions the part that is as in 00.
func readW3C(get func(string) []string) (sc trace.SpanContext, ok bool) {
	s := strings.Trim(one(get(headerParent)), " \t")
	switch {
	case len(s) < parentLength || s != strings.ToLower(s):
		return sc, false
	case s[2] != '-' || s[35] != '-' || s[52] != '-':
		return sc, false
	case len(s) > parentLength && (s[:2] == "00" || s[parentLength] != '-'):
		return sc, false
	}
	version, ok := parseHex(s[:2])
	if !ok || version == 0xff {
		return sc, false
	}
	if sc.TraceIDHigh, sc.TraceID, ok = parseTraceID(s[3:35]); !ok {
		return sc, false
	}
	if sc.SpanID, ok = parseSpanID(s[36:52]); !ok {
		return sc, false
	}
	flags, ok := parseHex(s[53:55])
	if !ok {
		return sc, false
	}
	sc.Sampling = trace.NotSampled
	if flags&1 != 0 {
		sc.Sampling = trace.Sampled
	}
	sc.State = joinState(get(headerState))
	return sc, true
}

// joinState makes one list of all headers, cut at an entry.
func joinState(values []string) string {
	s := strings.Trim(strings.Join(values, ","), " \t,")
	for len(s) > maxState {
		s = s[:max(strings.LastIndexByte(s, ','), 0)]
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ""
		}
	}
	return s
}

func writeW3C(set func(key, value string), sc trace.SpanContext) {
	b := make([]byte, 0, parentLength)
	b = append(b, "00-"...)
	b = appendHex(appendHex(b, sc.TraceIDHigh), uint64(sc.TraceID))
	b = append(b, '-')
	b = appendHex(b, uint64(sc.SpanID))
	if sc.Sampling == trace.NotSampled {
		b = append(b, "-00"...)
	} else {
		b = append(b, "-01"...)
	}
	set(headerParent, string(b))
	if sc.State != "" {
		set(headerState, sc.State)
	}
}
