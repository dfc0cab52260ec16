package server_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestRoutesAndOneSinkOnly(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sink_routing:
  - name: by team
    match:
      - name: {kind: prefix, value: web.}
        tags:
          - {kind: exact, value: "team:a"}
          - {kind: prefix, value: "debug:", unset: true}
    sinks: {matched: [a], not_matched: [b]}
metric_sinks:
  - {kind: localfile, name: a, config: {path: `+a+`}}
  - {kind: localfile, name: b, config: {path: `+b+`}, strip_tags: [{kind: prefix, value: "host:"}]}`)
	d.Send("udp", strings.Join([]string{
		"web.x:1|c|#team:a",
		"web.x:2|c|#team:a,debug:1",
		"db.x:4|c|#host:1", "db.x:8|c|#host:2",
		"only:16|c|#veneursinkonly:a",
		"gone:32|c|#veneursinkonly:nowhere",
		"_sc|web.check|1|#team:a",
	}, "\n"))
	d.Await(7, "ingest.lines")
	require.NoError(t, d.Stop())

	require.Equal(t, map[string]float64{"web.x": 1, "web.x|team:a": 1, "only": 16, "only|": 16}, servertest.Totals(servertest.Records(t, a)))
	require.Equal(t, map[string]float64{"web.x": 2, "web.x|debug:1,team:a": 2, "db.x": 12, "db.x|": 12}, servertest.Totals(servertest.Records(t, b)))
	require.Equal(t, 1.0, d.Value("flush.no_sink"), "gone")
}

func TestB109SlowSinkHoldsUpNobody(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 20ms
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks:
  - {kind: debug}
  - {kind: localfile, name: out, config: {path: `+out+`}}`)
	// The first sink writes to an output that nobody reads.
	release := d.Stdout.Block()
	defer release()
	for i := range 10 {
		d.Send("udp", fmt.Sprintf("c%d:1|c", i))
		d.Eventually("the other sink", func() bool {
			return servertest.Totals(servertest.RecordsSoFar(t, out))[fmt.Sprintf("c%d", i)] == 1
		})
	}
	require.Positive(t, d.Value("sink.waiting", "sink:debug"))
}

func TestSpans(t *testing.T) {
	dir := t.TempDir()
	metrics, spans := filepath.Join(dir, "metrics"), filepath.Join(dir, "spans")
	d := servertest.Start(t, `
interval: 1h
ssf_listen_addresses: ["udp://127.0.0.1:0", "tcp://127.0.0.1:0"]
indicator_span_timer_name: indicator.timer
objective_span_timer_name: objective.timer
extend_tags: ["region:eu"]
tags_exclude: [private, "user|out"]
percentiles: [0.5]
metric_sinks: [{kind: localfile, name: out, config: {path: `+metrics+`}}]
span_sinks: [{kind: localfile, name: out, config: {path: `+spans+`}}]`)
	conn := d.Dial("SSF", "tcp")
	start := int64(1_800_000_000_000_000_000)
	write := func(span *ssf.SSFSpan) {
		_, err := protocol.WriteSSF(conn, span)
		require.NoError(t, err)
	}
	write(&ssf.SSFSpan{
		TraceId: 1 << 60, Id: 2, ParentId: -3, Name: "op", Service: "svc", Error: true, Indicator: true,
		StartTimestamp: start, EndTimestamp: start + 16_777_217, // one more than a float32 can hold
		Tags: []ssf.Tag{{Key: "ssf_objective", Value: "goal"}, {Key: "private", Value: "x"}, {Key: "user", Value: "u1"}},
		Metrics: []ssf.SSFSample{
			ssf.Count("samples.count", 2, map[string]string{"k": "v,w"}, ssf.SampleRate(0.5)),
			ssf.Status("samples.check", ssf.SSFSample_CRITICAL, nil, ssf.Message("down")),
		},
	})
	write(&ssf.SSFSpan{TraceId: 1, Id: 4, Name: "plain", Service: "svc", StartTimestamp: start, EndTimestamp: start + 5})
	write(&ssf.SSFSpan{Indicator: true, Name: "no trace", Metrics: []ssf.SSFSample{ssf.Gauge("g", 1, nil)}})
	d.Await(3, "ingest.spans")
	require.NoError(t, d.Stop())

	got := servertest.Records(t, metrics)
	totals := servertest.Totals(got)
	require.Equal(t, 16_777_217.0, totals["indicator.timer.max|error:true,region:eu,service:svc"], "nanoseconds, exact")
	require.Equal(t, 16_777_217.0, totals["objective.timer.max|error:true,objective:goal,region:eu,service:svc"])
	require.Equal(t, 1.0, totals["indicator.timer.count"], "of the one valid trace span with the mark")
	require.Equal(t, 4.0, totals["samples.count|k:v,w,region:eu"])
	require.Equal(t, 1.0, totals["g|region:eu"])
	require.Contains(t, names(got), "service_check samples.check 2 down")

	sent := servertest.Records(t, spans)
	require.Len(t, sent, 2, "a span without a trace is only a carrier")
	require.Equal(t, servertest.Record{
		Kind: "span", TraceID: "1152921504606846976", ID: "2", ParentID: "-3", Name: "op", Service: "svc", Error: true, Indicator: true,
		StartNS: start, EndNS: start + 16_777_217, Tags: sent[0].Tags,
	}, sent[0])
	require.JSONEq(t, `{"ssf_objective":"goal","user":"u1","region":"eu"}`, string(sent[0].Tags))
}

func names(records []servertest.Record) []string {
	var out []string
	for _, r := range records {
		if r.Kind == "service_check" {
			out = append(out, fmt.Sprintf("%s %s %d %s", r.Kind, r.Name, r.Status, r.Message))
		}
	}
	return out
}

func TestB046EveryCheckIsDelivered(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	d.Send("udp", "_sc|chk|2|m:bad\n_sc|chk|0\n_e{5,4}:title|text|#b,a")
	d.Await(3, "ingest.lines")
	require.NoError(t, d.Stop())
	records := servertest.Records(t, out)
	require.Equal(t, []string{"service_check chk 2 bad", "service_check chk 0 "}, names(records))
	require.Equal(t, "a,b", records[0].TagList())
	require.Equal(t, "event", records[0].Kind)
}

func TestB146AFloodOfSeriesIsBoundedAndTotalsStayRight(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["tcp://127.0.0.1:0"]
max_series_per_name: 100
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	const lines = 20_000
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "c:1|c|#id:%d\n", i)
	}
	d.Send("tcp", b.String())
	d.Await(lines, "ingest.lines")
	var metrics strings.Builder
	require.NoError(t, d.Telemetry.WriteText(&metrics))
	require.NoError(t, d.Stop())

	records := servertest.Records(t, out)
	totals := servertest.Totals(records)
	require.Equal(t, float64(lines), totals["c"])
	require.Equal(t, float64(lines-100), totals["c|veneur_overflow:true"])
	require.Len(t, records, 101)
	require.Contains(t, metrics.String(), `metric="c"`, "the worst offender is named")
}

func TestSelfMetricsLoopedInStandOutsideTheAccounts(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 20ms
loop_self_metrics: true
veneur_metrics_additional_tags: ["who:me"]
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	d.Send("udp", "a:1|c")
	d.Eventually("the daemon's own count in its own sink", func() bool {
		return servertest.Totals(servertest.RecordsSoFar(t, out))["veneur.ingest.lines|who:me"] == 1
	})
	require.NoError(t, d.Stop())
	require.Equal(t, 1.0, d.Value("ingest.lines"))
	require.Equal(t, 1.0, d.Value("ingest.samples"))
}

func TestSelfMetricsToStatsAddress(t *testing.T) {
	listener, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, listener.(*net.UDPConn).SetReadBuffer(4<<20))
	d := servertest.Start(t, `
interval: 20ms
stats_address: `+listener.LocalAddr().String()+`
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: blackhole}]`)
	d.Send("udp", "a:1|c")
	require.NoError(t, listener.SetReadDeadline(time.Now().Add(servertest.Patience)))
	buf := make([]byte, 65536)
	for reports := 1; ; reports++ {
		n, _, err := listener.ReadFrom(buf)
		require.NoError(t, err)
		if reports%1000 == 0 {
			d.Send("udp", "a:1|c") // the report of the last one may be lost
		}
		if strings.Contains(string(buf[:n]), "veneur.ingest.lines:1|c") {
			return
		}
	}
}

func TestB083LastLineOfAStreamNeedsNoEnd(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["tcp://127.0.0.1:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	conn := d.Dial("DogStatsD", "tcp")
	_, err := io.WriteString(conn, "a:1|c\nnonl:1|c")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	d.Await(2, "ingest.lines")
	require.NoError(t, d.Stop())
	require.Equal(t, 1.0, servertest.Totals(servertest.Records(t, out))["nonl"])
}

func TestWhatIsNotFlushedAtAStopIsCounted(t *testing.T) {
	for _, atStop := range []bool{true, false} {
		d := servertest.Start(t, fmt.Sprintf(`
interval: 1h
flush_on_shutdown: %t
statsd_listen_addresses: [udp://127.0.0.1:0]
metric_sinks: [{kind: blackhole, name: a}]
`, atStop))
		d.Send("udp", "a:1|c\nb:2:3|h\na:1|c")
		d.Await(3, "ingest.lines")
		require.NoError(t, d.Stop())
		want := map[bool]float64{false: 2}[atStop]
		require.Equal(t, want, d.Value("flush.left_behind", "sink:a", "reason:flush_on_shutdown"))
		require.Zero(t, d.Value("flush.left_behind", "sink:a", "reason:unfinished"))
		require.Equal(t, atStop, d.Value("sink.offered", "sink:a") > 0)
	}
}
