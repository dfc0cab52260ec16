package flush

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDefaultConfigIsValid(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
}

func TestConfigFaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"B116 no interval", func(c *Config) { c.Interval = 0 }, "interval: 0s is not between 10ms and 24h0m0s"},
		{"B116 negative interval", func(c *Config) { c.Interval = -time.Second }, "interval: -1s is not between 10ms and 24h0m0s"},
		{"percentile of 100", func(c *Config) { c.Percentiles = []float64{1} }, "percentiles[0]: 1 is not above 0 and below 1"},
		{"percentile that is no number", func(c *Config) { c.Percentiles = []float64{math.NaN()} }, "percentiles[0]: NaN is not above 0 and below 1"},
		{
			"two percentiles of one name", func(c *Config) { c.Percentiles = []float64{0.75, 0.075} },
			"percentiles[1]: 0.75 and 0.075 would both be named 75percentile",
		},
		{
			"B115 aggregate that is none", func(c *Config) { c.Aggregates = []string{"p99"} },
			`aggregates[0]: "p99" is none of min, max, median, avg, count, sum, hmean`,
		},
		{"aggregate twice", func(c *Config) { c.Aggregates = []string{"min", "min"} }, `aggregates[1]: "min" stands here twice`},
		{"watchdog below zero", func(c *Config) { c.FlushWatchdogMissedFlushes = -1 }, "flush_watchdog_missed_flushes: -1 is less than 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			require.EqualError(t, c.Validate(), tt.want)
		})
	}
}

func TestRouteFaults(t *testing.T) {
	any := []Match{{Name: NameMatch{Kind: "any"}}}
	tests := []struct {
		name  string
		route RouteConfig
		want  string
	}{
		{"no matcher", RouteConfig{}, "metric_sink_routing[0].match: must hold at least one matcher; {name: {kind: any}} matches every point"},
		{
			"unknown sink",
			RouteConfig{Match: any, Sinks: RouteSinks{NotMatched: []string{"nowhere"}}},
			`metric_sink_routing[0].sinks.not_matched[0]: no metric sink is named "nowhere"`,
		},
		{
			"bad expression",
			RouteConfig{Match: []Match{{Name: NameMatch{Kind: "regex", Value: "("}}}},
			"metric_sink_routing[0].match[0].name.value: error parsing regexp: missing closing ): `(`",
		},
		{
			"unknown kind",
			RouteConfig{Match: []Match{{Tags: []TagMatch{{Kind: "glob", Value: "x"}}}}},
			`metric_sink_routing[0].match[0].tags[0].kind: "glob" is none of any, exact, prefix, regex`,
		},
		{
			"no value",
			RouteConfig{Match: []Match{{Name: NameMatch{Kind: "exact"}}}},
			"metric_sink_routing[0].match[0].name.value: must be set for kind exact",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.EqualError(t, ValidateRoutes([]RouteConfig{tt.route}, []string{"main"}), tt.want)
		})
	}
}

func TestRuleFaults(t *testing.T) {
	tests := []struct {
		name string
		r    Rules
		want string
	}{
		{"a value that is two tags", Rules{AddTags: map[string]string{"k": "v,w"}}, `add_tags.k: "v,w" holds a comma, a bar or a newline`},
		{"a value of two lines", Rules{AddTags: map[string]string{"k": "v\nx"}}, `add_tags.k: "v\nx" holds a comma, a bar or a newline`},
		{"a key with a colon", Rules{AddTags: map[string]string{"a:b": "v"}}, `add_tags: key "a:b" holds a colon, a comma or a newline`},
		{"no kind", Rules{StripTags: []StripTag{{Value: "x"}}}, "strip_tags[0].kind: must be set: any, exact, prefix or regex"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.EqualError(t, tt.r.Validate(), tt.want) })
	}
}
