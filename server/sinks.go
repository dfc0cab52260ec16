package server

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/spans"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/all"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/diskqueue"
)

// outputs is every sink of a configuration with its delivery.
type outputs struct {
	metrics []*delivery.Delivery
	targets []flush.Target // of metrics, in their order
	spans   []*delivery.Spans
}

// buildSinks builds the sinks that c lists and opens nothing. The error is config.Faults: all of what is wrong with any of them.
func buildSinks(c *Config, d Deps) (outputs, error) {
	var o outputs
	var faults config.Faults
	for i := range c.MetricSinks {
		if err := o.addMetricSink(c, &c.MetricSinks[i], d); err != nil {
			faults.AddIn(config.Index("metric_sinks", i), err)
		}
	}
	for i := range c.SpanSinks {
		if err := o.addSpanSink(c, &c.SpanSinks[i], d); err != nil {
			faults.AddIn(config.Index("span_sinks", i), err)
		}
	}
	directories(c, &faults)
	return o, faults.Err()
}

// directories reports queues on disk that would share one.
func directories(c *Config, faults *config.Faults) {
	owners := map[string]string{}
	check := func(path string, q *diskqueue.Config) {
		if !q.On() {
			return
		}
		dir := filepath.Clean(q.Path)
		if owner, taken := owners[dir]; taken {
			faults.Add(config.Join(path, "disk_queue.path"), "%q is that of %s already", q.Path, owner)
			return
		}
		owners[dir] = path
	}
	for i := range c.MetricSinks {
		check(config.Index("metric_sinks", i), &c.MetricSinks[i].Delivery.DiskQueue)
	}
	for i := range c.SpanSinks {
		check(config.Index("span_sinks", i), &c.SpanSinks[i].Delivery.DiskQueue)
	}
}

func (o *outputs) addMetricSink(c *Config, s *MetricSinkConfig, d Deps) error {
	var faults config.Faults
	faults.AddIn("", s.Rules.Validate())
	faults.AddIn("", s.Delivery.Validate())
	configured, err := configure(s.Kind, s.Config, sinks.Kind.TakesMetrics, sinks.ErrNoMetrics)
	faults.AddIn("", err)
	var sink sinks.MetricSink
	if configured != nil {
		sink, err = configured.Metrics(sinkSettings(c, d, "metric_sink", s.Name))
		faults.AddIn("config", err)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	built := delivery.New(sink, s.Delivery, deliverySettings(c, d, "metric_sink", s.Name))
	_, wantsDistributions := sink.(sinks.DistributionSink)
	o.metrics = append(o.metrics, built)
	o.targets = append(o.targets, flush.Target{
		Name:               s.Name,
		Rules:              s.Rules,
		ExcludedTags:       excludedFor(c.Aggregate.TagsExclude, s.Name),
		WantsDistributions: wantsDistributions,
		Offer:              built.OfferUntil,
	})
	return nil
}

func (o *outputs) addSpanSink(c *Config, s *SpanSinkConfig, d Deps) error {
	var faults config.Faults
	faults.AddIn("", s.Delivery.Validate())
	configured, err := configure(s.Kind, s.Config, sinks.Kind.TakesSpans, sinks.ErrNoSpans)
	faults.AddIn("", err)
	var sink sinks.SpanSink
	if configured != nil {
		sink, err = configured.Spans(sinkSettings(c, d, "span_sink", s.Name))
		faults.AddIn("config", err)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	o.spans = append(o.spans, delivery.NewSpans(sink, s.Delivery, deliverySettings(c, d, "span_sink", s.Name)))
	return nil
}

// configure decodes the configuration of a kind that takes what it is to take. The error is config.Faults, with paths from the sink on.
func configure(kind string, raw config.Raw, takes func(sinks.Kind) bool, refusal error) (*sinks.Configured, error) {
	var faults config.Faults
	var names []string
	for _, k := range all.Kinds() {
		names = append(names, k.Name())
		if k.Name() != kind {
			continue
		}
		if !takes(k) {
			faults.Add("kind", "%s %v", kind, refusal)
			return nil, faults.Err()
		}
		configured, err := k.Configure(raw.Decode)
		faults.AddIn("config", err)
		return configured, faults.Err()
	}
	if kind == "" {
		faults.Add("kind", "must be set: one of %s", strings.Join(names, ", "))
	} else {
		faults.Add("kind", "%q is none of %s", kind, strings.Join(names, ", "))
	}
	return nil, faults.Err()
}

func sinkSettings(c *Config, d Deps, sort, name string) sinks.Settings {
	return sinks.Settings{
		Name:      name,
		Hostname:  c.Hostname,
		Interval:  c.Flush.Interval,
		Log:       d.Log.WithField(sort, name),
		Telemetry: d.Telemetry,
		Stdout:    d.Stdout,
	}
}

func deliverySettings(c *Config, d Deps, sort, name string) delivery.Settings {
	return delivery.Settings{
		Name:         name,
		Interval:     c.Flush.Interval,
		Log:          d.Log.WithField(sort, name),
		Telemetry:    d.Telemetry,
		DrainTimeout: sinkDrain,
	}
}

// excludedEverywhere returns the tags_exclude entries that name no sink.
func excludedEverywhere(entries []string) []string {
	return slices.DeleteFunc(slices.Clone(entries), func(entry string) bool { return strings.Contains(entry, "|") })
}

// excludedFor returns the tag keys of the tags_exclude entries that name the sink: "key|sink|sink".
func excludedFor(entries []string, sink string) []string {
	var keys []string
	for _, entry := range entries {
		key, names, found := strings.Cut(entry, "|")
		if !found {
			continue
		}
		for name := range strings.SplitSeq(names, "|") {
			if name == sink {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func (o *outputs) fanout() *spans.Fanout {
	targets := make([]spans.Target, len(o.spans))
	for i, d := range o.spans {
		targets[i] = d
	}
	return spans.New(targets...)
}

func (o *outputs) runners() []lifecycle.Runner {
	var runners []lifecycle.Runner
	for _, d := range o.metrics {
		runners = append(runners, d)
	}
	for _, d := range o.spans {
		runners = append(runners, d)
	}
	return runners
}
