// Package derive makes metrics of spans: the samples that a span carries, and timers of the spans that are marked as indicators.
package derive

import (
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// Target takes what a span gives. Samples, tags and all that they point to are lent for the call.
type Target interface {
	// AddSample takes a sample that the span carried.
	AddSample(s *metric.Sample)
	// AddTimer takes a sample made from the span's duration.
	AddTimer(s *metric.Sample)
	// AddCheck takes a status that the span carried; its texts are owned, its tags follow as metric.TagsPairs, and a Time of 0 means now.
	AddCheck(c metric.Check, tags []byte)
	// RefuseSample takes the reason, one of package ssf, for which a carried sample was refused.
	RefuseSample(name string, reason error)
}

// Config names the timers that are made of indicator spans.
type Config struct {
	// IndicatorSpanTimerName is the name of a timer, in nanoseconds, of every span that is an indicator, with the tags service and
	// error. Empty means no such timer.
	IndicatorSpanTimerName string `yaml:"indicator_span_timer_name"`
	// ObjectiveSpanTimerName is the name of a timer, in nanoseconds, of every span that is an indicator, with the tags service,
	// objective (the span's tag ssf_objective, or else its name) and error; the global tier aggregates it. Empty means no such timer.
	ObjectiveSpanTimerName string `yaml:"objective_span_timer_name"`
}

// objectiveTag is the tag by which a span says for which objective it counts.
const objectiveTag = "ssf_objective"

var descReversed = telemetry.Desc{
	Name: "derive.reversed_spans", Kind: telemetry.Counter, Unit: "spans",
	Help: "Indicator spans that end before they start; their duration counts as 0.",
}

// Descs returns what this package counts.
func Descs() []telemetry.Desc { return []telemetry.Desc{descReversed} }

// Deriver makes the metrics of one span after the other. It allocates nothing in steady state, and is used by one goroutine at a time.
type Deriver struct {
	to       Target
	reversed *telemetry.Metric

	indicator, objective []byte // names of the timers

	sample metric.Sample
	value  [1]float64
	name   []byte
	text   []byte
	tags   []byte

	rate32 float32 // the last sample rate that was not 1, and
	rate   float64 // what it means
}

// New returns a Deriver that gives what it makes to to.
func New(c Config, to Target, r *telemetry.Registry) *Deriver {
	return &Deriver{
		to:        to,
		reversed:  r.Counter(&descReversed),
		indicator: []byte(c.IndicatorSpanTimerName),
		objective: []byte(c.ObjectiveSpanTimerName),
	}
}

// Span makes the metrics of a normalized span, whose tags and those of whose samples have each key once. Timers are made only of a span that is a valid part of a trace, as inTrace says.
func (d *Deriver) Span(span *ssf.SSFSpan, inTrace bool) {
	for i := range span.Metrics {
		s := &span.Metrics[i]
		if err := ssf.ValidateSample(s); err != nil {
			d.to.RefuseSample(s.Name, err)
			continue
		}
		d.carried(s)
	}
	if inTrace && span.Indicator {
		d.timers(span)
	}
}

// carried hands on a valid sample.
func (d *Deriver) carried(s *ssf.SSFSample) {
	d.tags = d.tags[:0]
	for i := range s.Tags {
		d.tags = metric.AppendPair(d.tags, s.Tags[i].Key, s.Tags[i].Value)
	}
	scope := scopeOf(s.Scope)
	if s.Metric == ssf.SSFSample_STATUS {
		d.to.AddCheck(metric.Check{
			Name:    strings.Clone(s.Name),
			Status:  metric.Status(s.Status),
			Message: strings.Clone(s.Message),
			Time:    max(0, s.Timestamp/int64(time.Second)),
			Scope:   scope,
		}, d.tags)
		return
	}
	d.name = append(d.name[:0], s.Name...)
	d.sample = metric.Sample{Kind: kindOf(s), Scope: scope, Form: metric.TagsPairs, Name: d.name, Tags: d.tags, Rate: d.rateOf(s.SampleRate)}
	if s.Metric == ssf.SSFSample_SET {
		d.text = append(d.text[:0], s.Message...)
		d.sample.Text = d.text
	} else {
		d.value[0] = float64(s.Value)
		d.sample.Values = d.value[:]
	}
	d.to.AddSample(&d.sample)
}

// timers times an indicator span. The duration never passes through the float32 of an SSF sample, which would be off by up to
// 256 microseconds an hour.
func (d *Deriver) timers(span *ssf.SSFSpan) {
	if len(d.indicator) == 0 && len(d.objective) == 0 {
		return
	}
	duration, reversed := span.Duration()
	if reversed {
		d.reversed.Inc()
	}
	d.value[0] = float64(duration)
	d.tags = metric.AppendPair(d.tags[:0], "service", span.Service)
	d.tags = metric.AppendPair(d.tags, "error", strconv.FormatBool(span.Error))
	if len(d.indicator) > 0 {
		d.timer(d.indicator, metric.Mixed)
	}
	if len(d.objective) > 0 {
		objective, _ := span.Tag(objectiveTag)
		if objective == "" {
			objective = span.Name
		}
		d.tags = metric.AppendPair(d.tags, "objective", objective)
		d.timer(d.objective, metric.Global)
	}
}

func (d *Deriver) timer(name []byte, scope metric.Scope) {
	d.sample = metric.Sample{Kind: metric.Histogram, Scope: scope, Form: metric.TagsPairs, Name: name, Tags: d.tags, Values: d.value[:], Rate: 1}
	d.to.AddTimer(&d.sample)
}

// rateOf returns what the sender meant. The float32 nearest to 0.1 is not 0.1, and a counter would grow by 9.99999985 for each such
// sample instead of 10; the shortest decimal that gives this float32 is what stood in the sender's code.
func (d *Deriver) rateOf(rate float32) float64 {
	if rate == 1 {
		return 1
	}
	if rate != d.rate32 {
		var digits [24]byte
		d.rate32 = rate
		d.rate, _ = strconv.ParseFloat(string(strconv.AppendFloat(digits[:0], float64(rate), 'g', -1, 32)), 64)
	}
	return d.rate
}

func kindOf(s *ssf.SSFSample) metric.Kind {
	switch s.Metric {
	case ssf.SSFSample_GAUGE:
		return metric.Gauge
	case ssf.SSFSample_SET:
		return metric.Set
	case ssf.SSFSample_HISTOGRAM:
		if s.Unit == "ms" {
			return metric.Timer
		}
		return metric.Histogram
	default:
		return metric.Counter
	}
}

func scopeOf(scope ssf.SSFSample_Scope) metric.Scope {
	switch scope {
	case ssf.SSFSample_LOCAL:
		return metric.Local
	case ssf.SSFSample_GLOBAL:
		return metric.Global
	default:
		return metric.Mixed
	}
}
