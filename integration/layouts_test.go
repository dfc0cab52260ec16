//go:build integration

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// sameDay waits for the next day, of UTC, when less than room is left of this one.
func sameDay(t testing.TB, room time.Duration) {
	t.Helper()
	next := time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	if time.Until(next) < room {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		<-timer.C
	}
}

// Every layout has templates that the backend takes, and documents that fit them and are found by what they say.
func TestLayouts(t *testing.T) {
	const n = 100
	sameDay(t, 5*time.Minute)
	today := time.Now().UTC().Format("2006.01.02")
	tests := []struct {
		name, settings string
		traces, logs   string
		points         string // "" for a layout without
		find, nested   string // finds the one span with an error
	}{
		{
			name: "ecs", settings: "layout: ecs\ndataset: ecs", traces: "traces-ecs-default", points: "metrics-ecs-default", logs: "logs-ecs-default",
			find: "event.outcome:failure AND labels.env:prod AND span.name:get",
		},
		{
			name: "ecs in indexes", settings: "layout: ecs\ntarget: index\nsamples: array\ntrace_index: e-t-%Y.%m.%d\nmetric_index: e-m-%Y\nlog_index: e-l",
			traces: "e-t-" + today, points: "e-m-" + today[:4], logs: "e-l", find: "event.outcome:failure AND host.name:it",
		},
		{
			name: "otel in indexes", settings: "target: index\nids: auto\nsamples: array", traces: "veneur-traces-" + today, points: "veneur-metrics-" + today,
			logs: "veneur-logs-" + today, find: "status.code:Error AND resource.attributes.service.name:web AND ssf.samples.name:rows",
		},
		{
			name: "otel with one kind of time", settings: "dataset: millis\ntimestamps: epoch_millis", traces: "traces-millis.otel-default",
			points: "metrics-millis.otel-default", logs: "logs-millis.otel-default", find: "status.code:Error",
		},
		{
			name: "jaeger", settings: "layout: jaeger", traces: "jaeger-span-" + time.Now().UTC().Format("2006-01-02"),
			nested: `{"query":{"nested":{"path":"tags","query":{"bool":{"filter":[{"term":{"tags.key":"error"}},{"term":{"tags.value":"true"}}]}}}}}`,
		},
		{
			name: "jaeger with tags as fields", settings: "layout: jaeger\njaeger_tags_as_fields: true\ntrace_index: j-span-fields-%Y",
			traces: "j-span-fields-" + today[:4], find: "tag.error:true AND process.serviceName:web",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			node := sharedNode(t)
			config := spanSettings(node.url, "install_templates: true\n"+tt.settings, "linger: 100ms")
			if tt.points != "" {
				config += fmt.Sprintf(`
statsd_listen_addresses: ["tcp://127.0.0.1:0"]
metric_sinks:
  - kind: elasticsearch
    name: points
    config:
      urls: [%q]
      proxy: none
      install_templates: true
%s
`, node.url, indent(6, tt.settings))
			}
			d := servertest.Start(t, config)
			explain(t, d)
			spans := plainSpans(1, n)
			spans[42].Error = true
			spans[42].Metrics = []ssf.SSFSample{{Name: "rows", Value: 2.5, SampleRate: 1}}
			sendSpans(t, d.Dial("SSF", "tcp"), spans)
			settled(t, d, n, time.Minute)
			if tt.points != "" {
				d.Send("tcp", "g:1.5|g|#env:prod\n_e{1,1}:t|x\n_sc|c|1\n")
				d.Await(1, "ingest.metric_lines")
				d.Await(1, "ingest.checks")
				// With the sample of the span they are four.
				until(t, "flushed", time.Minute, func() bool { return d.Value("sink.points", "sink:points", "outcome:sent") >= 4 })
			}
			require.NoError(t, d.Stop())
			assert.Zero(t, d.Value("sink.elasticsearch.dropped"))
			assert.EqualValues(t, n, d.Value("sink.spans", "sink:es", "outcome:sent"))
			assert.Equal(t, n, node.count(tt.traces))
			if tt.nested != "" {
				var counted struct{ Count int }
				node.must("POST", "/"+tt.traces+"/_count", tt.nested, &counted)
				assert.Equal(t, 1, counted.Count)
			} else {
				assert.Equal(t, 1, node.matching(tt.traces, tt.find))
			}
			if tt.points != "" {
				assert.Positive(t, node.count(tt.points))
				assert.Equal(t, 1, node.matching(tt.points, `metric.name:g AND metric.value:1.5`))
				assert.Equal(t, 2, node.count(tt.logs))
			}
		})
	}
}
