// Package blackhole is the sink that takes everything and keeps nothing: for measuring what comes before it.
package blackhole

import (
	"context"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Config has no keys.
type Config struct{}

// Validate finds nothing wrong.
func (*Config) Validate() error { return nil }

// Kind returns the kind "blackhole".
func Kind() sinks.Kind {
	return sinks.Define("blackhole", func() Config { return Config{} },
		func(Config, sinks.Settings) (sinks.MetricSink, error) { return sink{}, nil },
		func(Config, sinks.Settings) (sinks.SpanSink, error) { return sink{}, nil })
}

type sink struct{}

func (sink) Send(context.Context, *sinks.Batch) error { return nil }

func (sink) SendSpans(context.Context, []*ssf.SSFSpan) error { return nil }
