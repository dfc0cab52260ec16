package server_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// shopSpan is a span of the shop, one of a trace of three.
func shopSpan(id, parent int64, service, name string, took time.Duration, tags ...ssf.Tag) *ssf.SSFSpan {
	return &ssf.SSFSpan{
		TraceId: 70, Id: id, ParentId: parent, Service: service, Name: name, StartTimestamp: 1e18, EndTimestamp: 1e18 + int64(took), Tags: tags,
	}
}

func send(t *testing.T, d *servertest.Daemon, span *ssf.SSFSpan) {
	conn := d.Dial("SSF", "udp")
	_, err := conn.Write(ssf.AppendSpan(nil, span))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// One line turns span metrics on. What has not ended when the daemon stops is emitted then, since it is in memory only.
func TestSpanMetrics(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	d := servertest.Start(t, `
interval: 1h
percentiles: [0.99]
ssf_listen_addresses: ["udp://127.0.0.1:0"]
extend_tags: ["env:test"]
span_metrics: {enabled: true}
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
	const n = 20
	for i := range n {
		root := shopSpan(70, 0, "web", "GET /", 300*time.Millisecond, ssf.Tag{Key: "env", Value: "prod"})
		root.Error = i == 0
		send(t, d, root)
		send(t, d, shopSpan(71, 70, "web", "SELECT", 200*time.Millisecond, ssf.Tag{Key: "db.instance", Value: "users"}))
		send(t, d, shopSpan(72, 71, "db", "parse", time.Millisecond))
	}
	d.Await(3*n, "ingest.trace_spans")
	require.NoError(t, d.Stop())
	records := servertest.Records(t, out)
	totals := servertest.Totals(records)
	for _, interval := range []string{"1m", "10m", "60m"} {
		service := "env:test,interval:" + interval + ",service:web"
		operation := ",interval:" + interval + ",operation:GET /,service:web"
		require.Equal(t, 1.0, totals["span.operation.requests|env:test,error:true"+operation])
		require.Equal(t, n-1.0, totals["span.operation.requests|env:test,error:false"+operation])
		require.InDelta(t, 0.3*(n-1), totals["span.operation.seconds|env:test,error:false"+operation], 1e-9)
		require.InEpsilon(t, 0.3, totals["span.operation.duration.99percentile|env:test,error:false"+operation], 0.01)
		require.Equal(t, float64(n), totals["span.service.requests|"+service])
		require.Equal(t, 1.0, totals["span.service.errors|"+service])
		require.Equal(t, float64(n),
			totals["span.dependency.requests|env:test,error:false,interval:"+interval+",operation:SELECT,service:web,target:users,target_kind:db.instance"])
		require.Equal(t, 1.0, totals["span.service.alive|env:test,interval:"+interval+",service:db"])
	}
	for _, r := range records {
		require.LessOrEqual(t, r.Timestamp, time.Now().Unix(), "%+v", r)
	}
	require.EqualValues(t, n, d.Value("span_metrics.spans", "family:request"))
}

// What a daemon has not emitted the next one does, by its store, as if there had been one.
func TestSpanMetricsOutliveTheDaemon(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	config := `
interval: 1h
ssf_listen_addresses: ["tcp://127.0.0.1:0", "udp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [2s], commit_interval: 100ms, store_path: ` + filepath.Join(dir, "store") + `}
metric_sinks: [{kind: localfile, name: out, config: {path: ` + out + `}}]`
	for range 3 {
		d := servertest.Start(t, config)
		send(t, d, shopSpan(70, 0, "web", "GET /", time.Second))
		d.Await(1, "ingest.trace_spans")
		require.NoError(t, d.Stop())
	}
	d := servertest.Start(t, config)
	d.Eventually("all are emitted", func() bool { return servertest.Totals(servertest.RecordsSoFar(t, out))["span.operation.requests"] == 3 })
	d.Eventually("it is delivered", func() bool { return d.Value("span_metrics.undelivered_buckets") == 0 })
	require.NoError(t, d.Stop())
	d = servertest.Start(t, config)
	require.NoError(t, d.Stop())
	require.Equal(t, 3.0, servertest.Totals(servertest.Records(t, out))["span.operation.requests"])
}

// Of two sinks one hangs: the other gets each bucket once and whole, what waits for the one that hangs is bounded by its queue, and the store lets go
// of what that queue gave up.
func TestSpanMetricsWithASinkThatHangs(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	d := servertest.Start(t, `
interval: 1h
ssf_listen_addresses: ["tcp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [1s], commit_interval: 100ms, store_path: `+filepath.Join(dir, "store")+`}
metric_sinks:
  - {kind: localfile, name: out, config: {path: `+out+`}}
  - {kind: debug, name: stuck, queue_items: 400, chunk_items: 100}`)
	release := d.Stdout.Block()
	conn := d.Dial("SSF", "tcp")
	const names, pointsEach = 50, 6 // of an operation: requests, seconds, and min, max, median and count of durations
	sent := 0
	for d.Value("span_metrics.buckets", "interval:1s") < 5 {
		var frames []byte
		for range names {
			span := shopSpan(70, 0, "web", fmt.Sprint("GET /item/", sent), 300*time.Millisecond)
			frames, _ = protocol.AppendFrame(frames, span)
			sent++
		}
		_, err := conn.Write(frames)
		require.NoError(t, err)
		d.Await(float64(sent), "ingest.trace_spans")
		require.LessOrEqual(t, d.Value("sink.waiting", "sink:stuck"), 400+2.0*names*pointsEach+20)
		buckets := d.Value("span_metrics.buckets", "interval:1s")
		d.Eventually("another bucket", func() bool { return d.Value("span_metrics.buckets", "interval:1s") > buckets })
	}
	d.Eventually("the other has all", func() bool {
		return servertest.Totals(servertest.RecordsSoFar(t, out))["span.service.requests"] == float64(sent)
	})
	require.NotZero(t, d.Value("sink.points", "sink:stuck", "outcome:overflow"))
	undelivered := d.Value("span_metrics.undelivered_buckets")
	require.Greater(t, undelivered, 0.0)
	require.Less(t, undelivered, 4.0, "that of which it has a part, and what its queue holds")
	seen := map[string]bool{}
	for _, r := range servertest.Records(t, out) {
		series := fmt.Sprint(r.Timestamp, r.Name, r.TagList())
		require.False(t, seen[series], "%s came twice", series)
		seen[series] = true
	}
	release()
	d.Eventually("delivered", func() bool {
		return d.Value("span_metrics.undelivered_buckets") == 0 && d.Value("sink.waiting", "sink:stuck") == 0
	})
	require.NoError(t, conn.Close())
	require.NoError(t, d.Stop())
	require.Equal(t, float64(sent), servertest.Totals(servertest.Records(t, out))["span.operation.requests"])
}

// Of two sinks one hangs over a stop: the next daemon gives what ended to that one only, and the other has each bucket once.
func TestSpanMetricsWithASinkThatHangsOverAStop(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	config := `
interval: 1h
ssf_listen_addresses: ["udp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [1s, 2s], commit_interval: 100ms, store_path: ` + filepath.Join(dir, "store") + `}
metric_sinks:
  - {kind: localfile, name: out, config: {path: ` + out + `}}
  - {kind: localfile, name: tagged, add_tags: {team: a}, config: {path: ` + out + `2}}
  - {kind: debug, name: stuck}
metric_sink_routing:
  - {name: all, match: [{name: {kind: any}}], sinks: {matched: [out, stuck]}}
  - {name: requests, match: [{name: {kind: prefix, value: span.service}}], sinks: {matched: [tagged]}}`
	d := servertest.Start(t, config)
	release := d.Stdout.Block()
	const spans = 30
	for range spans {
		send(t, d, shopSpan(70, 0, "web", "GET /", time.Second))
	}
	d.Await(spans, "span_metrics.spans", "family:request")
	d.Await(2, "span_metrics.buckets")
	d.Eventually("the healthy ones have it", func() bool {
		return d.Value("sink.waiting", "sink:out") == 0 && d.Value("sink.waiting", "sink:tagged") == 0
	})
	require.NotZero(t, d.Value("span_metrics.undelivered_buckets"))
	require.NoError(t, d.Stop())
	release()

	d = servertest.Start(t, config)
	d.Eventually("all are delivered", func() bool {
		totals := servertest.Totals(servertest.RecordsSoFar(t, out))
		return totals["span.service.requests|interval:1s,service:web"] == spans && totals["span.service.requests|interval:2s,service:web"] == spans &&
			d.Value("span_metrics.undelivered_buckets") == 0
	})
	require.NoError(t, d.Stop())
	for _, path := range []string{out, out + "2"} {
		seen := map[string]bool{}
		records := servertest.Records(t, path)
		for _, r := range records {
			series := fmt.Sprint(r.Timestamp, r.Name, r.TagList())
			require.False(t, seen[series], "%s came twice", series)
			seen[series] = true
		}
		require.Equal(t, 2.0*spans, servertest.Totals(records)["span.service.requests"])
	}
	late := map[string]int{}
	for _, line := range regexp.MustCompile(`span\.service\.requests +counter +(\d+) +interval:(..)`).FindAllStringSubmatch(d.Stdout.String(), -1) {
		n, err := strconv.Atoi(line[1])
		require.NoError(t, err)
		late[line[2]] += n
	}
	require.Equal(t, map[string]int{"1s": spans, "2s": spans}, late, "%s", d.Stdout)
}

// The next daemon has other intervals: no series has two points of one time, and the interval that stays has all spans, though it is the shortest now.
func TestSpanMetricsWithOtherIntervals(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	const spans = 10
	sent := 0
	for _, intervals := range []string{"1s, 4s", "4s, 8s", "2s, 4s"} {
		d := servertest.Start(t, `
interval: 1h
ssf_listen_addresses: ["udp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [`+intervals+`], commit_interval: 100ms, store_path: `+filepath.Join(dir, "store")+`}
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
		for range spans {
			send(t, d, shopSpan(70, 0, "web", "GET /", time.Second))
		}
		sent += spans
		d.Await(spans, "span_metrics.spans", "family:request")
		if intervals == "2s, 4s" {
			d.Eventually("all are emitted", func() bool {
				return servertest.Totals(servertest.RecordsSoFar(t, out))["span.service.requests|interval:4s,service:web"] == float64(sent)
			})
		}
		require.NoError(t, d.Stop())
	}
	seen := map[string]bool{}
	for _, r := range servertest.Records(t, out) {
		series := fmt.Sprint(r.Timestamp, r.Name, r.TagList())
		require.False(t, seen[series], "%s came twice", series)
		seen[series] = true
	}
}

// Operations that are ever new: what the whole daemon holds after a bucket is delivered does not grow from bucket to bucket.
func TestSpanMetricsMemoryIsBounded(t *testing.T) {
	d := servertest.Start(t, `
interval: 1h
ssf_listen_addresses: ["tcp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [1s, 2s], commit_interval: 100ms, store_path: "${DIR}/store", limits: {operations: 1000}}
metric_sinks: [{kind: blackhole, name: nowhere}]`)
	conn := d.Dial("SSF", "tcp")
	const buckets, names = 8, 5000
	sent := 0
	var held []float64
	for len(held) < buckets {
		var frames []byte
		for range names {
			span := shopSpan(70, 0, fmt.Sprint("service", sent%20), fmt.Sprint("GET /item/", sent), time.Duration(sent%1000)*time.Millisecond)
			frames, _ = protocol.AppendFrame(frames, span)
			sent++
		}
		_, err := conn.Write(frames)
		require.NoError(t, err)
		ended := d.Value("span_metrics.buckets", "interval:1s")
		d.Await(float64(sent), "span_metrics.spans")
		d.Eventually("its bucket", func() bool {
			return d.Value("span_metrics.buckets", "interval:1s") > ended && d.Value("span_metrics.undelivered_buckets") == 0
		})
		runtime.GC()
		runtime.GC() // pools let go in two steps
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		held = append(held, float64(m.HeapAlloc)/1e6)
	}
	t.Logf("MB held after each bucket: %.1f", held)
	early, late := slices.Max(held[1:4]), slices.Max(held[4:])
	require.Less(t, late, 1.2*early+2)
	require.NoError(t, conn.Close())
	require.NoError(t, d.Stop())
}
