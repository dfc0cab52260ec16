package sinks

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
)

// ErrNoMetrics and ErrNoSpans say that a kind of sink does not take what it was asked to take.
var (
	ErrNoMetrics = errors.New("takes no metrics: list it under span_sinks")
	ErrNoSpans   = errors.New("takes no spans: list it under metric_sinks")
)

// Settings is what the daemon gives a sink, beside what its user wrote.
type Settings struct {
	Name      string // the user's name for it, unique among the sinks of its sort
	Hostname  string // of this host, as configured
	Interval  time.Duration
	Log       logrus.FieldLogger // with the sink's name in it
	Telemetry *telemetry.Registry
	Stdout    io.Writer
}

// Config is what a kind's configuration struct can do. Validate reports every fault at once, as config.Faults with paths relative to the
// struct.
type Config interface {
	Validate() error
}

// Kind is one kind of sink: how it is configured and built. Kinds are listed in package sinks/all, nowhere else.
type Kind struct {
	name           string
	metrics, spans bool // what it takes
	configure      func(decode func(into any) error) (*Configured, error)
	defaults       func() any
}

// Configured is a kind with a valid configuration, not yet built.
type Configured struct {
	Config  any // a pointer to the kind's configuration struct
	metrics func(Settings) (MetricSink, error)
	spans   func(Settings) (SpanSink, error)
}

// Define makes a kind. defaults gives a configuration that a user's is decoded over; metrics and spans build the sink, opening
// nothing; either may be nil when the kind does not take that.
func Define[C any, P interface {
	*C
	Config
}](
	name string,
	defaults func() C,
	metrics func(C, Settings) (MetricSink, error),
	spans func(C, Settings) (SpanSink, error),
) Kind {
	return Kind{
		name:    name,
		metrics: metrics != nil,
		spans:   spans != nil,
		defaults: func() any {
			c := defaults()
			return &c
		},
		configure: func(decode func(into any) error) (*Configured, error) {
			c := defaults()
			if err := decode(&c); err != nil {
				return nil, err
			}
			if err := P(&c).Validate(); err != nil {
				return nil, err
			}
			configured := &Configured{Config: &c}
			if metrics != nil {
				configured.metrics = func(s Settings) (MetricSink, error) { return metrics(c, s) }
			}
			if spans != nil {
				configured.spans = func(s Settings) (SpanSink, error) { return spans(c, s) }
			}
			return configured, nil
		},
	}
}

// Name is what a user writes after "kind:".
func (k Kind) Name() string { return k.name }

// TakesMetrics says whether the kind can be a metric sink.
func (k Kind) TakesMetrics() bool { return k.metrics }

// TakesSpans says whether the kind can be a span sink.
func (k Kind) TakesSpans() bool { return k.spans }

// Defaults returns a pointer to a fresh configuration struct with the kind's defaults.
func (k Kind) Defaults() any { return k.defaults() }

// Configure decodes a user's configuration over the defaults and validates it. decode gets a pointer to the kind's configuration
// struct; its error, or that of Validate, is returned as it is.
func (k Kind) Configure(decode func(into any) error) (*Configured, error) {
	return k.configure(decode)
}

// Metrics builds the metric sink, or returns ErrNoMetrics.
func (c *Configured) Metrics(s Settings) (MetricSink, error) {
	if c.metrics == nil {
		return nil, ErrNoMetrics
	}
	sink, err := c.metrics(s)
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", s.Name, err)
	}
	return sink, nil
}

// Spans builds the span sink, or returns ErrNoSpans.
func (c *Configured) Spans(s Settings) (SpanSink, error) {
	if c.spans == nil {
		return nil, ErrNoSpans
	}
	sink, err := c.spans(s)
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", s.Name, err)
	}
	return sink, nil
}
