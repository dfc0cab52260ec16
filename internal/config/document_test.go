package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLocate(t *testing.T) {
	_, doc, err := load(`
interval: 0s
labels:
  a.b: x
  '[0]': y
metric_sinks:
  - kind: a
    config:
      flush_file: p
  - kind: b
http:
  x
`, noVariables)
	require.NoError(t, err)
	tests := []struct{ path, want string }{
		{"interval", "line 2"},
		{`labels["a.b"]`, "line 4"},
		{`labels["[0]"]`, "line 5"},
		{"labels.c", "line 3"},
		{"metric_sinks[0].config.path", "line 9"}, // given by its alias
		{"metric_sinks[0].config.flush_file", "line 9"},
		{"metric_sinks[0].config.url", "line 8"}, // not given: where its parent is
		{"metric_sinks[1].config.url", "line 10"},
		{"metric_sinks[7].kind", "line 6"},
		{"metric_sinks[x].kind", "line 6"},
		{"metric_sinks.kind", "line 6"},
		{"http_address", "line 11"},
		{"hostname", "hostname"},
		{"", "x"},
		{"[", "[: x"},
	}
	for _, tt := range tests {
		located := doc.Locate(Faults{{Path: tt.path, Message: "x"}})
		assert.True(t, strings.HasPrefix(located[0].String(), tt.want), "%s: %s", tt.path, located)
	}
	placed := Faults{{Path: "interval", Line: 77}, {Path: "interval", Variable: "V"}}
	assert.Equal(t, placed, doc.Locate(placed))
	assert.Equal(t, Faults{{Path: "a"}}, new(Document).Locate(Faults{{Path: "a"}}))
}

func TestFaultsKeepTheirPlace(t *testing.T) {
	c, doc, err := load("metric_sinks:\n- kind: a\n  config: {url: [x]}", noVariables)
	require.Error(t, err)
	var faults Faults
	faults.AddIn("metric_sinks[0].config", c.Sinks[0].Config.Decode(&kindConfig{}))
	faults.AddIn("metric_sinks[0].config", Faults{{Path: "path", Message: "must be set"}})
	faults.AddIn("metric_sinks[0].config", errors.New("no"))
	faults.AddIn("metric_sinks[0].config", nil)
	assert.EqualError(t, doc.Locate(faults).Err(), `line 3: metric_sinks[0].config.url: expected text, found a list
line 3: metric_sinks[0].config.path: must be set
line 3: metric_sinks[0].config: no`)
	assert.NoError(t, doc.Locate(nil).Err())
}

func TestPaths(t *testing.T) {
	path := appendKey(appendIndex(appendKey(appendKey(nil, "a"), "b.c"), 3), `"`)
	assert.Equal(t, `a["b.c"][3]["\""]`, string(path))
	var got []string
	for rest := string(path) + "[7]x.y"; rest != ""; {
		var key string
		var index int
		key, index, rest = cutSegment(rest)
		got = append(got, fmt.Sprint(key, index))
	}
	assert.Equal(t, []string{"a-1", "b.c-1", "3", `"-1`, "7", "x-1", "y-1"}, got)
	assert.Equal(t, "a[0].b", Join("a", Join("[0]", "b")))
	assert.Equal(t, "a", Join("a", ""))
	assert.Equal(t, "a", Join("", "a"))
}

func TestNearest(t *testing.T) {
	keys := []string{"interval", "hostname", "tls_key", "metric_sinks"}
	for word, want := range map[string]string{
		"intervall": "interval", "itnerval": "interval", "Interval": "interval", "metrics_sink": "metric_sinks", "tlskey": "tls_key",
		"xyz": "", "": "", "host": "", strings.Repeat("x", 1000): "",
	} {
		assert.Equal(t, want, nearest(word, keys), word)
	}
	assert.Equal(t, 3, editDistance("kitten", "sitting"))
	assert.Equal(t, 1, editDistance("ab", "ba"))
	assert.Equal(t, 2, editDistance("", "ab"))
}

func TestBoundsOfFaults(t *testing.T) {
	var faults Faults
	for _, value := range []int{0, 1, 9, 10} {
		path := Index("list", value)
		faults.AtLeast(path, value, 1)
		faults.AtMost(path, value, 9)
	}
	require.EqualError(t, faults.Err(), "list[0]: 0 is less than 1\nlist[10]: 10 is more than 9")
}
