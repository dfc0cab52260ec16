package config

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecode(t *testing.T) {
	text := `
interval: 5s
hostname: 1.10
synchronize_with_interval: yes
num_readers: "4"
small: -0x80
port: 0o17
percentiles: [0.5, 1e-3, 1]
ratio: 2
statsd_listen_addresses:
- udp://127.0.0.1:8126
- tcp://[::1]:0
labels: {a.b: "1", c: true}
address: ::1
tls_key: |
  -----BEGIN
  x
tls: {key: k, wait: 7}
limits: {x: {max: 3}, y: {}}
http: localhost:80
trace_rate: 0.5
listeners: [a, {address: b, lines: 2}, {}]
metric_sinks:
- kind: debug
- kind: file
  name: out
  strip_tags: [a, b]
  queue: 3
  config: {flush_file: /x, timeout: 2}
`
	c, doc, err := load(text, noVariables)
	require.NoError(t, err)
	assert.Empty(t, doc.Warnings())

	want := defaultSample()
	seven := 7
	want.Interval = 5 * time.Second
	want.Hostname = "1.10"
	want.Sync = true
	want.Readers = 4
	want.Small = -128
	want.Port = 15
	want.Percents = []float64{0.5, 0.001, 1}
	want.Ratio = 2
	want.Addresses = []string{"udp://127.0.0.1:8126", "tcp://[::1]:0"}
	want.Labels = map[string]string{"a.b": "1", "c": "true"}
	want.Address = netip.IPv6Loopback()
	want.Key = "-----BEGIN\nx\n"
	want.TLS = &sampleTLS{Key: "k", CA: "/etc/ca.pem", Wait: &seven}
	want.Limits = map[string]limit{"x": {Max: 3}, "y": {}}
	want.HTTP = "localhost:80"
	want.Trace.Rate = 0.5
	want.Listeners = []listener{{"a", 1}, {"b", 2}, {"", 1}}
	want.Sinks = []sampleSink{
		{Kind: "debug", Queue: 10},
		{Kind: "file", Name: "out", Strip: []string{"a", "b"}, Queue: 3, Config: c.Sinks[1].Config},
	}
	assert.Equal(t, want, c)
	assert.True(t, c.Sinks[0].Config.IsZero())

	k := kindConfig{Timeout: time.Second}
	require.NoError(t, c.Sinks[1].Config.Decode(&k))
	assert.Equal(t, kindConfig{Path: "/x", Timeout: 2 * time.Second}, k)
	require.NoError(t, c.Sinks[0].Config.Decode(&k), "no subtree changes nothing")
	assert.Equal(t, kindConfig{Path: "/x", Timeout: 2 * time.Second}, k)
}

func TestDecodeFaults(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"unknown key with a near one", "\nintervall: 5s", "line 2: intervall: unknown key; did you mean interval?"},
		{"B115 unknown key with none near", "no_such_key: 1", "line 1: no_such_key: unknown key"},
		{"unknown key deeper down", "metric_sinks:\n- kind: x\n- namme: y", "line 3: metric_sinks[1].namme: unknown key; did you mean name?"},
		{"unknown key in a map of structs", "limits: {a.b: {maxx: 1}}", `line 1: limits["a.b"].maxx: unknown key; did you mean max?`},
		{"unknown key of a sink", "metric_sinks:\n- config:\n    ur: 1", "line 3: metric_sinks[0].config.ur: unknown key; did you mean url?"},
		{"B116 interval in words", "interval: ten", `line 1: interval: expected a duration such as 10s, found "ten"`},
		{"B116 interval without a unit that is no number", `interval: "10 s"`, `line 1: interval: expected a duration such as 10s, found "10 s"`},
		{"duration too long", "interval: 1e300", `line 1: interval: "1e300" is out of range: it can be -2562047h0m0s to 2562047h0m0s`},
		{"duration that is no number", "interval: .nan", `line 1: interval: expected a duration such as 10s, found ".nan"`},
		{"list for text", "hostname: [a]", "line 1: hostname: expected text, found a list"},
		{"text for a list", "percentiles: 0.5", `line 1: percentiles: expected a list, found "0.5"`},
		{"list for keys", "labels: [a]", "line 1: labels: expected keys and values, found a list"},
		{"text for a struct", "tls: x", `line 1: tls: expected keys and values, found "x"`},
		{"keys for a number", "num_readers: {a: 1}", "line 1: num_readers: expected a whole number, found keys and values"},
		{"fraction for a whole number", "num_readers: 1.5", `line 1: num_readers: expected a whole number, found "1.5"`},
		{"too large", "small: 128", `line 1: small: "128" is out of range: it can be -128 to 127`},
		{"negative", "port: -1", `line 1: port: "-1" is out of range: it can be 0 to 65535`},
		{"octal or not", "num_readers: 010", `line 1: num_readers: "010" begins with a zero: write 0o for octal, or leave the zero out`},
		{"no finite number", "percentiles: [.inf, nan]", "line 1: percentiles[0]: expected a number, found \".inf\"\nline 1: percentiles[1]: expected a number, found \"nan\""},
		{"float32 too large", "ratio: 1e39", `line 1: ratio: "1e39" is out of range: it can be -3.4e+38 to 3.4e+38`},
		{"no boolean", "synchronize_with_interval: 2", `line 1: synchronize_with_interval: expected true or false, found "2"`},
		{"text unmarshaler", "address: x", `line 1: address: ParseAddr("x"): unable to parse IP`},
		{"list for a secret", "tls_key: [abc]", "line 1: tls_key: expected text, found a list"},
		{"neither text nor keys", "listeners: [[a]]", "line 1: listeners[0]: expected text, found a list"},
		{"unknown key beside a text form", "listeners: [{addres: a}]", "line 1: listeners[0].addres: unknown key; did you mean address?"},
		{"long value", "num_readers: " + strings.Repeat("x", 100), "line 1: num_readers: expected a whole number, found \"" + strings.Repeat("x", 64) + "\"…"},
		{"key and its alias", "http_address: a\nhttp: b", "line 2: http: means the same as http_address: give one of them"},
		{"alias of a sink's key", "metric_sinks:\n- config:\n    path: a\n    flush_file: b", "line 4: metric_sinks[0].config.flush_file: means the same as path: give one of them"},
		{"obsolete and refused", "interval: 1s\nforward_address: x", "line 2: forward_address: comes with version 2"},
		{"obsolete key of a sink", "metric_sinks:\n- config: {repeater_address: x}", "line 2: metric_sinks[0].config.repeater_address: is a scrape endpoint now"},
		{"beside an obsolete one", "old: {nested: {key: 1, kez: 2}, x: 3}", "line 1: old.nested.kez: unknown key\nline 1: old.x: unknown key"},
		{"all at once", "a: 1\ninterval: x\nhostname: ok\nmetric_sinks: [{b: 1}]\n", "line 1: a: unknown key\nline 2: interval: expected a duration such as 10s, found \"x\"\nline 4: metric_sinks[0].b: unknown key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := load(tt.in, noVariables)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestB116DurationsAreSecondsWithoutAUnit(t *testing.T) {
	for in, want := range map[string]time.Duration{
		`10`:     10 * time.Second,
		`"10"`:   10 * time.Second,
		`10s`:    10 * time.Second,
		`0.25`:   250 * time.Millisecond,
		`1e1`:    10 * time.Second,
		`"0s"`:   0, // bounds are Validate's
		`-1s`:    -time.Second,
		`-1`:     -time.Second,
		`1m30s`:  90 * time.Second,
		`null`:   10 * time.Second, // the default
		``:       10 * time.Second,
		`~ # no`: 10 * time.Second,
	} {
		c, _, err := load("hostname: x\ninterval: "+in, noVariables)
		assert.NoError(t, err, in)
		assert.Equal(t, want, c.Interval, in)
	}
}

func TestDecodeKeepsDefaultsApart(t *testing.T) {
	first := defaultSample()
	second := first // shares pointers, maps and lists
	doc, err := Parse("", []byte("tls: {ca_file: x, wait: 1}\nlabels: {c: d}\npercentiles: [1]\nmetric_sinks: [null, {kind: ~}]"))
	require.NoError(t, err)
	require.NoError(t, doc.Decode(&first))
	assert.Equal(t, defaultSample(), second)
	assert.Equal(t, "x", first.TLS.CA)
	assert.Equal(t, []sampleSink{{Queue: 10}, {Queue: 10}}, first.Sinks)

	doc, err = Parse("", []byte("labels: {}\npercentiles: []\ntls: null"))
	require.NoError(t, err)
	require.NoError(t, doc.Decode(&second))
	assert.Empty(t, second.Labels)
	assert.Empty(t, second.Percents)
	assert.Equal(t, "/etc/ca.pem", second.TLS.CA)
}

func TestObsoleteKeysWarn(t *testing.T) {
	_, doc, err := load("features:\n  a: true\n  b: {c: d}\nflush_max_per_body: 3\nold: {nested: {key: 1}}", noVariables)
	require.NoError(t, err)
	assert.EqualError(t, doc.Warnings(), `line 2: features.a: always on
line 3: features.b: always on
line 4: flush_max_per_body: each sink has its own
line 5: old.nested.key: went away`)
}

func TestDecodeManyFaultsAreCut(t *testing.T) {
	_, _, err := load("metric_sinks:"+strings.Repeat("\n- {x: 1}", 10_000), noVariables)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, maxFaults+1)
	assert.Contains(t, lines[maxFaults], "more than 100")
}

func TestDecodeRefusesWhatTheProgramGotWrong(t *testing.T) {
	doc, err := Parse("", []byte("a: 1"))
	require.NoError(t, err)
	assert.ErrorContains(t, doc.Decode(sample{}), "cannot decode into config.sample")
	assert.ErrorContains(t, doc.Decode(nil), "cannot decode into <nil>")
	assert.ErrorContains(t, doc.Decode((*sample)(nil)), "cannot decode into *config.sample")
	assert.ErrorContains(t, doc.Decode(new(int)), "cannot decode into *int")
	assert.EqualError(t, doc.Decode(&struct {
		A int `yaml:"a"`
		B int `yaml:"a"`
	}{}), "line 1: struct { A int \"yaml:\\\"a\\\"\"; B int \"yaml:\\\"a\\\"\" }.A and struct { A int \"yaml:\\\"a\\\"\"; B int \"yaml:\\\"a\\\"\" }.B have the same key a")
	assert.ErrorContains(t, doc.Decode(&struct {
		A *limit `yaml:",inline"`
	}{}), "is inline but no struct")
	assert.ErrorContains(t, doc.Decode(&struct {
		A chan int `yaml:"a"`
	}{}), "no value can be written over: chan int")
}
