package server

import (
	"io"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/admin"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/ingest"
	"github.com/veneurd/veneur/server/spanmetrics"
	"github.com/veneurd/veneur/sinks/delivery"
)

// Config is the whole configuration. Its keys are flat in the file; each stands in the package that uses it.
type Config struct {
	// Hostname is the name of this host in what sinks send. When it is empty, it is the system's, unless omit_empty_hostname is set.
	Hostname string `yaml:"hostname"`
	// OmitEmptyHostname leaves an empty hostname empty.
	OmitEmptyHostname bool `yaml:"omit_empty_hostname"`
	// Debug logs messages of the level debug too.
	Debug bool `yaml:"debug"`

	Ingest    ingest.Config    `yaml:",inline"`
	Aggregate aggregate.Config `yaml:",inline"`
	Flush     flush.Config     `yaml:",inline"`
	Admin     admin.Config     `yaml:",inline"`
	Stats     telemetry.Config `yaml:",inline"`

	// SpanMetrics makes metrics of spans: requests, errors and durations of services, operations and dependencies.
	SpanMetrics spanmetrics.Config `yaml:"span_metrics"`

	// MetricSinks lists where points, events and service checks go.
	MetricSinks []MetricSinkConfig `yaml:"metric_sinks"`
	// SpanSinks lists where trace spans go.
	SpanSinks []SpanSinkConfig `yaml:"span_sinks"`
}

// MetricSinkConfig is one metric sink.
type MetricSinkConfig struct {
	// Kind of the sink.
	Kind string `yaml:"kind"`
	// Name by which routes, veneursinkonly and self metrics know it; by default its kind.
	Name string `yaml:"name"`
	// Config holds the keys of the kind, see the section of each.
	Config config.Raw `yaml:"config"`

	Rules    flush.Rules     `yaml:",inline"`
	Delivery delivery.Config `yaml:",inline"`
}

// SetDefaults gives a sink in the list the defaults of delivery.
func (c *MetricSinkConfig) SetDefaults() { c.Delivery = delivery.DefaultConfig() }

// SpanSinkConfig is one span sink.
type SpanSinkConfig struct {
	// Kind of the sink.
	Kind string `yaml:"kind"`
	// Name by which self metrics know it; by default its kind.
	Name string `yaml:"name"`
	// Config holds the keys of the kind, see the section of each.
	Config config.Raw `yaml:"config"`

	Delivery delivery.SpanConfig `yaml:",inline"`
}

// SetDefaults gives a sink in the list the defaults of delivery.
func (c *SpanSinkConfig) SetDefaults() { c.Delivery = delivery.DefaultSpanConfig() }

// DefaultConfig returns what a file starts from: nothing listens and nothing is sent until the file says so.
func DefaultConfig() Config {
	return Config{
		Ingest:    ingest.DefaultConfig(),
		Aggregate: aggregate.DefaultConfig(),
		Flush:     flush.DefaultConfig(),
		Admin:     admin.DefaultConfig(),
		Stats:     telemetry.DefaultConfig(),

		SpanMetrics: spanmetrics.DefaultConfig(),
	}
}

// ObsoleteKeys lists the keys of the original Veneur that have no sense any more, and those whose work is not built yet. The latter
// are errors: a configuration that asks for forwarding must not lose its percentiles in silence.
func (*Config) ObsoleteKeys() []config.Obsolete {
	return []config.Obsolete{
		{Key: "num_workers", Message: "has no effect: every reader aggregates what it reads"},
		{Key: "num_span_workers", Message: "has no effect: every reader handles the spans it reads"},
		{Key: "span_channel_capacity", Message: "has no effect: every span sink has a queue of its own, see queue_items"},
		{Key: "trace_max_length_bytes", Message: "has no effect: datagrams of any size UDP can carry are accepted, and frames up to 16 MiB"},
		{Key: "sentry_dsn", Message: "has no effect: a crash is a non-zero exit code and a stack on standard error"},
		{Key: "block_profile_rate", Message: "has no effect: ask /debug/pprof for a profile when it is needed, see enable_profiling"},
		{Key: "mutex_profile_fraction", Message: "has no effect: ask /debug/pprof for a profile when it is needed, see enable_profiling"},
		{Key: "veneur_metrics_scopes", Message: "has no effect: the daemon's own metrics are sent as what they are"},
		{Key: "http", Message: "has no effect: /config is always there, with secrets hidden"},
		{Key: "features", Message: "has no effect: what could be turned on there always is"},
		{Key: "features.*", Message: "has no effect: what could be turned on there always is"},
		{Key: "forward_address", Message: "forwarding to a global daemon comes with version 0.3; remove the key to emit everything here", Error: true},
		{Key: "grpc_address", Message: "receiving from local daemons comes with version 0.3; grpc_listen_addresses takes spans and packets", Error: true},
		{Key: "sources", Message: "other sources come with version 0.4", Error: true},
	}
}

// Validate reports every fault at once, those of every sink's own configuration included. It opens nothing.
func (c *Config) Validate() error {
	var faults config.Faults
	faults.AddIn("", c.Ingest.Validate())
	faults.AddIn("", c.Aggregate.Validate())
	faults.AddIn("", c.Flush.Validate())
	faults.AddIn("", c.Admin.Validate())
	faults.AddIn("", c.Stats.Validate())
	faults.AddIn("span_metrics", c.SpanMetrics.Validate())
	metricNames := map[string]int{}
	for i := range c.MetricSinks {
		taken(&faults, config.Index("metric_sinks", i), c.MetricSinks[i].Name, metricNames, i)
	}
	spanNames := map[string]int{}
	for i := range c.SpanSinks {
		taken(&faults, config.Index("span_sinks", i), c.SpanSinks[i].Name, spanNames, i)
	}
	// Whether a sink can be built shows when it is built. That opens nothing, so it is done for the faults alone.
	_, err := buildSinks(c, Deps{Log: discardLog(), Telemetry: telemetry.New(), Stdout: io.Discard})
	faults.AddIn("", err)
	names := make([]string, len(c.MetricSinks))
	for i := range c.MetricSinks {
		names[i] = c.MetricSinks[i].Name
	}
	faults.AddIn("", flush.ValidateRoutes(c.Flush.MetricSinkRouting, names))
	c.validateExclusions(&faults, names)
	return faults.Err()
}

// nameSinks gives sinks without a name that of their kind.
func (c *Config) nameSinks() {
	for i := range c.MetricSinks {
		if s := &c.MetricSinks[i]; s.Name == "" {
			s.Name = s.Kind
		}
	}
	for i := range c.SpanSinks {
		if s := &c.SpanSinks[i]; s.Name == "" {
			s.Name = s.Kind
		}
	}
}

func taken(faults *config.Faults, path, name string, names map[string]int, i int) {
	if first, ok := names[name]; ok && name != "" {
		faults.Add(config.Join(path, "name"), "%q is the name of the sink at index %d already", name, first)
		return
	}
	names[name] = i
}

func discardLog() logrus.FieldLogger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// validateExclusions reports tags_exclude entries that name a sink which does not exist.
func (c *Config) validateExclusions(faults *config.Faults, names []string) {
	for i, entry := range c.Aggregate.TagsExclude {
		_, listed, _ := strings.Cut(entry, "|")
		for name := range strings.SplitSeq(listed, "|") {
			if name != "" && !slices.Contains(names, name) {
				faults.Add(config.Index("tags_exclude", i), "no metric sink is named %q", name)
			}
		}
	}
}
