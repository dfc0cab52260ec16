package server

import (
	"strings"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/spans"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
)

// buildSinks makes a delivery for every sink and returns the metric sinks as the flusher sees them.
func (s *Server) buildSinks() (targets []flush.Target, err error) {
	var faults config.Faults
	for i := range s.config.MetricSinks {
		c := &s.config.MetricSinks[i]
		path := index("metric_sinks", i)
		configured := configure(&faults, path, c.Kind, c.Config, sinks.Kind.TakesMetrics, sinks.ErrNoMetrics)
		if configured == nil {
			continue
		}
		sink, err := configured.Metrics(s.sinkSettings("metric_sink", c.Name))
		if err != nil {
			faults.AddIn(path, err)
			continue
		}
		d := delivery.New(sink, c.Delivery, s.deliverySettings("metric_sink", c.Name))
		s.metrics = append(s.metrics, d)
		_, wantsDistributions := sink.(sinks.DistributionSink)
		targets = append(targets, flush.Target{
			Name:               c.Name,
			Rules:              c.Rules,
			ExcludedTags:       excludedFor(s.config.Aggregate.TagsExclude, c.Name),
			WantsDistributions: wantsDistributions,
			Offer:              d.Offer,
		})
	}
	for i := range s.config.SpanSinks {
		c := &s.config.SpanSinks[i]
		path := index("span_sinks", i)
		configured := configure(&faults, path, c.Kind, c.Config, sinks.Kind.TakesSpans, sinks.ErrNoSpans)
		if configured == nil {
			continue
		}
		sink, err := configured.Spans(s.sinkSettings("span_sink", c.Name))
		if err != nil {
			faults.AddIn(path, err)
			continue
		}
		s.spans = append(s.spans, delivery.NewSpans(sink, c.Delivery, s.deliverySettings("span_sink", c.Name)))
	}
	return targets, faults.Err()
}

func (s *Server) sinkSettings(sort, name string) sinks.Settings {
	return sinks.Settings{
		Name:      name,
		Hostname:  s.config.Hostname,
		Interval:  s.config.Flush.Interval,
		Log:       s.deps.Log.WithField(sort, name),
		Telemetry: s.deps.Telemetry,
		Stdout:    s.deps.Stdout,
	}
}

func (s *Server) deliverySettings(sort, name string) delivery.Settings {
	return delivery.Settings{
		Name:         name,
		Interval:     s.config.Flush.Interval,
		Log:          s.deps.Log.WithField(sort, name),
		Telemetry:    s.deps.Telemetry,
		DrainTimeout: sinkDrain,
	}
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

func (s *Server) fanout() *spans.Fanout {
	targets := make([]spans.Target, len(s.spans))
	for i, d := range s.spans {
		targets[i] = d
	}
	return spans.New(targets...)
}

func (s *Server) sinkRunners() []lifecycle.Runner {
	var runners []lifecycle.Runner
	for _, d := range s.metrics {
		runners = append(runners, d)
	}
	for _, d := range s.spans {
		runners = append(runners, d)
	}
	return runners
}
