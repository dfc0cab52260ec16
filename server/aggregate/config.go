package aggregate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/protocol/metric"
)

// Config says which tags series have, and how many series, points and events may be held.
type Config struct {
	// ExtendTags are added to every series, event, check and span. One overrides a sender's tags of the same key.
	ExtendTags []string `yaml:"extend_tags"`
	// TagsExclude lists keys of tags to remove. An entry "key" acts when a series is first seen, so that series that differ in it alone
	// are one, and on events, checks and spans; an entry "key|sink" or "key|sink|sink" acts for the named metric sinks only.
	TagsExclude []string `yaml:"tags_exclude"`
	// MaxSeries is how many series the daemon holds at most. Samples of further ones go to the overflow series of their name,
	// which has the one tag veneur_overflow:true; of a name that has no series, counters and sets go to veneur.overflow, and the
	// others are refused. A series costs about 200 bytes while idle, and 130 more in each further reader that sees it. Name and tags may take
	// 256 bytes a series on average, where each tag counts 16 more than its text; what is beyond that is as if it were beyond MaxSeries.
	MaxSeries int `yaml:"max_series"`
	// MaxSeriesPerName is the same for the series of one name.
	MaxSeriesPerName int `yaml:"max_series_per_name"`
	// SeriesIdleIntervals is how many intervals a series without samples is remembered, unless it had samples in one interval only, or never
	// in two an odd number apart: then it is four at most, so that a flood of series that come once does not hold memory for long. A gauge
	// is remembered in any case; one to which changes are added starts from 0 again after that.
	SeriesIdleIntervals int `yaml:"series_idle_intervals"`
	// MaxTimedPoints is how many samples with a time of their own may wait for a flush. Further ones are refused.
	MaxTimedPoints int `yaml:"max_timed_points"`
	// MaxEvents is how many events and service checks may wait for a flush. Further ones are refused.
	MaxEvents int `yaml:"max_events"`
	// MaxEventBytes bounds the texts and tags of these events and checks.
	MaxEventBytes int `yaml:"max_event_bytes"`
	// CountUniqueTimeseries reports how many series, told apart by name, type and tags, each interval had, as the metric
	// flush.unique_timeseries_total.
	CountUniqueTimeseries bool `yaml:"count_unique_timeseries"`
}

// DefaultConfig returns a million series, a hundred thousand of one name, remembered for ten minutes of ten-second intervals.
func DefaultConfig() Config {
	return Config{
		MaxSeries:           1_000_000,
		MaxSeriesPerName:    100_000,
		SeriesIdleIntervals: 60,
		MaxTimedPoints:      100_000,
		MaxEvents:           10_000,
		MaxEventBytes:       16 << 20,
	}
}

const (
	// A table numbers its entries in 24 bits: the series, a reserve for overflow series, and aliases must fit.
	maxMaxSeries = 8_000_000
	// A number of idle intervals must let both generations of an entry end.
	minIdleIntervals = 2
	maxIdleIntervals = 1_000_000
)

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	for i, tag := range c.ExtendTags {
		if message := tagFault(tag); message != "" {
			faults.Add(fmt.Sprintf("extend_tags[%d]", i), "%s", message)
		}
	}
	for i, entry := range c.TagsExclude {
		key, names, listed := strings.Cut(entry, "|")
		switch {
		case key == "":
			faults.Add(fmt.Sprintf("tags_exclude[%d]", i), "%q names no tag", entry)
		case strings.ContainsAny(key, ":,"):
			faults.Add(fmt.Sprintf("tags_exclude[%d]", i), "%q is no key of a tag: it holds a colon or a comma", key)
		case listed && strings.Trim(names, "|") == "":
			faults.Add(fmt.Sprintf("tags_exclude[%d]", i), "%q names no sink", entry)
		}
	}
	atLeast := func(path string, value, bound int) {
		if value < bound {
			faults.Add(path, "%d is less than %d", value, bound)
		}
	}
	atMost := func(path string, value, bound int) {
		if value > bound {
			faults.Add(path, "%d is more than %d", value, bound)
		}
	}
	atLeast("max_series", c.MaxSeries, 1)
	atMost("max_series", c.MaxSeries, maxMaxSeries)
	atLeast("max_series_per_name", c.MaxSeriesPerName, 1)
	atLeast("series_idle_intervals", c.SeriesIdleIntervals, minIdleIntervals)
	atMost("series_idle_intervals", c.SeriesIdleIntervals, maxIdleIntervals)
	atLeast("max_timed_points", c.MaxTimedPoints, 0)
	atLeast("max_events", c.MaxEvents, 0)
	atLeast("max_event_bytes", c.MaxEventBytes, 0)
	return faults.Err()
}

func tagFault(tag string) string {
	switch {
	case tag == "" || tag[0] == ':':
		return fmt.Sprintf("%q has no key", tag)
	case !utf8.ValidString(tag):
		return fmt.Sprintf("%q is not UTF-8", tag)
	case strings.ContainsAny(tag, ",\n|"):
		return fmt.Sprintf("%q holds a comma, a bar or a newline", tag)
	}
	var set metric.TagSet
	if set.Parse(metric.TagsList, []byte(tag)); len(set.Tags) != 1 {
		return fmt.Sprintf("%q has a meaning of its own and cannot be added to every series", tag)
	}
	return ""
}
