package spanmetrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValidate(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no interval", func(c *Config) { c.Intervals = nil }, "intervals: has 0 intervals: name 1 to 8"},
		{"less than a second", func(c *Config) { c.Intervals[0] = time.Second / 2 }, "intervals[0]: 500ms is no whole number of seconds"},
		{"none", func(c *Config) { c.Intervals = []time.Duration{0} }, "intervals[0]: 0s is no whole number of seconds between 1s and 24h0m0s"},
		{"negative", func(c *Config) { c.Intervals[0] = -time.Minute }, "intervals[0]: -1m0s is no whole number of seconds"},
		{"more than a day", func(c *Config) { c.Intervals[2] = 48 * time.Hour }, "intervals[2]: 48h0m0s is no whole number of seconds between 1s and 24h0m0s"},
		{"not ascending", func(c *Config) { c.Intervals[1] = time.Minute }, "intervals[1]: 1m0s is not longer than the one before"},
		{"no multiple", func(c *Config) { c.Intervals[1] = 90 * time.Second }, "intervals[1]: 1m30s is no multiple of the first, 1m0s"},
		{"prefix with a space", func(c *Config) { c.Prefix = "a b." }, `prefix: "a b." has ' ', which no name`},
		{"prefix with a mark", func(c *Config) { c.Prefix = "ab|c:" }, `prefix: "ab|c:" has '|', which no name`},
		{"prefix that is no text", func(c *Config) { c.Prefix = "a\xff" }, `prefix: "a\xff" has`},
		{"place of the interval", func(c *Config) { c.IntervalIn = "both" }, `interval_in: "both" is neither "tag" nor "name"`},
		{"empty tag", func(c *Config) { c.TargetTags[1] = "" }, "target_tags[1]: is empty"},
		{"tag twice", func(c *Config) { c.ResourceTags = []string{"a", "a"} }, `resource_tags[1]: "a" stands there already`},
		{"tag of ours", func(c *Config) { c.ResourceTags = []string{"service"} }, `resource_tags[0]: "service" is a tag that span metrics have anyway`},
		{"tag of ours with a value", func(c *Config) { c.ResourceTags = []string{"service:x"} }, `resource_tags[0]: "service:x" is no key of a tag: it may have no colon, comma,`},
		{"resource tag that is two", func(c *Config) { c.ResourceTags = []string{"env", "a,b"} }, `resource_tags[1]: "a,b" is no key`},
		{"target tag with a mark", func(c *Config) { c.TargetTags[1] = "a|b" }, `target_tags[1]: "a|b" is no key`},
		{"target tag that is no text", func(c *Config) { c.TargetTags[1] = "a\xff" }, `target_tags[1]: "a\xff" is no key`},
		{"tag of the kind with a value", func(c *Config) { c.KindTag = "kind:x" }, `kind_tag: "kind:x" is no key`},
		{"tag of the sample rate in two lines", func(c *Config) { c.SampleRateTag = "a\nb" }, `sample_rate_tag: "a\nb" is no key`},
		{"limit", func(c *Config) { c.Limits.Kinds = 0 }, "limits.kinds: 0 is not between 1 and 1000000"},
		{"commit", func(c *Config) { c.CommitInterval = 2 * time.Minute }, "commit_interval: 2m0s is not between 10ms and the shortest interval"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := DefaultConfig()
			tt.change(&c)
			err := c.Validate()
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n", "one mistake is one fault")
		})
	}
}

func TestIntervalName(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", 90 * time.Second: "90s", time.Minute: "1m", 10 * time.Minute: "10m", time.Hour: "60m", 24 * time.Hour: "1440m",
	} {
		assert.Equal(t, want, intervalName(d))
	}
}
