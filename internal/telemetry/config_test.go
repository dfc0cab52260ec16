package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    Config
		err  string
	}{
		{"default", DefaultConfig(), ""},
		{"host and port", Config{StatsAddress: "localhost:8125"}, ""},
		{"scheme", Config{StatsAddress: "udp://[::1]:8125"}, ""},
		{"socket", Config{StatsAddress: "unix:///var/run/x.sock", VeneurMetricsAdditionalTags: []string{"a:b", "c"}}, ""},
		{"abstract socket", Config{StatsAddress: "unixgram://@x"}, ""},
		{"no port", Config{StatsAddress: "localhost"}, `stats_address: "localhost": write host:port, udp://host:port or unix:///path`},
		{"port 0", Config{StatsAddress: "localhost:0"}, `stats_address: "localhost:0": write`},
		{"no path", Config{StatsAddress: "unix://"}, `stats_address: "unix://": write`},
		{"path", Config{StatsAddress: "udp:///var/run/x:1"}, `stats_address: "udp:///var/run/x:1": write`},
		{"other scheme", Config{StatsAddress: "tcp://localhost:8125"}, `stats_address: "tcp://localhost:8125": write`},
		{
			"tags",
			Config{StatsAddress: "x", VeneurMetricsAdditionalTags: []string{"a:b", "a,b", ""}},
			"stats_address: \"x\": write host:port, udp://host:port or unix:///path\n" +
				"veneur_metrics_additional_tags[1]: \"a,b\" is no tag: write key:value without , and |\n" +
				"veneur_metrics_additional_tags[2]: \"\" is no tag: write key:value without , and |",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.c.Validate()
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.err)
		})
	}
}
