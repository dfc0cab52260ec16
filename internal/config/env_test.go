package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestB119EnvironmentWinsOverFile(t *testing.T) {
	c, doc, err := load(`
interval: 1s
hostname: from-file
statsd_listen_addresses: [a]
labels: {a: "1", b: "2"}
metric_sinks:
- {kind: file, name: first, config: {url: old, path: /p, tls: {key: x, ca_file: y}}}
- {kind: debug}
`, noVariables)
	require.NoError(t, err)
	warnings, err := doc.ApplyEnv(&c, []string{
		"PATH=/bin", "VENEUR_EMIT_TRACE_ID=7", "OTHER_VENEUR_INTERVAL=x",
		"VENEUR_INTERVAL=5s",
		"VENEUR_NUM_READERS=8",
		"VENEUR_STATSD_LISTEN_ADDRESSES=udp://:1, tcp://:2",
		"VENEUR_PERCENTILES=[0.1, 0.2]",
		"VENEUR_PERCENTILES_1=0.3",
		"VENEUR_PERCENTILES_2=0.4",
		"VENEUR_LABELS_B=3",
		"VENEUR_LABELS_C_D=4",
		"VENEUR_TLS_KEY=flat", // the key tls_key, since there is one
		"VENEUR_TLS__KEY=nested",
		"VENEUR_TLS_CA_FILE=ca",
		"VENEUR_HTTP_LISTEN=:80", // an alias
		"VENEUR_LISTENERS=a,b",
		"VENEUR_LISTENERS_1_LINES=3",
		"VENEUR_LISTENERS_2=c",
		"VENEUR_LIMITS={x: {max: 3}}",
		"VENEUR_LIMITS_Y__MAX=4",
		"VENEUR_METRIC_SINKS_0_NAME=second",
		"VENEUR_METRIC_SINKS_0_STRIP_TAGS=a,b",
		"VENEUR_METRIC_SINKS_0_CONFIG_URL=http://x/${A}",
		"VENEUR_METRIC_SINKS_0_CONFIG_API_KEY=hunter2",
		"VENEUR_METRIC_SINKS_0_CONFIG_TLS__CA_FILE=z",
		"VENEUR_METRIC_SINKS_0_CONFIG_HEADERS=h1,h2",
		"VENEUR_METRIC_SINKS_1_CONFIG={\"timeout\": 4}",
		"VENEUR_METRIC_SINKS_2_KIND=added",
		"VENEUR_METRIC_SINKS_2_CONFIG_TIMEOUT=5",
	})
	require.NoError(t, err)
	assert.Empty(t, warnings)

	assert.Equal(t, 5*time.Second, c.Interval)
	assert.Equal(t, "from-file", c.Hostname)
	assert.Equal(t, 8, c.Readers)
	assert.Equal(t, []string{"udp://:1", "tcp://:2"}, c.Addresses)
	assert.Equal(t, []float64{0.1, 0.3, 0.4}, c.Percents)
	assert.Equal(t, map[string]string{"a": "1", "b": "3", "c_d": "4"}, c.Labels)
	assert.Equal(t, Secret("flat"), c.Key)
	assert.Equal(t, Secret("nested"), c.TLS.Key)
	assert.Equal(t, "ca", c.TLS.CA)
	assert.Equal(t, ":80", c.HTTP)
	assert.Equal(t, map[string]limit{"x": {3}, "y": {4}}, c.Limits)
	assert.Equal(t, []listener{{"a", 1}, {"b", 3}, {"c", 1}}, c.Listeners)
	require.Len(t, c.Sinks, 3)
	assert.Equal(t, "second", c.Sinks[0].Name)
	assert.Equal(t, []string{"a", "b"}, c.Sinks[0].Strip)
	assert.Equal(t, sampleSink{Kind: "added", Queue: 10, Config: c.Sinks[2].Config}, c.Sinks[2])

	var k [3]kindConfig
	for i := range k {
		require.NoError(t, c.Sinks[i].Config.Decode(&k[i]))
	}
	assert.Equal(t, kindConfig{
		URL: "http://x/${A}", APIKey: "hunter2", Path: "/p", Headers: []string{"h1", "h2"}, TLS: sampleTLS{Key: "x", CA: "z"},
	}, k[0])
	assert.Equal(t, kindConfig{Timeout: 4 * time.Second}, k[1])
	assert.Equal(t, kindConfig{Timeout: 5 * time.Second}, k[2])

	faults := doc.Locate(Faults{
		{Path: "interval", Message: "a"},
		{Path: "hostname", Message: "b"},
		{Path: "metric_sinks[0].config.url", Message: "c"},
		{Path: "metric_sinks[0].config.path", Message: "d"},
		{Path: "percentiles[0]", Message: "e"},
		{Path: "percentiles[2]", Message: "f"},
		{Path: "http_address", Message: "g"},
		{Path: "metric_sinks[2].config.url", Message: "h"},
	})
	assert.EqualError(t, faults, `VENEUR_INTERVAL: interval: a
line 3: hostname: b
VENEUR_METRIC_SINKS_0_CONFIG_URL: metric_sinks[0].config.url: c
line 7: metric_sinks[0].config.path: d
VENEUR_PERCENTILES: percentiles[0]: e
VENEUR_PERCENTILES_2: percentiles[2]: f
VENEUR_HTTP_LISTEN: http_address: g
line 6: metric_sinks[2].config.url: h`)
}

func TestB119EnvironmentFaults(t *testing.T) {
	tests := []struct{ in, want string }{
		{"VENEUR_INTERVAL=x", `VENEUR_INTERVAL: interval: expected a duration such as 10s, found "x"`},
		{"VENEUR_INTERVAL=", `VENEUR_INTERVAL: interval: expected a duration such as 10s, found ""`},
		{"VENEUR_NUM_READERS=1.5", `VENEUR_NUM_READERS: num_readers: expected a whole number, found "1.5"`},
		{"VENEUR_PERCENTILES=0.5,x", `VENEUR_PERCENTILES: percentiles[1]: expected a number, found "x"`},
		{"VENEUR_PERCENTILES=[0.5", `VENEUR_PERCENTILES: percentiles: did not find expected ',' or ']' for the list that begins here`},
		{"VENEUR_PERCENTILES_9=0.5", `VENEUR_PERCENTILES_9: percentiles: element 9 is more than one past the end: there are 2`},
		{"VENEUR_METRIC_SINKS=debug", `VENEUR_METRIC_SINKS: metric_sinks[0]: expected keys and values, found "debug"`},
		{"VENEUR_METRIC_SINKS=[{kind: a, namme: b}]", `VENEUR_METRIC_SINKS: metric_sinks[0].namme: unknown key; did you mean name?`},
		{"VENEUR_METRIC_SINKS=[{config: {url: [a]}}]", `VENEUR_METRIC_SINKS: metric_sinks[0].config.url: expected text, found a list`},
		{"VENEUR_METRIC_SINKS_0_CONFIG_URLL=a", `VENEUR_METRIC_SINKS_0_CONFIG_URLL: metric_sinks[0].config.urll: unknown key; did you mean url?`},
		{"VENEUR_METRIC_SINKS_0_CONFIG_TIMEOUT=a", `VENEUR_METRIC_SINKS_0_CONFIG_TIMEOUT: metric_sinks[0].config.timeout: expected a duration such as 10s, found "a"`},
		{"VENEUR_METRIC_SINKS_0_CONFIG=a", `VENEUR_METRIC_SINKS_0_CONFIG: metric_sinks[0].config: expected keys and values, found "a"`},
		{"VENEUR_TLS_KEY=file:/no/such/file", `VENEUR_TLS_KEY: tls_key: secret: `},
		{"VENEUR_FORWARD_ADDRESS=x", `VENEUR_FORWARD_ADDRESS: forward_address: comes with version 2`},
		{"VENEUR_LIMITS=x", `VENEUR_LIMITS: limits: expected keys and values, found "x"`},
	}
	for _, tt := range tests {
		c := defaultSample()
		_, err := new(Document).ApplyEnv(&c, []string{tt.in})
		if err == nil && len(c.Sinks) > 0 {
			err = c.Sinks[0].Config.Decode(&kindConfig{})
		}
		assert.ErrorContains(t, err, tt.want, tt.in)
	}
	_, err := new(Document).ApplyEnv(sample{}, nil)
	assert.ErrorContains(t, err, "cannot decode into")
}

func TestB119EnvironmentWarnings(t *testing.T) {
	c := defaultSample()
	warnings, err := new(Document).ApplyEnv(&c, []string{
		"VENEUR_INTERVALL=1s", "VENEUR_QQ=1", "VENEUR_=", "VENEUR_INTERVAL_X=1", "VENEUR_PERCENTILES_X=1", "VENEUR_HOSTNAME_=x",
		"VENEUR_FEATURES_SOMETHING_NEW=true", "VENEUR_FLUSH_MAX_PER_BODY=1", "VENEUR_OLD_NESTED_KEY=1",
		"VENEUR_SERVICE_HOST=10.0.0.1", "VENEUR_PORT_8126_UDP=udp://10.0.0.1:8126", "VENEUR_PORT=9", "VENEUR_EMIT_X=1",
		"VENEUR_ADDRESS_X=1", "VENEUR_LABELS_=1",
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{
		"VENEUR_INTERVALL: no such setting; did you mean VENEUR_INTERVAL?",
		"VENEUR_QQ: no such setting",
		"VENEUR_: no such setting",
		"VENEUR_INTERVAL_X: no such setting; did you mean VENEUR_INTERVAL?",
		"VENEUR_PERCENTILES_X: no such setting; did you mean VENEUR_PERCENTILES?",
		"VENEUR_HOSTNAME_: no such setting; did you mean VENEUR_HOSTNAME?",
		"VENEUR_ADDRESS_X: no such setting; did you mean VENEUR_ADDRESS?",
		"VENEUR_LABELS_: no such setting; did you mean VENEUR_LABELS?",
		"VENEUR_FEATURES_SOMETHING_NEW: features.something_new: always on",
		"VENEUR_FLUSH_MAX_PER_BODY: flush_max_per_body: each sink has its own",
		"VENEUR_OLD_NESTED_KEY: old.nested.key: went away",
	}, lines(warnings))
	doc, err := Parse("", []byte("flush_max_per_body: 1"))
	require.NoError(t, err)
	require.NoError(t, doc.Decode(&c))
	warnings, err = doc.ApplyEnv(&c, []string{"VENEUR_FEATURES_X=1"})
	require.NoError(t, err)
	assert.Len(t, warnings, 1)
	assert.Len(t, doc.Warnings(), 1, "warnings about the environment are not those of the file")
	assert.Equal(t, uint16(9), c.Port, "a key wins over what looks like a service link")
}

func lines(faults Faults) []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.String())
	}
	return out
}

func TestEnvironmentWithoutFile(t *testing.T) {
	c := defaultSample()
	warnings, err := new(Document).ApplyEnv(&c, []string{"VENEUR_METRIC_SINKS=[{kind: debug, config: {url: u}}]", "VENEUR_HOSTNAME=${HOME}", "VENEUR_STATSD_LISTEN_ADDRESSES="})
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, "${HOME}", c.Hostname, "values of the environment are taken as they are")
	assert.Empty(t, c.Addresses)
	require.Len(t, c.Sinks, 1)
	var k kindConfig
	require.NoError(t, c.Sinks[0].Config.Decode(&k))
	assert.Equal(t, "u", k.URL)
}
