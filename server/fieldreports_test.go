package server_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// fieldReport is a fault that people saw elsewhere: what they sent, and what a whole daemon makes of it. docs/field-reports.md says what
// went wrong there.
type fieldReport struct {
	name    string
	config  string // beside a listener and a sink; without it, histograms give nothing
	send    string
	want    []string // everything that the sink gets, ordered
	refused string   // reason and number, "" when nothing is
}

const summary = "aggregates: [count, sum, min, max]\npercentiles: [0.5]"

var fieldReports = []fieldReport{
	{name: "B001 container ids", send: "t:1|g|#env:dev|c:2688d562f649\nu:1|g|c:f6ac8d4e-2157570088", want: []string{"t{env:dev} 1", "u{} 1"}},
	{
		name: "B002 packs of every type", config: summary, send: "p:1:2|c\nq:1:2:7|g\nr:21:43.2:1657|d|#a",
		want: []string{"p{} 3", "q{} 7", "r.50percentile{a} 43.2", "r.count{a} 3", "r.max{a} 1657", "r.min{a} 21", "r.sum{a} 1721.2"},
	},
	{name: "B004 a pack is taken whole or not at all", config: summary, send: "p:1:x:3|h\nq:1::3|c", want: []string{"q{} 4"}, refused: "value 1"},
	{name: "B005 no value is an error", config: summary, send: "r:|h\ns:|s", refused: "value 2"},
	{name: "B006 a member keeps its colons", send: "s:abc:def|s\nu:http://x:80/|s", want: []string{"s{} 1", "u{} 1"}},
	{name: "B007 types are whole words", config: summary, send: "a:1|count\na:1|m\na:1|msx\na:1|hist\na:1|c ", refused: "type 5"},
	{name: "B008 CRLF", send: "w1:1|c\r\nw2:2|c|#a:b\r\nw3:3|c|@0.5\r\n", want: []string{"w1{} 1", "w2{a:b} 2", "w3{} 6"}},
	{name: "B011 pipes inside a tag", send: "e.rq:4294967295|g|#cluster:outbound|60051||x.svc", want: []string{"e.rq{cluster:outbound} 4.294967295e+09"}},
	{name: "B012 as the bytes say", send: "a:1|c|#k:a,b\nx:9|c", want: []string{"a{b,k:a} 1", "x{} 9"}},
	{name: "B015 empty tags", send: "a:1|c|#,,,\na:1|c|#\na:1|c\nb:1|c|#,s:10.0.0.5", want: []string{"a{} 3", "b{s:10.0.0.5} 1"}},
	{name: "B016 a tag without a value", send: "t:42|c|#key:", want: []string{"t{key:} 42"}},
	{name: "B020 a blank before the value", config: summary, send: "q.size: 0|ms", refused: "value 1"},
	{name: "B024 a pipe in a check's message", send: "_sc|disk|2|m:disk: 90|full", want: []string{"check disk 2 disk: 90"}},
	{name: "B027 names are not taken apart", send: "af.ti.start.my.dag.my.task:1|c", want: []string{"af.ti.start.my.dag.my.task{} 1"}},
	{name: "B028 tags of other dialects", send: "a,k=v:1|c\na#k=v:1|c\na;k=v:1|c", want: []string{"a#k=v{} 1", "a,k=v{} 1", "a;k=v{} 1"}},
	{name: "B029 a backslash and an n", config: summary, send: `g:100|ms|@0.5\ng2:3|g`, refused: "rate 1"},
	{name: "B030 bytes that are no text", send: "a:1|c|#t:\xc3\x28\n\xff:1|c\nok:1|c", want: []string{"ok{} 1"}, refused: "utf8 2"},
	{
		name: "B031 times", config: summary, send: "h:5|h|T1656581400\nc:5|c|T1656581400\ng:6|g|T1656581400",
		want: []string{"c{} 5 at 1656581400", "g{} 6 at 1656581400"}, refused: "timestamp_type 1",
	},
	{
		name: "B032 exponents and long numbers", send: "a:1.0E-4|g\nb:3.3E20|g\nc:0.1000000000000000055511151231257827|g",
		want: []string{"a{} 0.0001", "b{} 3.3e+20", "c{} 0.1"},
	},
	{
		name: "B033 negative values", config: summary, send: "out.size:-1.000000|h",
		want: []string{"out.size.50percentile{} -1", "out.size.count{} 1", "out.size.max{} -1", "out.size.min{} -1", "out.size.sum{} -1"},
	},
	{name: "B035 fractions", send: "cf:0.5|c\ncf:0.5|c\ncf:0.5|c", want: []string{"cf{} 1.5"}},
	{
		name: "B036 past 64 bits", send: "cb:9223372036854775807|c\ncb:9223372036854775807|c\ncx:1e20|c",
		want: []string{"cb{} 1.8446744073709552e+19", "cx{} 1e+20"},
	},
	{name: "B037 signed gauges", send: "g:5|g\ng:+3|g\ng:-2|g", want: []string{"g{} -2"}},
	{
		name: "B038 the rate leaves the value alone", config: summary, send: "t:57|ms|@0.1",
		want: []string{"t.50percentile{} 57", "t.count{} 10", "t.max{} 57", "t.min{} 57", "t.sum{} 570"},
	},
	{
		name: "B039 the rate counts", config: "aggregates: [count, sum, avg]\npercentiles: []", send: strings.Repeat("foo:5|ms|@0.5\n", 4),
		want: []string{"foo.avg{} 5", "foo.count{} 8", "foo.sum{} 40"},
	},
	{
		name: "B041 a sum of 0", config: "aggregates: [count, sum, avg]\npercentiles: []", send: "h:-1|h\nh:1|h\nh0:0|h",
		want: []string{"h.avg{} 0", "h.count{} 2", "h.sum{} 0", "h0.avg{} 0", "h0.count{} 1", "h0.sum{} 0"},
	},
	{name: "B042 no harmonic mean with a 0", config: "aggregates: [hmean, count]\npercentiles: []", send: "h0:0|h\nh:-1:1|h", want: []string{"h.count{} 2", "h0.count{} 1"}},
	{name: "B046 no check is lost", send: "_sc|chk|2|m:bad\n_sc|chk|0", want: []string{"check chk 0 ", "check chk 2 bad"}},
	{name: "B047 order and duplicates of tags", send: "t:1|c|#a,b\nt:1|c|#b,a\nt:1|c|#a,b,b", want: []string{"t{a,b} 3"}},
	{name: "B048 both scopes", send: "t:1|c|#veneurlocalonly,veneurglobalonly", want: []string{"t{} 1"}},
	{name: "B049 a longer key is a tag", send: "t:1|c|#veneurlocalonly_rollout:1\nu:1|c|#veneurlocalonly:x", want: []string{"t{veneurlocalonly_rollout:1} 1", "u{} 1"}},
	{name: "B055 host and device are tags", send: "t:1|c|#host:web1,device:eth0,a:1\nt:1|c|#host:web2", want: []string{"t{a:1,device:eth0,host:web1} 1", "t{host:web2} 1"}},
	{
		name: "B056 percentiles of unequal rates", config: "aggregates: [count, sum]\npercentiles: [0.1, 0.5, 0.99]", send: "t:3|ms|@0.25\nt:2|ms\nt:1|ms|@0.5",
		want: []string{"t.10percentile{} 1", "t.50percentile{} 3", "t.99percentile{} 3", "t.count{} 7", "t.sum{} 16"},
	},
	{
		name: "B057 only values that were sent", config: "aggregates: [max]\npercentiles: [0.5, 0.95, 0.99, 0.999]", send: strings.Repeat("t:1|ms\n", 1000) + "t:10000000|ms",
		want: []string{"t.50percentile{} 1", "t.95percentile{} 1", "t.999percentile{} 1", "t.99percentile{} 1", "t.max{} 1e+07"},
	},
	{
		name: "B061 huge values", config: summary, send: "h:1e308:1e308:-1e308:1.7e308|h",
		want: []string{"h.50percentile{} 1e+308", "h.count{} 4", "h.max{} 1.7e+308", "h.min{} -1e+308", "h.sum{} 1.7976931348623157e+308"},
	},
	{name: "B071 a newline and nothing else", send: "\n"},
	{name: "B093 a rate that is no number", config: "aggregates: [sum]\npercentiles: []", send: "ok:1|c\nh:5|h|@NaN", want: []string{"ok{} 1"}, refused: "rate 1"},
	{name: "B098 an empty list of tags", send: "t:1|c|#", want: []string{"t{} 1"}},
	{name: "B145 lengths that overflow", send: "_e{2147483647,2147483647}:t|x", refused: "event_length 1"},
	{name: "B148 entity ids", send: "t:1|c|#dd.internal.entity_id:u1\nt:1|c|#dd.internal.entity_id:u2", want: []string{"t{} 2"}},
}

func TestFieldReports(t *testing.T) {
	for _, tt := range fieldReports {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.config == "" {
				tt.config = "aggregates: []\npercentiles: []"
			}
			out := filepath.Join(t.TempDir(), "out")
			d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]
`+tt.config)
			d.Send("udp", tt.send)
			d.Await(1, "ingest.packets")
			require.NoError(t, d.Stop())

			var got []string
			for _, r := range servertest.Records(t, out) {
				got = append(got, shown(&r))
			}
			slices.Sort(got)
			require.Equal(t, tt.want, got)
			reason, n, _ := strings.Cut(tt.refused, " ")
			refused, _ := strconv.Atoi(n)
			require.Equal(t, float64(refused), d.Value("ingest.refused"))
			require.Equal(t, float64(refused), d.Value("ingest.refused", "protocol:dogstatsd", "reason:"+reason))
		})
	}
}

// shown is a record in one line. A time is shown when the sender gave it, which is long ago.
func shown(r *servertest.Record) string {
	if r.Kind == "service_check" {
		return fmt.Sprintf("check %s %d %s", r.Name, r.Status, r.Message)
	}
	line := fmt.Sprintf("%s{%s} %v", r.Name, r.TagList(), strconv.FormatFloat(r.Value, 'g', -1, 64))
	if time.Since(time.Unix(r.Timestamp, 0)) > 24*time.Hour {
		line += fmt.Sprintf(" at %d", r.Timestamp)
	}
	return line
}

// A listener that is told so takes a sign as a change, from whatever was last said, in this interval or before.
func TestB037GaugeDeltas(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 20ms
statsd_listen_addresses: [{address: "tcp://127.0.0.1:0", gauge_deltas: true}]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	for _, step := range []struct {
		line string
		want float64
	}{{"g:+10|g\n", 10}, {"g:0|g\n", 0}, {"g:-1|g\n", -1}, {"g:+5|g\n", 4}} {
		d.Send("tcp", step.line)
		d.Eventually(step.line, func() bool { return servertest.Totals(servertest.RecordsSoFar(t, out))["g"] == step.want })
	}
}
