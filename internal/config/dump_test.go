package config

import (
	"encoding/json"
	"fmt"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDump(t *testing.T) {
	c, _, err := load(`
hostname: "yes"
tls_key: hunter2
percentiles: []
address: 127.0.0.1
labels: {"a b": "${X}", url: "https://u:p@x/?token=t"}
tls: {key: hunter3}
listeners: [{address: a, lines: 2}]
metric_sinks:
- kind: file
  config: {url: "https://x/?api_key=hunter4", api_key: hunter5, headers: [a, "b: c"]}
`, func(string) (string, bool) { return "x${Y}", true })
	require.NoError(t, err)
	assert.Equal(t, `interval: 10s
hostname: "yes"
synchronize_with_interval: false
num_readers: 2
small: 0
port: 0
percentiles: []
ratio: 0
statsd_listen_addresses: []
labels:
  "a b": "x$${Y}"
  url: "https://REDACTED@x/?token=REDACTED"
address: "127.0.0.1"
tls_key: REDACTED
tls:
  key: REDACTED
  ca_file: /etc/ca.pem
  wait: 3
metric_sinks:
  - kind: file
    name: ""
    strip_tags: []
    queue: 10
    config:
      url: "https://x/?api_key=REDACTED"
      api_key: REDACTED
      path: ""
      timeout: 1s
      headers: [a, "b: c"]
      tls:
        key: ""
        ca_file: ""
        wait: null
limits: {}
listeners:
  - address: a
    lines: 2
http_address: ""
trace_rate: 0.25
`, string(AppendYAML(nil, c)))
	assert.JSONEq(t, `{"interval":"10s","hostname":"yes","synchronize_with_interval":false,"num_readers":2,"small":0,"port":0,
		"percentiles":[],"ratio":0,"statsd_listen_addresses":[],"labels":{"a b":"x${Y}","url":"https://REDACTED@x/?token=REDACTED"},
		"address":"127.0.0.1","tls_key":"REDACTED","tls":{"key":"REDACTED","ca_file":"/etc/ca.pem","wait":3},"metric_sinks":[{"kind":"file",
		"name":"","strip_tags":[],"queue":10,"config":{"url":"https://x/?api_key=REDACTED","api_key":"REDACTED","path":"","timeout":"1s",
		"headers":["a","b: c"],"tls":{"key":"","ca_file":"","wait":null}}}],"limits":{},"listeners":[{"address":"a","lines":2}],"http_address":"","trace_rate":0.25}`,
		string(AppendJSON(nil, &c)))
	assert.NotContains(t, fmt.Sprintf("%+v", c), "hunter")
	assert.Equal(t, "{}\n", string(AppendYAML(nil, struct{}{})))
	assert.Equal(t, "null\n", string(AppendYAML(nil, nil)))
	assert.Equal(t, "a: {}\nb: null\n", string(AppendYAML(nil, struct {
		A any `yaml:"a"`
		B any `yaml:"b"`
	}{A: struct{}{}})))
}

func TestB120RawShowsKeysOnly(t *testing.T) {
	doc, err := Parse("", []byte("metric_sinks: [{config: {url: hunter1, tls: {key: hunter2}, headers: [hunter3, 7], x: ~}}, {config: ~}]"))
	require.NoError(t, err)
	var c sample
	require.NoError(t, doc.Decode(&c))
	raw := c.Sinks[0].Config
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		assert.Equal(t, "{url: …, tls: {key: …}, headers: […, …], x: null}", fmt.Sprintf(verb, raw), verb)
		assert.Equal(t, "null", fmt.Sprintf(verb, c.Sinks[1].Config), verb)
		assert.NotContains(t, fmt.Sprintf(verb, c), "hunter")
		assert.NotContains(t, fmt.Sprintf(verb, &c), "hunter")
	}
	asJSON, err := json.Marshal(raw)
	require.NoError(t, err)
	assert.Equal(t, `{"url":"…","tls":{"key":"…"},"headers":["…","…"],"x":null}`, string(asJSON))
	assert.NotContains(t, string(AppendYAML(nil, c)), "hunter")
	assert.Contains(t, string(AppendYAML(nil, c)), "      url: …\n")
	assert.Contains(t, string(AppendJSON(nil, c)), `"config":{"url":"…","tls":{"key":"…"},"headers":["…","…"],"x":null}`)
}

// What is printed loads back to the same values.
func TestDumpLoadsBack(t *testing.T) {
	texts := []string{
		"", " ", "a", "true", "No", "null", "~", "1", "1.5", ".5", "0x1", "-", "- a", "a: b", "a #b", "#a", "*a", "&a", "!a", "%a", "@a", "`a",
		"'", `"`, `\`, "a\nb", "a\tb", "\x00\x7f\u0085\u2028\ufeff", "${A}", "$${A}", "$$${A}", "$$", "{a}", "[a]", "a,b", "?", ":", "a:", "=", "<<",
		"é", "日本", "\U0001F600", "2020-01-01", "…", "1e3", "+1", "y", ".inf", "|", ">", "file:/x", "https://x/y?a=b",
	}
	for _, text := range texts {
		want := defaultSample()
		want.Hostname, want.Addresses, want.Labels = text, []string{text, text}, map[string]string{"x": text, text: text}
		want.Sinks = []sampleSink{{Name: text, Strip: []string{text}}}
		assertLoadsBack(t, want)
	}
	for _, d := range []time.Duration{0, 1, time.Microsecond, 90 * time.Second, time.Hour, 25 * time.Hour, time.Hour + time.Second, -time.Minute, math.MaxInt64, math.MinInt64} {
		want := defaultSample()
		want.Interval = d
		assertLoadsBack(t, want)
	}
	want := defaultSample()
	want.Ratio, want.Trace.Rate, want.Percents = 1e-7, math.MaxFloat64, []float64{1e21, -0.1, 100}
	want.Small, want.Port, want.Readers = math.MinInt8, math.MaxUint16, math.MinInt64
	want.Address = netip.MustParseAddr("fe80::1")
	want.Limits = map[string]limit{"no": {1}, "a.b": {2}}
	assertLoadsBack(t, want)
	assert.Equal(t, "1h", formatDuration(time.Hour))
	assert.Equal(t, "1m30s", formatDuration(90*time.Second))
	assert.Equal(t, "10m", formatDuration(10*time.Minute))
	assert.Equal(t, "1h5m", formatDuration(65*time.Minute))
}

func assertLoadsBack(t *testing.T, want sample) {
	t.Helper()
	dump := AppendYAML(nil, want)
	doc, err := Parse("", dump)
	require.NoError(t, err, string(dump))
	var got sample
	require.NoError(t, doc.Decode(&got), string(dump))
	require.Equal(t, want, got, string(dump))

	var fromJSON struct{ Hostname string }
	dump = AppendJSON(nil, want)
	require.NoError(t, json.Unmarshal(dump, &fromJSON), string(dump))
	require.Equal(t, want.Hostname, fromJSON.Hostname)
}
