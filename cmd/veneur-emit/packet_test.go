package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/dogstatsd"
)

func TestPackets(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"count", []string{"-name", "a.b", "-count", "3"}, "a.b:3|c"},
		{"B134 counts may be fractions", []string{"-name", "a", "-count", "1.5"}, "a:1.5|c"},
		{"a negative count", []string{"-name", "a", "-count", "-2"}, "a:-2|c"},
		{"a count of zero is a count", []string{"-name", "a", "-count", "0"}, "a:0|c"},
		{"a large count without an exponent", []string{"-name", "a", "-count", "16777217"}, "a:16777217|c"},
		{"gauge", []string{"-name", "a", "-gauge", "-7.25"}, "a:-7.25|g"},
		{"B134 timing, in milliseconds", []string{"-name", "a", "-timing", "1.5s"}, "a:1500|ms"},
		{"timing below a millisecond", []string{"-name", "a", "-timing", "250µs"}, "a:0.25|ms"},
		{"timing of nothing", []string{"-name", "a", "-timing", "0s"}, "a:0|ms"},
		{"set", []string{"-name", "a", "-set", "user:7"}, "a:user:7|s"},
		{
			"several in one packet",
			[]string{"-name", "a", "-tag", "x:y", "-set", "m", "-timing", "5ms", "-count", "1", "-gauge", "2"},
			"a:2|g|#x:y\na:1|c|#x:y\na:5|ms|#x:y\na:m|s|#x:y",
		},
		{"-mode metric", []string{"-mode", "metric", "-name", "a", "-count", "1"}, "a:1|c"},
		{"tags", []string{"-name", "a", "-count", "1", "-tag", "x:y,z:1:2"}, "a:1|c|#x:y,z:1:2"},
		{"B133 a bare tag stays bare", []string{"-name", "a", "-count", "1", "-tag", "foo"}, "a:1|c|#foo"},
		{"B015 empty tags vanish", []string{"-name", "a", "-count", "1", "-tag", ",,x,"}, "a:1|c|#x"},
		{"B131 name", []string{"-name", "a b|c:d", "-count", "1"}, "a b_c_d:1|c"},
		{"B131 tag", []string{"-name", "a", "-count", "1", "-tag", "bad|tag"}, "a:1|c|#bad_tag"},
		{"B012 a newline in a tag", []string{"-name", "a", "-count", "1", "-tag", "k:v\nx:9|c"}, "a:1|c|#k:v_x:9_c"},
		{"B012 a comma ends a tag", []string{"-name", "a", "-count", "1", "-tag", "k:a,b"}, "a:1|c|#k:a,b"},
		{"a newline in a name", []string{"-name", "a\nb", "-count", "1"}, "a_b:1|c"},
		{"a newline in a member", []string{"-name", "a", "-set", "m|s\nx:9|c"}, "a:m_s_x:9_c|s"},
		{"control bytes", []string{"-name", "a\x00\x1b\x7f\r", "-count", "1", "-tag", "k\x00:\r"}, "a____:1|c|#k_:_"},
		{"not UTF-8", []string{"-name", "a\xff", "-count", "1", "-tag", "k:\xc3"}, "a_:1|c|#k:_"},
		{"UTF-8 stays", []string{"-name", "größe", "-count", "1", "-tag", "k:日本"}, "größe:1|c|#k:日本"},
		{"a name that would begin an event", []string{"-name", "_e{1", "-count", "1"}, "_e_1:1|c"},
		{"a name that would begin a check", []string{"-name", "_sc|x", "-count", "1"}, "_sc_x:1|c"},
		{"magic tags pass", []string{"-name", "a", "-count", "1", "-tag", "veneurlocalonly"}, "a:1|c|#veneurlocalonly"},

		{"event", []string{"-e_title", "deploy", "-e_text", "done"}, "_e{6,4}:deploy|done"},
		{"-mode event", []string{"-mode", "event", "-e_title", "t", "-e_text", ""}, "_e{1,0}:t|"},
		{
			"a whole event",
			[]string{
				"-e_title", "t", "-e_text", "x", "-e_time", "1700000000", "-e_hostname", "h", "-e_aggr_key", "k",
				"-e_priority", "low", "-e_source_type", "s", "-e_alert_type", "error", "-e_event_tags", "a:b", "-tag", "c",
			},
			"_e{1,1}:t|x|d:1700000000|h:h|k:k|p:low|s:s|t:error|#a:b,c",
		},
		{
			"defaults may be said",
			[]string{"-e_title", "t", "-e_text", "x", "-e_priority", "normal", "-e_alert_type", "info", "-e_time", ""},
			"_e{1,1}:t|x",
		},
		{"lengths are bytes", []string{"-e_title", "é", "-e_text", "日本"}, "_e{2,6}:é|日本"},
		{"pipes stay in texts", []string{"-e_title", "a|b", "-e_text", "c|t:error|#d"}, "_e{3,12}:a|b|c|t:error|#d"},
		{"a newline that was typed", []string{"-e_title", "t", "-e_text", `a\nb`}, `_e{1,4}:t|a\nb`},
		{"a real newline", []string{"-e_title", "t\nu", "-e_text", "a\nb"}, `_e{4,4}:t\nu|a\nb`},
		{"event fields keep their places", []string{
			"-e_title", "t", "-e_text", "x", "-e_hostname", "h|p:low\n", "-e_aggr_key", "|#a",
			"-e_source_type", "s\n_e{1,1}:a|b",
		}, "_e{1,1}:t|x|h:h_p:low_|k:_#a|s:s__e{1,1}:a_b"},
		{"an event that is not UTF-8", []string{"-e_title", "\xff", "-e_text", "\xc3x"}, "_e{1,2}:_|_x"},
		{"control bytes of an event", []string{"-e_title", "t", "-e_text", "\x00\r"}, "_e{1,2}:t|\x00\r\r"},

		{"check", []string{"-sc_name", "db", "-sc_status", "0"}, "_sc|db|0"},
		{"-mode sc", []string{"-mode", "sc", "-sc_name", "db", "-sc_status", "3"}, "_sc|db|3"},
		{"a status by name", []string{"-sc_name", "db", "-sc_status", "CRITICAL"}, "_sc|db|2"},
		{"a status in any letters", []string{"-sc_name", "db", "-sc_status", "warning"}, "_sc|db|1"},
		{"OK and UNKNOWN", []string{"-sc_name", "ok", "-sc_status", "ok"}, "_sc|ok|0"},
		{"a whole check", []string{
			"-sc_name", "db", "-sc_status", "UNKNOWN", "-sc_time", "1700000000", "-sc_hostname", "h",
			"-sc_tags", "a:b", "-tag", "c", "-sc_msg", "gone",
		}, "_sc|db|3|d:1700000000|h:h|#a:b,c|m:gone"},
		{
			"check texts keep their places",
			[]string{"-sc_name", "a|2\nb", "-sc_status", "0", "-sc_msg", "x|#y\nz", "-sc_hostname", "h|m:n"},
			`_sc|a_2_b|0|h:h_m:n|m:x_#y\nz`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := listen(t, "udp")
			requireSent(t, emit(t, append([]string{"-hostport", p.hostport}, tt.args...)...))
			require.Equal(t, tt.want, p.packet())
			p.empty()
		})
	}
}

// However the newline of an event is written, one arrives, and the lengths are right.
func TestNewlinesOfEventsArriveOnce(t *testing.T) {
	for _, text := range []string{"über\\nden Rand", "über\nden Rand"} {
		p := listen(t, "udp")
		requireSent(t, emit(t, "-hostport", p.hostport, "-e_title", text, "-e_text", text))
		var parser dogstatsd.Parser
		parser.Reset([]byte(p.packet()), 0)
		line := parser.Next()
		require.Equal(t, dogstatsd.EventLine, line.Kind)
		require.Equal(t, "über\nden Rand", string(line.Event.Title))
		require.Equal(t, "über\nden Rand", string(line.Event.Text))
	}
}

func TestPacketsOverEveryTransport(t *testing.T) {
	for _, network := range []string{"udp", "tcp", "unix", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			p := listen(t, network)
			ended := emitting(t, "", "-hostport", p.hostport, "-name", "a", "-count", "1", "-gauge", "2")
			require.Equal(t, "a:2|g\na:1|c", p.packet())
			requireSent(t, <-ended)
		})
	}
}

// The longest message that daemons take goes, and one byte more is told.
func TestLongMessages(t *testing.T) {
	p := listen(t, "udp")
	head := "_e{1,65490}:t|"
	text := strings.Repeat("x", maxMessage-len(head))
	requireRefused(t, emit(t, "-hostport", p.hostport, "-e_title", "t", "-e_text", text+"xxxx"), "that makes a message of 65511 bytes, and daemons take 65507")
	p.empty()
	requireSent(t, emit(t, "-hostport", p.hostport, "-e_title", "t", "-e_text", text))
	require.Len(t, p.packet(), maxMessage)
}
