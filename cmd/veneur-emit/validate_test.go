package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is refused is refused before anything is opened: nothing listens here, and nothing is missed.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		why  string
	}{
		{"nothing", nil, "nothing to send: give -count"},
		{"only a name", []string{"-name", "a"}, "nothing to send"},
		{"unknown flag", []string{"-foo"}, "flag provided but not defined: -foo\nveneur-emit: -help lists the flags"},
		{"B130 no name", []string{"-count", "1"}, "-name is required"},
		{"B130 an empty name", []string{"-name", "", "-gauge", "1"}, "-name is required"},
		{"B130 no name for a command", []string{"-command", "true"}, "-name is required"},
		{"B130 no name for a span", []string{"-ssf", "-trace_id", "1"}, "-name is required"},
		{"B134 timing without a unit", []string{"-name", "a", "-timing", "5"}, "-timing: the unit is missing: write 5ms for milliseconds, or 5s"},
		{"timing that is nonsense", []string{"-name", "a", "-timing", "soon"}, "write a duration with its unit, such as 5ms"},
		{"a negative timing", []string{"-name", "a", "-timing", "-5ms"}, "nothing takes less than no time"},
		{"a count that is no number", []string{"-name", "a", "-count", "many"}, "-count: write a finite number"},
		{"NaN", []string{"-name", "a", "-gauge", "NaN"}, "-gauge: write a finite number"},
		{"Inf", []string{"-name", "a", "-count", "-inf"}, "-count: write a finite number"},
		{"past float64", []string{"-name", "a", "-count", "1e309"}, "-count: write a finite number"},
		{"an empty member", []string{"-name", "a", "-set", ""}, "-set needs a member"},
		{"B135 no command", []string{"-name", "a", "-command"}, "-command needs a command"},
		{"a command and a timing", []string{"-name", "a", "-timing", "1s", "-command", "true"}, "leave -timing out"},
		{"an argument", []string{"-name", "a", "-count", "1", "true"}, `unexpected argument "true": flags go before it; to time a command`},
		{"a flag without its dash", []string{"name", "a", "-count", "1"}, `unexpected argument "name": is it a flag? Write -name`},
		{"two dashes", []string{"-name", "a", "-", "-"}, `unexpected argument "-"`},

		{"unknown mode", []string{"-mode", "span"}, "-mode: write one of metric, event, sc"},
		{
			"an event flag among those of a metric",
			[]string{"-mode", "metric", "-e_title", "t"},
			"-e_title describes an event, and -mode metric asks for a metric or a span: send one at a time",
		},
		{
			"a metric flag among those of an event",
			[]string{"-e_title", "t", "-e_text", "x", "-name", "a"},
			"-name describes a metric or a span, and -e_text asks for an event",
		},
		{"a check flag among those of an event", []string{"-e_title", "t", "-e_text", "x", "-sc_msg", "m"}, "-sc_msg describes a service check"},
		{"a span flag among those of a check", []string{"-sc_name", "t", "-sc_status", "0", "-trace_id", "1"}, "-trace_id describes a metric or a span"},
		{"a metric flag with -mode event", []string{"-mode", "event", "-count", "1"}, "-count describes a metric or a span, and -mode event asks for"},
		{"an event over SSF", []string{"-ssf", "-e_title", "t", "-e_text", "x"}, "-ssf describes a metric or a span"},
		{"an event and a command", []string{"-e_title", "t", "-e_text", "x", "-command", "true"}, "-command describes a metric"},

		{"an event without a title", []string{"-e_text", "x"}, "-e_title is required"},
		{"an event without a text", []string{"-e_title", "t"}, "-e_text is required"},
		{"-mode event alone", []string{"-mode", "event"}, "-e_title is required"},
		{"priority", []string{"-e_title", "t", "-e_text", "x", "-e_priority", "high"}, "-e_priority: write one of normal, low"},
		{"alert type", []string{"-e_title", "t", "-e_text", "x", "-e_alert_type", "fatal"}, "-e_alert_type: write one of info, error, warning, success"},
		{"time of an event", []string{"-e_title", "t", "-e_text", "x", "-e_time", "noon"}, "-e_time: write unix seconds, or a date"},
		{"an argument of an event", []string{"-e_title", "t", "-e_text", "two", "words"}, `unexpected argument "words"`},

		{"B132 status 9", []string{"-mode", "sc", "-sc_name", "c", "-sc_status", "9"}, "-sc_status: write 0 or OK, 1 or WARNING"},
		{"B132 status -1", []string{"-sc_name", "c", "-sc_status", "-1"}, "-sc_status: write 0 or OK"},
		{"B132 status 0x1", []string{"-sc_name", "c", "-sc_status", "01"}, "-sc_status: write 0 or OK"},
		{"B132 no status", []string{"-sc_name", "c"}, "-sc_status is required"},
		{"B132 an empty status", []string{"-sc_name", "c", "-sc_status", ""}, "-sc_status: write 0 or OK"},
		{"a check without a name", []string{"-sc_status", "0"}, "-sc_name is required"},
		{"an argument of a check", []string{"-sc_name", "c", "-sc_status", "0", "x"}, `unexpected argument "x"`},

		{"a span without -ssf", []string{"-name", "a", "-count", "1", "-trace_id", "1"}, "-trace_id describes a span, and spans go over SSF: add -ssf"},
		{"an error without -ssf", []string{"-name", "a", "-count", "1", "-error"}, "-error describes a span"},
		{"nothing but a span of no trace", []string{"-ssf", "-name", "a", "-indicator"}, "a span needs -trace_id or VENEUR_EMIT_TRACE_ID"},
		{
			"a span that ends before it starts",
			[]string{"-ssf", "-name", "a", "-trace_id", "1", "-span_starttime", "1700000001", "-span_endtime", "1700000000"},
			"-span_endtime is before -span_starttime",
		},
		{"a span that is still to start", []string{"-ssf", "-name", "a", "-trace_id", "1", "-span_starttime", "2300-01-01"}, "-span_starttime is still to come"},
		{"a trace that is no number", []string{"-ssf", "-name", "a", "-trace_id", "abc"}, `invalid value "abc" for flag -trace_id`},
		{"B067 a gauge that SSF cannot carry", []string{"-ssf", "-name", "a", "-gauge", "1e39"}, "-gauge 1e+39 is beyond ±3.4028235e+38"},
		{"B067 a count that SSF cannot carry", []string{"-ssf", "-name", "a", "-count", "-1e39"}, "leave -ssf out"},

		{"a metric flag with -", []string{"-name", "a", "-"}, "-name says nothing about -, which sends lines as they are"},
		{"-ssf with -", []string{"-ssf", "-"}, "-ssf says nothing about -"},
		{"-tag with -", []string{"-tag", "a", "-"}, "-tag says nothing about -"},

		{"B118 no port", []string{"-hostport", "127.0.0.1", "-name", "a", "-count", "1"}, "has no port: write 127.0.0.1:8126"},
		{"B118 a path without a scheme", []string{"-hostport", "/run/s", "-name", "a", "-count", "1"}, "write unix:///run/s for a stream or unixgram:///run/s"},
		{"B118 an unknown scheme", []string{"-hostport", "statsd://h:1", "-name", "a", "-count", "1"}, `unknown scheme "statsd"`},
		{"B092 IPv6 without brackets", []string{"-hostport", "::1:8126", "-name", "a", "-count", "1"}, "stands in brackets, as in [::1]:8126"},
		{"port 0", []string{"-hostport", "127.0.0.1:0", "-name", "a", "-count", "1"}, "nothing can be sent to port 0"},
		{"B091 http without gRPC", []string{"-hostport", "http://h:1", "-name", "a", "-count", "1"}, "http is for addresses of gRPC only"},
		{"B091 gRPC over udp", []string{"-grpc", "-hostport", "udp://h:1", "-name", "a", "-count", "1"}, "gRPC does not go over udp"},
		{"gRPC to nowhere", []string{"-grpc", "-name", "a", "-count", "1"}, "-grpc needs -hostport"},
		{"a proxy without gRPC", []string{"-proxy", "h:1", "-name", "a", "-count", "1"}, "-proxy is for gRPC: add -grpc"},
		{"a proxy without a port", []string{"-grpc", "-hostport", "h:1", "-proxy", "h", "-name", "a", "-count", "1"}, "-proxy: write host:port"},
		{"a proxy of another kind", []string{"-grpc", "-hostport", "h:1", "-proxy", "socks5://h:1", "-name", "a", "-count", "1"}, "-proxy: write host:port"},
		{"a bad address before a command is run", []string{"-hostport", "nowhere", "-name", "a", "-command", "true"}, "has no port"},
		{"a bad time before a command is run", []string{"-ssf", "-span_starttime", "noon", "-name", "a", "-command", "true"}, "-span_starttime: write"},
	} {
		t.Run(tt.name, func(t *testing.T) { requireRefused(t, emit(t, tt.args...), tt.why) })
	}
}

func TestAPasswordIsNotRepeated(t *testing.T) {
	r := emit(t, "-grpc", "-hostport", "h:1", "-proxy", "https://me:secret@h:1", "-name", "a", "-count", "1")
	requireRefused(t, r, "-proxy")
	require.NotContains(t, r.err, "secret")
}

func TestHelp(t *testing.T) {
	for _, help := range []string{"-h", "-help", "--help"} {
		r := emit(t, help)
		require.Zero(t, r.code)
		require.Empty(t, r.err)
		require.Contains(t, r.out, "veneur-emit [flags] -command COMMAND")
		for _, name := range strings.Fields(originalFlags) {
			require.Contains(t, r.out, "\n  -"+name, "the original had -%s", name)
		}
	}
}

const originalFlags = `hostport mode debug command name gauge timing count set tag ssf grpc proxy
	e_title e_text e_time e_hostname e_aggr_key e_priority e_source_type e_alert_type e_event_tags
	sc_name sc_status sc_time sc_hostname sc_tags sc_msg
	trace_id parent_span_id span_service span_starttime span_endtime span_tags indicator error`

func TestDefaults(t *testing.T) {
	for _, tt := range []struct{ flags, want string }{
		{"", "udp://127.0.0.1:8126"},
		{"-ssf", "udp://127.0.0.1:8128"},
		{"-hostport h:1", "udp://h:1"},
		{"-hostport h:1 -grpc", "grpc://h:1"},
		{"-hostport grpc://h:1", "grpc://h:1"},
		{"-hostport http://h:1 -grpc -ssf", "grpc://h:1"},
		{"-hostport https://h:1 -grpc", "https://h:1"},
		{"-hostport udp://[fe80::1%lo]:8125", "udp://[fe80::1%lo]:8125"},
		{"-hostport unixgram://@abstract", "unixgram://@abstract"},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			o, err := parse(append(strings.Fields(tt.flags), "-name", "a", "-count", "1"), nil, nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, o.to.String())
		})
	}
}

func TestDebugTellsWhatGoesWhere(t *testing.T) {
	p := listen(t, "udp")
	r := emit(t, "-debug", "-hostport", p.hostport, "-name", "a", "-count", "1")
	require.Equal(t, result{err: "veneur-emit: sending \"a:1|c\" to " + p.hostport + "\n"}, r)
	r = emit(t, "-debug", "-ssf", "-hostport", p.hostport, "-name", "a", "-count", "1")
	require.Contains(t, r.err, `name:"a"`)
}
