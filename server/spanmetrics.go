package server

import (
	"time"

	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/ingest"
	"github.com/veneurd/veneur/server/spanmetrics"
)

// buildSpanMetrics builds what makes metrics of spans, if the configuration wants any.
func (s *Server) buildSpanMetrics() {
	if !s.config.SpanMetrics.Enabled {
		return
	}
	extra := flush.NewExtra(flush.Settings{Config: s.config.Flush, Targets: s.sinks.targets, Telemetry: s.deps.Telemetry, Log: s.deps.Log})
	var sinks []string
	for _, target := range s.sinks.targets {
		sinks = append(sinks, target.Name)
	}
	s.spans = spanmetrics.New(spanmetrics.Settings{
		Config:       s.config.SpanMetrics,
		ExtendTags:   s.config.Aggregate.ExtendTags,
		ExcludedTags: excludedEverywhere(s.config.Aggregate.TagsExclude),
		Sinks:        sinks,
		Emit: func(c *spanmetrics.Closed) {
			points, exemplars := s.spans.Points(c)
			extra.Offer(flush.Interval{
				Interval: points, Exemplars: exemplars, End: c.Ended, Covered: c.Ended.Sub(time.Unix(c.Start, 0)), Had: c.Had,
			}, c.Taken)
		},
		Telemetry: s.deps.Telemetry,
		Log:       s.deps.Log,
		EmitOpen:  s.config.Flush.FlushOnShutdown,
	})
}

// newSpanRecorder returns what gives each lane its recorder, or nil.
func (s *Server) newSpanRecorder() func() ingest.SpanRecorder {
	if s.spans == nil {
		return nil
	}
	return func() ingest.SpanRecorder { return s.spans.NewRecorder() }
}
