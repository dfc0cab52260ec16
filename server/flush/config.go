package flush

import (
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// Config says when intervals end and what a histogram gives.
type Config struct {
	// Interval is how often aggregates are flushed to the sinks, from 10ms to 24h.
	Interval time.Duration `yaml:"interval"`
	// SynchronizeWithInterval ends intervals at whole multiples of the interval by the wall clock (:00, :10, :20 for ten
	// seconds), so that hosts agree; the first one is then shorter.
	SynchronizeWithInterval bool `yaml:"synchronize_with_interval"`
	// FlushOnShutdown flushes the last, partial interval at a stop.
	FlushOnShutdown bool `yaml:"flush_on_shutdown"`
	// FlushWatchdogMissedFlushes ends the process with an error and every goroutine's stack in the log when this many
	// intervals pass without a flush; 0 turns the watchdog off.
	FlushWatchdogMissedFlushes int `yaml:"flush_watchdog_missed_flushes"`
	// Percentiles are the quantiles a histogram gives, each above 0 and below 1: 0.99 gives x.99percentile. 50 at most.
	Percentiles []float64 `yaml:"percentiles"`
	// Aggregates are what else a histogram gives: min, max, median, avg, count, sum, hmean (the harmonic mean, which is left out where it is
	// not defined: with a value of 0, or values of both signs). x.count is a counter, all others are gauges.
	Aggregates []string `yaml:"aggregates"`
	// MetricSinkRouting decides which metric sinks get which points. Without it every sink gets all; with it, a point gets to the
	// sinks that at least one route names, and to none when there is no such route.
	MetricSinkRouting []RouteConfig `yaml:"metric_sink_routing"`
}

// DefaultConfig returns ten seconds, min, max and count, and the percentiles 0.5, 0.75 and 0.99.
func DefaultConfig() Config {
	return Config{
		Interval:        10 * time.Second,
		FlushOnShutdown: true,
		Percentiles:     []float64{0.5, 0.75, 0.99},
		Aggregates:      []string{"min", "max", "count"},
	}
}

const (
	minInterval = 10 * time.Millisecond
	maxInterval = 24 * time.Hour

	// All points of a histogram must fit into the bits of a word; see (*Flusher).routedStates.
	maxPercentiles = 50
)

// Validate reports every fault but those of the routes, which need the names of the sinks: see ValidateRoutes.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.Interval < minInterval || c.Interval > maxInterval {
		faults.Add("interval", "%s is not between %s and %s", c.Interval, minInterval, maxInterval)
	}
	if c.FlushWatchdogMissedFlushes < 0 {
		faults.Add("flush_watchdog_missed_flushes", "%d is less than 0", c.FlushWatchdogMissedFlushes)
	}
	suffixes := map[string]int{}
	for i, q := range c.Percentiles {
		if !validQuantile(q) {
			faults.Add(config.Index("percentiles", i), "%v is not above 0 and below 1", q)
			continue
		}
		suffix := percentileSuffix(q)
		if first, taken := suffixes[suffix]; taken {
			faults.Add(config.Index("percentiles", i), "%v and %v would both be named %s", c.Percentiles[first], q, suffix)
			continue
		}
		suffixes[suffix] = i
	}
	if len(c.Percentiles) > maxPercentiles {
		faults.Add("percentiles", "%d are more than %d", len(c.Percentiles), maxPercentiles)
	}
	seen := map[string]bool{}
	for i, name := range c.Aggregates {
		switch {
		case aggregates[name] == nil:
			faults.Add(config.Index("aggregates", i), "%q is none of min, max, median, avg, count, sum, hmean", name)
		case seen[name]:
			faults.Add(config.Index("aggregates", i), "%q stands here twice", name)
		}
		seen[name] = true
	}
	return faults.Err()
}
