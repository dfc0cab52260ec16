package aggregate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigFaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"the default is valid", func(*Config) {}, ""},
		{"tags", func(c *Config) { c.ExtendTags = []string{"a:b", "c"}; c.TagsExclude = []string{"a", "b|kafka|debug"} }, ""},
		{"empty tag", func(c *Config) { c.ExtendTags = []string{"a", ""} }, `extend_tags[1]: "" has no key`},
		{"no key", func(c *Config) { c.ExtendTags = []string{":b"} }, `extend_tags[0]: ":b" has no key`},
		{"two tags in one", func(c *Config) { c.ExtendTags = []string{"a:b,c:d"} }, "extend_tags[0]: \"a:b,c:d\" holds a comma, a bar or a newline"},
		{"not UTF-8", func(c *Config) { c.ExtendTags = []string{"\xff"} }, `extend_tags[0]: "\xff" is not UTF-8`},
		{"magic", func(c *Config) { c.ExtendTags = []string{"veneurlocalonly:1"} }, `extend_tags[0]: "veneurlocalonly:1" has a meaning of its own`},
		{"nothing excluded", func(c *Config) { c.TagsExclude = []string{"|kafka"} }, `tags_exclude[0]: "|kafka" names no tag`},
		{"excluded nowhere", func(c *Config) { c.TagsExclude = []string{"a|"} }, `tags_exclude[0]: "a|" names no sink`},
		{"a tag, not a key", func(c *Config) { c.TagsExclude = []string{"a:b"} }, `tags_exclude[0]: "a:b" is no key of a tag`},
		{"series", func(c *Config) { c.MaxSeries = 0 }, "max_series: 0 is less than 1"},
		{"too many series", func(c *Config) { c.MaxSeries = 10_000_000 }, "max_series: 10000000 is more than 8000000"},
		{"series per name", func(c *Config) { c.MaxSeriesPerName = -1 }, "max_series_per_name: -1 is less than 1"},
		{"idle", func(c *Config) { c.SeriesIdleIntervals = 1 }, "series_idle_intervals: 1 is less than 2"},
		{"long idle", func(c *Config) { c.SeriesIdleIntervals = 1 << 30 }, "series_idle_intervals: 1073741824 is more than 1000000"},
		{"timed", func(c *Config) { c.MaxTimedPoints = -1 }, "max_timed_points: -1 is less than 0"},
		{"events", func(c *Config) { c.MaxEvents = -1 }, "max_events: -1 is less than 0"},
		{"event bytes", func(c *Config) { c.MaxEventBytes = -1 }, "max_event_bytes: -1 is less than 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			err := c.Validate()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestConfigFaultsAllAtOnce(t *testing.T) {
	c := Config{ExtendTags: []string{""}, MaxEvents: -1}
	require.Equal(t, `extend_tags[0]: "" has no key
max_series: 0 is less than 1
max_series_per_name: 0 is less than 1
series_idle_intervals: 0 is less than 2
max_events: -1 is less than 0`, c.Validate().Error())
}
