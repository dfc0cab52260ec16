//go:build integration

package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

const many = 10_000

// randomSpans returns n spans with everything a span can have, each with an id and tags of its own.
func randomSpans(t testing.TB, n int) []*ssf.SSFSpan {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	keys := []string{"env", "http.route", "http", "größe", "a.b", "a", "quote\"s", "new\nline", "@timestamp", ".dot", "1"}
	values := []string{"prod", "", "1", "true", "2024-01-01", "日本 🙂", "\x1b[1m\x00\x7f", "a\\b\"c", strings.Repeat("x", 3000)}
	start := time.Now().Add(-time.Hour).UnixNano()
	spans := make([]*ssf.SSFSpan, n)
	for i := range spans {
		s := &ssf.SSFSpan{
			TraceId: int64(r.Uint64()), Id: int64(i + 1), StartTimestamp: start + r.Int64N(int64(time.Hour)),
			Service: "service " + keys[r.IntN(3)], Name: values[r.IntN(5)] + "/" + fmt.Sprint(i%17), Error: r.IntN(3) == 0, Indicator: r.IntN(5) == 0,
		}
		s.EndTimestamp = s.StartTimestamp + r.Int64N(1<<uint(r.IntN(40)))
		if r.IntN(2) == 0 {
			s.ParentId = int64(r.Uint64() | 1)
		}
		if r.IntN(2) == 0 {
			s.RootStartTimestamp = s.StartTimestamp - 5
		}
		for _, key := range keys[:r.IntN(len(keys))] {
			s.SetTag(key, values[r.IntN(len(values))])
		}
		if i%10 == 0 {
			s.Metrics = []ssf.SSFSample{
				{Metric: ssf.SSFSample_COUNTER, Name: "hits", Value: float32(i) / 3, SampleRate: 0.5, Unit: "1"},
				{Metric: ssf.SSFSample_HISTOGRAM, Name: "took", Value: 0.1, SampleRate: 1, Tags: []ssf.Tag{{Key: "k", Value: "v"}}},
			}
		}
		spans[i] = s
	}
	return spans
}

// written is a span as its document can say it: a reversed rule for the one key that no field may have, and no samples.
func written(s *ssf.SSFSpan) *ssf.SSFSpan {
	w := *s
	w.Metrics = nil
	w.Tags = slices.Clone(s.Tags)
	for i := range w.Tags {
		if w.Tags[i].Key == ".dot" {
			w.Tags[i].Key = "_dot"
		}
	}
	slices.SortFunc(w.Tags, func(a, b ssf.Tag) int { return cmp.Compare(a.Key, b.Key) })
	return &w
}

// read is the span that a document of the layout otel says.
func read(t testing.TB, o object) *ssf.SSFSpan {
	t.Helper()
	require.True(t, strings.HasPrefix(o.text("trace_id"), "0000000000000000"))
	s := &ssf.SSFSpan{
		TraceId: o.idOfTrace(t), Id: o.id(t, "span_id"), ParentId: o.id(t, "parent_span_id"), StartTimestamp: nanos(t, o.text("@timestamp")),
		Service: o.text("resource", "attributes", "service.name"), Name: o.text("name"), Error: o.text("status", "code") == "Error",
	}
	s.EndTimestamp = s.StartTimestamp + o.integer(t, "duration")
	attributes := o.at("attributes").(map[string]any)
	for key, value := range attributes {
		switch key {
		case "ssf.indicator":
			s.Indicator = value.(bool)
		case "ssf.root_start_timestamp":
			v, err := json.Number(value.(string)).Int64()
			require.NoError(t, err)
			s.RootStartTimestamp = v
		default:
			s.Tags = append(s.Tags, ssf.Tag{Key: key, Value: value.(string)})
		}
	}
	slices.SortFunc(s.Tags, func(a, b ssf.Tag) int { return cmp.Compare(a.Key, b.Key) })
	return s
}

func (o object) idOfTrace(t testing.TB) int64 {
	t.Helper()
	return object{"id": o.text("trace_id")[16:]}.id(t, "id")
}

// Ten thousand spans that were sent to the daemon are in OpenSearch, equal in every field, and can be searched by what they say.
func TestSpansReadBack(t *testing.T) {
	node := sharedNode(t)
	d := servertest.Start(t, spanSettings(node.url, "dataset: readback\ninstall_templates: true", "linger: 100ms"))
	explain(t, d)
	sent := randomSpans(t, many)
	begun := time.Now()
	sendSpans(t, d.Dial("SSF", "tcp"), sent)
	until(t, "delivered", 2*time.Minute, func() bool { return d.Value("sink.spans", "sink:es", "outcome:sent") == many })
	t.Logf("delivered in %s", time.Since(begun).Round(time.Millisecond))
	require.NoError(t, d.Stop())

	byID := map[int64]*ssf.SSFSpan{}
	const traces, samples = "traces-readback.otel-default", "metrics-readback.samples-default"
	hits := node.all(traces)
	require.Len(t, hits, many)
	for _, h := range hits {
		s := read(t, decode(t, h.Source))
		byID[s.Id] = s
	}
	for _, s := range sent {
		require.Equal(t, written(s), byID[s.Id])
	}
	checkSamples(t, sent, node.all(samples))
	assert.EqualValues(t, many+many/10*2, d.Value("sink.elasticsearch.documents", "outcome:indexed"))
	assert.Zero(t, d.Value("sink.elasticsearch.dropped"))

	// What is stored can be found: by keys with dots and without below one field, by the names of ECS, and in the order of nanoseconds.
	tagged := func(key, value string) (n int) {
		for _, s := range sent {
			if v, ok := s.Tag(key); ok && v == value {
				n++
			}
		}
		return n
	}
	assert.Equal(t, tagged("a.b", "prod"), node.matching(traces, `attributes.a.b:prod`))
	assert.Equal(t, tagged("env", "1"), node.matching(traces, `attributes.env:1`))
	assert.Equal(t, 1, node.matching(traces, `span.id:`+fmt.Sprintf("%016x", sent[77].Id)))
	var sorted found
	node.must("POST", "/"+traces+"/_search", `{"size":10000,"sort":["@timestamp"]}`, &sorted)
	starts := make([]int64, 0, many)
	for _, h := range sorted.Hits.Hits {
		starts = append(starts, nanos(t, decode(t, h.Source).text("@timestamp")))
	}
	assert.True(t, slices.IsSorted(starts), "the backend's order of @timestamp is not that of nanoseconds")
}

func checkSamples(t *testing.T, sent []*ssf.SSFSpan, hits []hit) {
	t.Helper()
	require.Len(t, hits, many/10*2)
	type key struct {
		span int64
		name string
	}
	found := map[key]object{}
	for _, h := range hits {
		o := decode(t, h.Source)
		found[key{o.id(t, "span_id"), o.text("metric", "name")}] = o
	}
	for _, s := range sent {
		for _, m := range s.Metrics {
			o := found[key{s.Id, m.Name}]
			require.NotNil(t, o)
			assert.Equal(t, s.TraceId, o.idOfTrace(t))
			assert.Equal(t, s.StartTimestamp, nanos(t, o.text("@timestamp")))
			assert.Equal(t, s.Service, o.text("resource", "attributes", "service.name"))
			assert.Equal(t, m.Value, float32(o.float(t, "metric", "value")))
			assert.Equal(t, m.Unit, o.text("metric", "unit"))
			assert.Equal(t, strings.ToLower(m.Metric.String()), o.text("metric", "type"))
			if len(m.Tags) > 0 {
				assert.Equal(t, map[string]any{"k": "v"}, o.at("attributes"))
			}
		}
	}
}

// Ten thousand points of an interval are there with the numbers that the daemon made of them, and so are events and service checks.
func TestPointsReadBack(t *testing.T) {
	node := sharedNode(t)
	d := servertest.Start(t, fmt.Sprintf(`
hostname: it
interval: 10s
statsd_listen_addresses: ["tcp://127.0.0.1:0"]
aggregates: [min, max, count, avg]
percentiles: [0.5]
metric_sinks:
  - kind: elasticsearch
    name: es
    config: {urls: [%q], proxy: none, dataset: readback, install_templates: true}
`, node.url))
	explain(t, d)
	conn := d.Dial("DogStatsD", "tcp")
	type want struct {
		kind  string
		value float64
		tags  map[string]any
	}
	wants := map[string]want{}
	var lines strings.Builder
	for i := range many {
		name, tag := fmt.Sprintf("m.%d", i), fmt.Sprintf("v%d", i%7)
		tags := map[string]any{"env": tag, "bare": "", "two": []any{"1", "2"}}
		switch i % 3 {
		case 0:
			wants[name] = want{"counter", float64(i), tags}
			fmt.Fprintf(&lines, "%s:%d|c|#env:%s,bare,two:1,two:2\n", name, i, tag)
		case 1:
			wants[name] = want{"gauge", float64(i) / 3, tags}
			fmt.Fprintf(&lines, "%s:%v|g|#env:%s,bare,two:1,two:2\n", name, float64(i)/3, tag)
		default:
			wants[name] = want{"gauge", -math.Pow(2, float64(i%200)), tags}
			fmt.Fprintf(&lines, "%s:%v|g|#two:2,two:1,bare,env:%s\n%s:%v|g|#two:2,two:1,bare,env:%s\n", name, 0, tag, name, -math.Pow(2, float64(i%200)), tag)
		}
	}
	// A timer beside a gauge of its name: a value at x and fields below it.
	lines.WriteString("x:1|g\nx:1|ms\nx:3|ms\n")
	lines.WriteString("_e{8,6}:deployed|v\\n3.1|h:web-1|t:error|#env:prod\n_sc|db.up|2|#env:prod|m:no answer\n")
	// All of it is of one interval, which is long enough to read it: a gauge of two lines would have a point in each.
	flushes := d.Value("flush.flushes")
	until(t, "flushed", time.Minute, func() bool { return d.Value("flush.flushes") > flushes })
	_, err := conn.Write([]byte(lines.String()))
	require.NoError(t, err)
	wants["x"] = want{"gauge", 1, map[string]any{}}
	for suffix, value := range map[string]float64{"min": 1, "max": 3, "avg": 2, "50percentile": 1} {
		wants["x."+suffix] = want{"gauge", value, map[string]any{}}
	}
	wants["x.count"] = want{"counter", 2, map[string]any{}}
	total := float64(len(wants) + 2)
	until(t, "delivered", time.Minute, func() bool { return d.Value("sink.points", "sink:es", "outcome:sent") >= total })
	require.NoError(t, d.Stop())
	require.Equal(t, total, d.Value("sink.points", "sink:es", "outcome:sent"))

	const metrics, logs = "metrics-readback.otel-default", "logs-readback.otel-default"
	got := map[string]float64{}
	for _, h := range node.all(metrics) {
		o := decode(t, h.Source)
		name := o.text("metric", "name")
		w, ok := wants[name]
		require.True(t, ok, name)
		assert.Equal(t, w.tags, o.at("attributes"), name)
		assert.Equal(t, w.kind, o.text("metric", "type"), name)
		assert.Equal(t, "it", o.text("resource", "attributes", "host.name"))
		at := time.UnixMilli(o.integer(t, "@timestamp"))
		assert.WithinDuration(t, time.Now(), at, 10*time.Minute)
		assert.Zero(t, at.UnixMilli()%1000)
		if w.kind == "counter" {
			got[name] += o.float(t, "metric", "value")
		} else {
			got[name] = o.float(t, "metric", "value")
		}
	}
	for name, w := range wants {
		assert.Equal(t, w.value, got[name], name)
	}

	hits := node.all(logs)
	require.Len(t, hits, 2)
	for _, h := range hits {
		o := decode(t, h.Source)
		switch o.text("event_name") {
		case "dogstatsd.event":
			assert.Equal(t, "v\n3.1", o.text("body", "text"))
			assert.Equal(t, "web-1", o.text("resource", "attributes", "host.name"))
			assert.Equal(t, "deployed", o.text("attributes", "dogstatsd.title"))
			assert.Equal(t, "ERROR", o.text("severity_text"))
		default:
			assert.Equal(t, "dogstatsd.service_check", o.text("event_name"))
			assert.Equal(t, "db.up", o.text("attributes", "dogstatsd.check"))
			assert.Equal(t, "CRITICAL", o.text("attributes", "dogstatsd.status"))
			assert.Equal(t, "prod", o.text("attributes", "env"))
		}
	}
	assert.Equal(t, 1, node.matching(logs, `body.text:answer`))
}
