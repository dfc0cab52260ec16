//go:build integration

package integration

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// VictoriaLogs takes spans and events by the bulk protocol, and finds them by their fields.
func TestVictoriaLogsTakesSpansAndEvents(t *testing.T) {
	logs := startVictoriaLogs(t)
	const common = "flavour: elasticsearch, check_templates: false, timestamps: rfc3339, proxy: none"
	address := logs.url + "/insert/elasticsearch?_time_field=@timestamp&_stream_fields=resource.attributes.service.name,data_stream.type&_msg_field="
	d := servertest.Start(t, fmt.Sprintf(`
hostname: it
interval: 10s
ssf_listen_addresses: ["tcp://127.0.0.1:0"]
statsd_listen_addresses: ["tcp://127.0.0.1:0"]
span_sinks:
  - {kind: elasticsearch, name: es, linger: 100ms, config: {urls: ["%sname"], %s}}
metric_sinks:
  - {kind: elasticsearch, name: events, config: {urls: ["%sbody.text"], %s}}
`, address, common, address, common))
	explain(t, d)
	spans := plainSpans(1, 1000)
	spans[7].Name, spans[7].Error = "the seventh", true
	spans[7].Metrics = []ssf.SSFSample{{Name: "rows", Value: 2.5, SampleRate: 1}}
	sendSpans(t, d.Dial("SSF", "tcp"), spans)
	d.Send("tcp", "_e{8,10}:deployed|version 42|h:web-1|t:error|#env:prod\n")
	settled(t, d, 1000, time.Minute)
	until(t, "delivered", time.Minute, func() bool { return d.Value("sink.points", "sink:events", "outcome:sent") >= 1 })

	query := func(q string) []string {
		_, text := logs.ask("GET", "/select/logsql/query?query="+url.QueryEscape(q), "")
		return strings.Split(strings.TrimSpace(text), "\n")
	}
	// What was taken can be found a moment later.
	one := func(q string) object {
		t.Helper()
		var found []string
		until(t, "found: "+q, time.Minute, func() bool {
			found = query(q)
			return len(found) == 1 && found[0] != ""
		})
		return decode(t, []byte(found[0]))
	}
	until(t, "counted", time.Minute, func() bool {
		found := query(`data_stream.type:=traces | stats count() n`)
		return len(found) == 1 && strings.Contains(found[0], `"1000"`)
	})
	o := one(`"the seventh"`)
	assert.Equal(t, fmt.Sprintf("%016x", spans[7].Id), o["span_id"])
	assert.Equal(t, "Error", o["status.code"])
	assert.Equal(t, "prod", o["attributes.env"])
	assert.Equal(t, "1000000", o["duration"])
	assert.Equal(t, time.Unix(0, spans[7].StartTimestamp).UTC().Format(time.RFC3339Nano), o["_time"])
	assert.Equal(t, "2.5", one(`metric.name:=rows`)["metric.value"])
	o = one(`"version 42"`)
	assert.Equal(t, "deployed", o["attributes.dogstatsd.title"])
	assert.Equal(t, "web-1", o["resource.attributes.host.name"])
}
