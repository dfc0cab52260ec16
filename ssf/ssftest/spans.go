package ssftest

import (
	"fmt"

	"github.com/veneurd/veneur/ssf"
)

// Shape is a span with a name that benchmarks use.
type Shape struct {
	Name string
	Span *ssf.SSFSpan
}

// Shapes are an empty span, a typical one (5 tags and 1 sample with 3, 310 bytes) and a heavy one (15 tags and 5 samples with 8).
// They are made anew on each call.
func Shapes() []Shape {
	return []Shape{
		{"empty", &ssf.SSFSpan{}},
		{"typical", makeSpan(5, 1, 3)},
		{"heavy", makeSpan(15, 5, 8)},
	}
}

func makeSpan(tags, samples, sampleTags int) *ssf.SSFSpan {
	s := &ssf.SSFSpan{
		TraceId:        6021394871293847561,
		Id:             2938475610293847561,
		ParentId:       8374650192837465019,
		StartTimestamp: 1767225600123456789,
		EndTimestamp:   1767225600193456789,
		Service:        "checkout-frontend",
		Name:           "POST /v1/charges",
		Indicator:      true,
		Tags:           makeTags(tags),
	}
	for i := range samples {
		s.Metrics = append(s.Metrics, ssf.SSFSample{
			Metric:     ssf.SSFSample_HISTOGRAM,
			Name:       fmt.Sprintf("charges.stage%d.duration", i),
			Value:      12.5,
			SampleRate: 1,
			Unit:       "ms",
			Tags:       makeTags(sampleTags),
		})
	}
	return s
}

func makeTags(n int) []ssf.Tag {
	all := []ssf.Tag{
		{Key: "env", Value: "production"},
		{Key: "region", Value: "eu-west-1"},
		{Key: "host", Value: "checkout-7f9c5d.eu-west-1"},
		{Key: "status", Value: "200"},
		{Key: "method", Value: "POST"},
		{Key: "peer.service", Value: "ledger"},
		{Key: "db.system", Value: "postgresql"},
		{Key: "merchant", Value: "acct_1032D82eZvKYlo2C"},
		{Key: "version", Value: "2026.01.07-3"},
		{Key: "az", Value: "eu-west-1b"},
		{Key: "retry", Value: "false"},
		{Key: "queue", Value: "priority"},
		{Key: "currency", Value: "eur"},
		{Key: "canary", Value: "false"},
		{Key: "flavour", Value: "card"},
	}
	return all[:n:n]
}

// ToOriginal gives the original's form of a span. Of a key that stands twice the last value is taken.
func ToOriginal(s *ssf.SSFSpan) *SSFSpan {
	o := &SSFSpan{
		Version:            s.Version,
		TraceId:            s.TraceId,
		Id:                 s.Id,
		ParentId:           s.ParentId,
		StartTimestamp:     s.StartTimestamp,
		EndTimestamp:       s.EndTimestamp,
		Error:              s.Error,
		Service:            s.Service,
		Tags:               toMap(s.Tags),
		Indicator:          s.Indicator,
		Name:               s.Name,
		RootStartTimestamp: s.RootStartTimestamp,
	}
	for i := range s.Metrics {
		m := &s.Metrics[i]
		o.Metrics = append(o.Metrics, &SSFSample{
			Metric:     SSFSample_Metric(m.Metric),
			Name:       m.Name,
			Value:      m.Value,
			Timestamp:  m.Timestamp,
			Message:    m.Message,
			Status:     SSFSample_Status(m.Status),
			SampleRate: m.SampleRate,
			Tags:       toMap(m.Tags),
			Unit:       m.Unit,
			Scope:      SSFSample_Scope(m.Scope),
		})
	}
	return o
}

// FromOriginal gives the span that the original's form stands for, with its tags in the order of their keys.
func FromOriginal(o *SSFSpan) *ssf.SSFSpan {
	s := &ssf.SSFSpan{
		Version:            o.Version,
		TraceId:            o.TraceId,
		Id:                 o.Id,
		ParentId:           o.ParentId,
		StartTimestamp:     o.StartTimestamp,
		EndTimestamp:       o.EndTimestamp,
		Error:              o.Error,
		Service:            o.Service,
		Tags:               ssf.TagsFromMap(o.Tags),
		Indicator:          o.Indicator,
		Name:               o.Name,
		RootStartTimestamp: o.RootStartTimestamp,
	}
	for _, m := range o.Metrics {
		s.Metrics = append(s.Metrics, ssf.SSFSample{
			Metric:     ssf.SSFSample_Metric(m.Metric),
			Name:       m.Name,
			Value:      m.Value,
			Timestamp:  m.Timestamp,
			Message:    m.Message,
			Status:     ssf.SSFSample_Status(m.Status),
			SampleRate: m.SampleRate,
			Tags:       ssf.TagsFromMap(m.Tags),
			Unit:       m.Unit,
			Scope:      ssf.SSFSample_Scope(m.Scope),
		})
	}
	return s
}

func toMap(tags []ssf.Tag) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	m := make(map[string]string, len(tags))
	for _, t := range tags {
		m[t.Key] = t.Value
	}
	return m
}
