package spanmetrics

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// Config says which metrics are made of spans, and where they are kept until they are emitted.
type Config struct {
	// Enabled makes metrics of every span of a trace: see docs/spanmetrics.md.
	Enabled bool `yaml:"enabled"`
	// Intervals are over which times spans are added up, ascending, each a multiple of the first, in whole seconds. Each is emitted at its
	// end, which is aligned to the clock. Those of the next start may be others: docs/spanmetrics.md says what becomes of what is under way.
	Intervals []time.Duration `yaml:"intervals"`
	// Prefix begins the name of every metric. It has no space and none of : | @ # and comma.
	Prefix string `yaml:"prefix"`
	// IntervalIn says where the interval stands: "tag" is the tag interval with the value 1m, 10m or 60m, "name" is the end of the
	// metric's name.
	IntervalIn string `yaml:"interval_in"`

	// ResourceTags are keys of tags that, beside its name, make a service what it is. Every metric has them. No key of a tag that is named here or
	// below has a colon, a comma, a | or a control character.
	ResourceTags []string `yaml:"resource_tags"`
	// KindTag is the key of the tag that says what kind of request a span is. Empty means that requests have no kind.
	KindTag string `yaml:"kind_tag"`
	// SampleRateTag is the key of the tag with the part of all spans that is sent, more than 0 and at most 1: a span with 0.1 counts as
	// ten. Empty means that every span counts as one.
	SampleRateTag string `yaml:"sample_rate_tag"`
	// TargetTags are keys of tags that name what a span waits for. The first that a span has makes it a dependency.
	TargetTags []string `yaml:"target_tags"`

	// Limits bound how many keys are told apart in an interval. What exceeds them is added up under the name _other.
	Limits Limits `yaml:"limits"`

	// StorePath is a directory for what is not yet emitted, so that it outlives a restart or a crash; it is made if it is not there,
	// and must hold nothing else. Empty means memory only.
	StorePath string `yaml:"store_path"`
	// CommitInterval is how often what came is written to the store, and how much a crash loses at most.
	CommitInterval time.Duration `yaml:"commit_interval"`
}

// Limits is how many keys there may be. One key of an operation takes some 300 bytes, twice in each lane and once in the store, more if its
// durations differ much, and 100 more for each interval. What has a place in an interval keeps it until its end.
// The defaults are for a host, and for a page that Prometheus can still read: see docs/spanmetrics.md for how many series they give at most.
type Limits struct {
	// Services is how many services are told apart.
	Services int `yaml:"services"`
	// OperationsPerService is how many operations, times failed or not, a service may have.
	OperationsPerService int `yaml:"operations_per_service"`
	// KindsPerService is how many kinds of requests a service may have.
	KindsPerService int `yaml:"kinds_per_service"`
	// DependenciesPerService is how many dependencies, a name and a target each, times failed or not, a service may have. From half of them on new
	// ones are told by their target only.
	DependenciesPerService int `yaml:"dependencies_per_service"`
	// Operations is how many operations all services together may have.
	Operations int `yaml:"operations"`
	// Kinds is how many kinds all services together may have.
	Kinds int `yaml:"kinds"`
	// Dependencies is how many dependencies all services together may have.
	Dependencies int `yaml:"dependencies"`
}

// Places of the interval.
const (
	inTag  = "tag"
	inName = "name"
)

// DefaultConfig returns a configuration that makes no metrics of spans until it is enabled.
func DefaultConfig() Config {
	return Config{
		Intervals:     []time.Duration{time.Minute, 10 * time.Minute, time.Hour},
		Prefix:        "span.",
		IntervalIn:    inTag,
		ResourceTags:  []string{"env", "region"},
		KindTag:       "span.kind",
		SampleRateTag: "sample_rate",
		TargetTags:    []string{"peer.service", "db.instance", "messaging.destination", "http.host"},
		Limits: Limits{
			Services:               500,
			OperationsPerService:   200,
			KindsPerService:        20,
			DependenciesPerService: 200,
			Operations:             3000,
			Kinds:                  1000,
			Dependencies:           3000,
		},
		CommitInterval: time.Second,
	}
}

const (
	maxIntervals = 8
	maxInterval  = 24 * time.Hour
	minCommit    = 10 * time.Millisecond
)

// Validate reports every fault of the configuration. It opens nothing.
func (c *Config) Validate() error {
	var faults config.Faults
	c.validateIntervals(&faults)
	if i := strings.IndexFunc(c.Prefix, notInName); i >= 0 {
		faults.Add("prefix", "%q has %q, which no name of a metric may have", c.Prefix, []rune(c.Prefix[i:])[0])
	}
	if c.IntervalIn != inTag && c.IntervalIn != inName {
		faults.Add("interval_in", "%q is neither %q nor %q", c.IntervalIn, inTag, inName)
	}
	for key, list := range map[string][]string{"resource_tags": c.ResourceTags, "target_tags": c.TargetTags} {
		for i, tag := range list {
			switch {
			case tag == "":
				faults.Add(config.Index(key, i), "is empty")
			case strings.ContainsFunc(tag, notInKey):
				faults.Add(config.Index(key, i), notAKey, tag)
			case slices.Contains(list[:i], tag):
				faults.Add(config.Index(key, i), "%q stands there already", tag)
			case key == "resource_tags" && slices.Contains(ownTags, tag):
				faults.Add(config.Index(key, i), "%q is a tag that span metrics have anyway", tag)
			}
		}
	}
	for key, tag := range map[string]string{"kind_tag": c.KindTag, "sample_rate_tag": c.SampleRateTag} {
		if strings.ContainsFunc(tag, notInKey) {
			faults.Add(key, notAKey, tag)
		}
	}
	for _, limit := range []struct {
		key   string
		value int
	}{
		{"services", c.Limits.Services},
		{"operations_per_service", c.Limits.OperationsPerService},
		{"kinds_per_service", c.Limits.KindsPerService},
		{"dependencies_per_service", c.Limits.DependenciesPerService},
		{"operations", c.Limits.Operations},
		{"kinds", c.Limits.Kinds},
		{"dependencies", c.Limits.Dependencies},
	} {
		if limit.value < 1 || limit.value > maxLimit {
			faults.Add(config.Join("limits", limit.key), "%d is not between 1 and %d", limit.value, maxLimit)
		}
	}
	shortest := maxInterval
	for _, interval := range c.Intervals {
		if validInterval(interval) { // what is wrong with the others is said
			shortest = min(shortest, interval)
		}
	}
	if c.CommitInterval < minCommit || c.CommitInterval > shortest {
		faults.Add("commit_interval", "%s is not between %s and the shortest interval", c.CommitInterval, minCommit)
	}
	return faults.Err()
}

// notInName says whether a character has a meaning of its own where names of metrics are written, or cannot be seen.
func notInName(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune(":|@#,", r)
}

// notInKey says whether a character ends the key of a tag, or the tag, where tags are written, or is none to be written: with a resource tag
// "service:x" a series would have the tag service twice.
func notInKey(r rune) bool {
	return unicode.IsControl(r) || r == unicode.ReplacementChar || strings.ContainsRune(":,|", r)
}

const notAKey = "%q is no key of a tag: it may have no colon, comma, | or control character"

// ownTags are keys of tags that are set by this package.
var ownTags = []string{"service", "operation", "kind", "error", "target", "target_kind", "interval", "family"}

const maxLimit = 1_000_000

func (c *Config) validateIntervals(faults *config.Faults) {
	if len(c.Intervals) == 0 || len(c.Intervals) > maxIntervals {
		faults.Add("intervals", "has %d intervals: name 1 to %d, as [1m, 10m, 60m]", len(c.Intervals), maxIntervals)
	}
	for i, interval := range c.Intervals {
		at := config.Index("intervals", i)
		switch {
		case !validInterval(interval):
			faults.Add(at, "%s is no whole number of seconds between 1s and %s", interval, maxInterval)
		case i > 0 && interval <= c.Intervals[i-1]:
			faults.Add(at, "%s is not longer than the one before", interval)
		case validInterval(c.Intervals[0]) && interval%c.Intervals[0] != 0:
			faults.Add(at, "%s is no multiple of the first, %s", interval, c.Intervals[0])
		}
	}
}

func validInterval(d time.Duration) bool {
	return d >= time.Second && d <= maxInterval && d%time.Second == 0
}

func (c *Config) limits() partial.Limits {
	return partial.Limits{
		Services:   c.Limits.Services,
		PerService: partial.Groups{Operations: c.Limits.OperationsPerService, Kinds: c.Limits.KindsPerService, Dependencies: c.Limits.DependenciesPerService},
		Overall:    partial.Groups{Operations: c.Limits.Operations, Kinds: c.Limits.Kinds, Dependencies: c.Limits.Dependencies},
	}
}

// heldLimits returns how much a bucket holds at most: one of the shortest interval, besides what the limits allow, those keys that come of what has a
// place in a longer one.
func (c *Config) heldLimits() partial.Limits {
	l, n := c.limits(), len(c.Intervals)
	times := func(g partial.Groups) partial.Groups {
		return partial.Groups{Operations: n * g.Operations, Kinds: n * g.Kinds, Dependencies: n * g.Dependencies}
	}
	return partial.Limits{Services: n * l.Services, PerService: times(l.PerService), Overall: times(l.Overall)}
}

func (c *Config) dimensions() derive.Dimensions {
	return derive.Dimensions{Resource: c.ResourceTags, Kind: c.KindTag, Rate: c.SampleRateTag, Targets: c.TargetTags}
}

// intervalName returns "1m" for a minute, "60m" for an hour, "90s" for what is no whole number of minutes.
func intervalName(interval time.Duration) string {
	if interval%time.Minute == 0 {
		return strconv.Itoa(int(interval/time.Minute)) + "m"
	}
	return strconv.Itoa(int(interval/time.Second)) + "s"
}
