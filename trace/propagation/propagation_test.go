package propagation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
)

const (
	trace128 = "4bf92f3577b34da6a3ce929d0e0e4736"
	high     = 0x4bf92f3577b34da6
	low      = -0x5c316d62f1f1b8ca
	span64   = "00f067aa0ba902b7"
	span     = 0x00f067aa0ba902b7
)

func of(traceID, spanID int64, high uint64, sampling trace.Sampling, state string) trace.SpanContext {
	return trace.SpanContext{TraceID: traceID, SpanID: spanID, TraceIDHigh: high, Sampling: sampling, State: state}
}

// header makes headers of lines "name: value".
func header(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok {
			h.Add(key, value)
		}
	}
	return h
}

func text(h http.Header) string {
	var b strings.Builder
	for _, f := range propagation.Known() {
		for _, key := range f.Fields() {
			for _, value := range h.Values(key) {
				b.WriteString(strings.ToLower(key) + ": " + value + "\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var rows = []struct {
	name  string
	lines string
	want  trace.SpanContext // the zero value: nothing is found
	again string            // what is written in the same format; "" for the same lines
}{
	{"W3C", "traceparent: 00-" + trace128 + "-" + span64 + "-01", of(low, span, high, trace.Sampled, ""), ""},
	{
		"W3C not sampled, with state", "traceparent: 00-" + trace128 + "-" + span64 + "-00\ntracestate: a=b,c=d",
		of(low, span, high, trace.NotSampled, "a=b,c=d"), "",
	},
	{"W3C of 64 bits", "traceparent: 00-00000000000000000000000000000005-0000000000000007-01", of(5, 7, 0, trace.Sampled, ""), ""},
	{
		"W3C with other flags", "traceparent: 00-" + trace128 + "-" + span64 + "-ff",
		of(low, span, high, trace.Sampled, ""),
		"traceparent: 00-" + trace128 + "-" + span64 + "-01",
	},
	{
		"W3C of a later version", "traceparent: cc-" + trace128 + "-" + span64 + "-01-what the future brings",
		of(low, span, high, trace.Sampled, ""),
		"traceparent: 00-" + trace128 + "-" + span64 + "-01",
	},
	{
		"W3C with two states", "traceparent: 00-" + trace128 + "-" + span64 + "-01\ntracestate: a=b\ntracestate: c=d",
		of(low, span, high, trace.Sampled, "a=b,c=d"),
		"traceparent: 00-" + trace128 + "-" + span64 + "-01\ntracestate: a=b,c=d",
	},
	{"W3C of version ff", "traceparent: ff-" + trace128 + "-" + span64 + "-01", trace.SpanContext{}, ""},
	{"W3C of version 00 that is longer", "traceparent: 00-" + trace128 + "-" + span64 + "-01-x", trace.SpanContext{}, ""},
	{"W3C of a later version without a dash", "traceparent: 01-" + trace128 + "-" + span64 + "-01x", trace.SpanContext{}, ""},
	{"W3C in upper case", "traceparent: 00-" + strings.ToUpper(trace128) + "-" + span64 + "-01", trace.SpanContext{}, ""},
	{"W3C without a trace id", "traceparent: 00-00000000000000000000000000000000-" + span64 + "-01", trace.SpanContext{}, ""},
	{"W3C without a lower half", "traceparent: 00-00000000000000010000000000000000-" + span64 + "-01", trace.SpanContext{}, ""},
	{"W3C without a span id", "traceparent: 00-" + trace128 + "-0000000000000000-01", trace.SpanContext{}, ""},
	{"W3C that is short", "traceparent: 00-" + trace128 + "-" + span64, trace.SpanContext{}, ""},
	{"W3C with a letter", "traceparent: 00-" + trace128[:31] + "g-" + span64 + "-01", trace.SpanContext{}, ""},
	{"W3C twice", "traceparent: 00-" + trace128 + "-" + span64 + "-01\ntraceparent: 00-" + trace128 + "-" + span64 + "-01", trace.SpanContext{}, ""},
	{"state alone", "tracestate: a=b", trace.SpanContext{}, ""},

	{
		"B3", "x-b3-traceid: " + trace128 + "\nx-b3-spanid: " + span64 + "\nx-b3-sampled: 0",
		of(low, span, high, trace.NotSampled, ""), "",
	},
	{"B3 of 64 bits", "x-b3-traceid: " + span64 + "\nx-b3-spanid: " + span64 + "\nx-b3-sampled: 1", of(span, span, 0, trace.Sampled, ""), ""},
	{"B3 to debug", "x-b3-traceid: " + span64 + "\nx-b3-spanid: " + span64 + "\nx-b3-flags: 1", of(span, span, 0, trace.SamplingDebug, ""), ""},
	{
		"B3 that decides nothing", "x-b3-traceid: 5\nx-b3-spanid: 7\nx-b3-parentspanid: 1", of(5, 7, 0, trace.SamplingUnknown, ""),
		"x-b3-traceid: 0000000000000005\nx-b3-spanid: 0000000000000007\nx-b3-sampled: 1",
	},
	{"B3 of too many bits", "x-b3-traceid: 1" + trace128 + "\nx-b3-spanid: " + span64, trace.SpanContext{}, ""},
	{"B3 without a span id", "x-b3-traceid: " + trace128, trace.SpanContext{}, ""},

	{"B3 single", "b3: " + trace128 + "-" + span64 + "-d", of(low, span, high, trace.SamplingDebug, ""), ""},
	{"B3 single of 64 bits", "b3: " + span64 + "-" + span64 + "-0", of(span, span, 0, trace.NotSampled, ""), ""},
	{"B3 single with a parent", "b3: " + trace128 + "-" + span64 + "-1-" + span64, of(low, span, high, trace.Sampled, ""), "b3: " + trace128 + "-" + span64 + "-1"},
	{"B3 single with ids alone", "b3: " + trace128 + "-" + span64, of(low, span, high, trace.SamplingUnknown, ""), "b3: " + trace128 + "-" + span64 + "-1"},
	{"B3 single with a decision alone", "b3: 0", trace.SpanContext{}, ""},
	{"B3 single that is long", "b3: " + trace128 + "-" + span64 + "-1-1-1", trace.SpanContext{}, ""},

	{
		"OpenTracing", "ot-tracer-traceid: " + span64 + "\not-tracer-spanid: 0000000000000007\not-tracer-sampled: true",
		of(span, 7, 0, trace.Sampled, ""), "",
	},
	{
		"OpenTracing of 128 bits", "ot-tracer-traceid: " + trace128 + "\not-tracer-spanid: 0000000000000007\not-tracer-sampled: false",
		of(low, 7, high, trace.NotSampled, ""), "",
	},
	{
		"OpenTracing with few digits", "ot-tracer-traceid: AB\not-tracer-spanid: 7", of(0xab, 7, 0, trace.SamplingUnknown, ""),
		"ot-tracer-traceid: 00000000000000ab\not-tracer-spanid: 0000000000000007\not-tracer-sampled: true",
	},
	{"OpenTracing of nothing", "ot-tracer-traceid: 0\not-tracer-spanid: 7", trace.SpanContext{}, ""},

	{"Trace-Id", "trace-id: 123456789\nspan-id: -5", trace.SpanContext{TraceID: 123456789, SpanID: -5}, ""},
	{"Trace-Id with a parent", "trace-id: 123\nparent-id: 7", trace.SpanContext{TraceID: 123, SpanID: 7}, "trace-id: 123\nspan-id: 7"},
	{"X-Trace-Id", "x-trace-id: 123456789\nx-span-id: 5", trace.SpanContext{TraceID: 123456789, SpanID: 5}, ""},
	{"X-Trace-Id unsigned", "x-trace-id: 18446744073709551615\nx-span-id: 5", trace.SpanContext{TraceID: -1, SpanID: 5}, "x-trace-id: -1\nx-span-id: 5"},
	{"X-Trace-Id of others", "x-trace-id: 5d0fe0bc-8c32\nx-span-id: 5", trace.SpanContext{}, ""},
	{"Veneur's", "traceid: 123456789\nspanid: 5", trace.SpanContext{TraceID: 123456789, SpanID: 5}, ""},
	{"Veneur's without a span", "traceid: 123456789\nspanid: 0", trace.SpanContext{}, ""},
	{"Veneur's past 64 bits", "traceid: 99999999999999999999\nspanid: 1", trace.SpanContext{}, ""},
	{"nothing", "", trace.SpanContext{}, ""},
}

func TestFormats(t *testing.T) {
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			h := header(tt.lines)
			got, ok := propagation.Extract(h.Values)
			require.Equal(t, tt.want != (trace.SpanContext{}), ok)
			require.Equal(t, tt.want, got)
			if !ok {
				return
			}
			want := tt.again
			if want == "" {
				want = tt.lines
			}
			found := 0
			for _, f := range propagation.Known() {
				if sc, ok := propagation.Extract(h.Values, f); ok {
					found++
					out := http.Header{}
					propagation.Inject(out.Set, sc, f)
					require.Equal(t, want, text(out), f.String())
				}
			}
			require.Equal(t, 1, found)
		})
	}
}

// Every context survives every format, as far as the format has room for it.
func TestRoundTrip(t *testing.T) {
	for _, sc := range []trace.SpanContext{
		of(low, span, high, trace.Sampled, "a=b"),
		of(1, -1, 0, trace.NotSampled, ""),
		of(-1<<63, 1<<63-1, 1, trace.Sampled, ""),
	} {
		for _, f := range propagation.Known() {
			t.Run(fmt.Sprint(f, sc.TraceID), func(t *testing.T) {
				h := http.Header{}
				propagation.Inject(h.Set, sc, f)
				require.NotEmpty(t, f.Fields())
				got, ok := propagation.Extract(h.Values, f)
				require.True(t, ok)
				want := sc
				if f != propagation.W3C {
					want.State = ""
				}
				if f >= propagation.TraceID {
					want.TraceIDHigh, want.Sampling = 0, trace.SamplingUnknown
				}
				require.Equal(t, want, got)
			})
		}
	}
}

func TestChoice(t *testing.T) {
	h := header("traceid: 1\nspanid: 2\nb3: 0000000000000003-0000000000000004")
	got, ok := propagation.Extract(h.Values, propagation.Veneur, propagation.B3Single)
	require.True(t, ok)
	require.EqualValues(t, 1, got.TraceID)
	got, ok = propagation.Extract(h.Values)
	require.True(t, ok)
	require.EqualValues(t, 3, got.TraceID)
	_, ok = propagation.Extract(h.Values, propagation.W3C)
	require.False(t, ok)
	_, ok = propagation.Extract(h.Values, propagation.Format(99), propagation.Format(0))
	require.False(t, ok)

	out := http.Header{}
	propagation.Inject(out.Set, trace.SpanContext{TraceID: 1}, propagation.W3C)
	propagation.Inject(out.Set, trace.SpanContext{TraceID: 1, SpanID: 1}, propagation.Format(99))
	require.Empty(t, out)
	propagation.Inject(out.Set, trace.SpanContext{TraceID: 1, SpanID: 1})
	require.Equal(t, "traceparent: 00-00000000000000000000000000000001-0000000000000001-01\n"+
		"ot-tracer-traceid: 0000000000000001\not-tracer-spanid: 0000000000000001\not-tracer-sampled: true", text(out))
}

func TestLongState(t *testing.T) {
	h := header("traceparent: 00-" + trace128 + "-" + span64 + "-01")
	for i := range 100 {
		h.Add("tracestate", fmt.Sprintf("key%02d=value", i))
	}
	got, _ := propagation.Extract(h.Values)
	require.LessOrEqual(t, len(got.State), 512)
	require.True(t, strings.HasPrefix(got.State, "key00=value,key01"))
	require.True(t, strings.HasSuffix(got.State, "=value"))
	h.Set("tracestate", strings.Repeat("x", 600))
	got, ok := propagation.Extract(h.Values)
	require.True(t, ok)
	require.Empty(t, got.State)
}

// Headers come from anybody.
func FuzzExtract(f *testing.F) {
	for _, tt := range rows {
		f.Add(tt.lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		h := header(lines)
		for _, format := range propagation.Known() {
			sc, ok := propagation.Extract(h.Values, format)
			if !ok {
				require.Zero(t, sc)
				continue
			}
			require.True(t, sc.Valid())
			out := http.Header{}
			propagation.Inject(out.Set, sc, format)
			again, ok := propagation.Extract(out.Values, format)
			require.True(t, ok)
			if sc.Sampling == trace.SamplingUnknown {
				again.Sampling = trace.SamplingUnknown
			}
			require.Equal(t, sc, again)
		}
	})
}
