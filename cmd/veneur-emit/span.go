package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/veneurd/veneur/ssf"
)

// newSpan returns the span that carries what the command line reports: the samples, and a trace span as well where a trace is given.
// took is the time of a command that started at start; start is zero without one.
func (o *options) newSpan(id int64, start time.Time, took time.Duration, failed bool) (*ssf.SSFSpan, error) {
	span := &ssf.SSFSpan{
		Service: validText(o.span.service),
		Error:   o.span.failed || failed,
	}
	if err := o.addSamples(span, took); err != nil {
		return nil, err
	}
	if o.span.traceID == 0 {
		if o.span.wants {
			return nil, fmt.Errorf("a span needs -trace_id or %s", envTraceID)
		}
		return span, nil
	}
	span.TraceId, span.Id, span.ParentId = o.span.traceID, id, o.span.parentID
	span.Name = validText(o.name)
	span.Indicator = o.span.indicator
	span.Tags = append(tagList(o.tag), tagList(o.span.tags)...)
	return span, o.setTimes(span, start, took)
}

// newSpanID is random and positive, as the ids of the original's client are.
func newSpanID() int64 { return rand.Int64N(math.MaxInt64) + 1 }

func (o *options) setTimes(span *ssf.SSFSpan, start time.Time, took time.Duration) error {
	end := time.Now()
	if !start.IsZero() {
		end = start.Add(took)
	}
	if o.span.end != "" {
		t, err := parseTime(o.span.end)
		if err != nil {
			return fmt.Errorf("-span_endtime %q %w", o.span.end, err)
		}
		end = t
	}
	if start.IsZero() {
		start = end.Add(-took)
	}
	if o.span.start != "" {
		t, err := parseTime(o.span.start)
		if err != nil {
			return fmt.Errorf("-span_starttime %q %w", o.span.start, err)
		}
		start = t
	}
	if end.Before(start) {
		return fmt.Errorf("the span ends (%s) before it starts (%s)", end.Format(time.RFC3339Nano), start.Format(time.RFC3339Nano))
	}
	span.StartTimestamp, span.EndTimestamp = start.UnixNano(), end.UnixNano()
	return nil
}

func (o *options) addSamples(span *ssf.SSFSpan, took time.Duration) error {
	tags, name := tagList(o.tag), validText(o.name)
	add := func(s ssf.SSFSample) {
		s.Tags = tags
		span.Metrics = append(span.Metrics, s)
	}
	if o.given["gauge"] {
		if err := fitsFloat32("-gauge", o.gauge); err != nil {
			return err
		}
		add(ssf.Gauge(name, float32(o.gauge), nil))
	}
	if o.given["count"] {
		if err := fitsFloat32("-count", o.count); err != nil {
			return err
		}
		for _, part := range float32Parts(o.count) {
			add(ssf.Count(name, part, nil))
		}
	}
	if o.given["timing"] || o.command {
		add(ssf.Timing(name, took, time.Millisecond, nil))
	}
	if o.given["set"] {
		add(ssf.Set(name, validText(o.set), nil))
	}
	return nil
}

// A sample's value is a float32 on the wire, and a larger number would arrive as an infinity.
func fitsFloat32(flag string, v float64) error {
	if math.IsInf(float64(float32(v)), 0) {
		return fmt.Errorf("%s %v is beyond ±%v, the largest that SSF can carry; leave -ssf out", flag, v, float32(math.MaxFloat32))
	}
	return nil
}

// float32Parts splits v into float32 values whose sum is v, so that a counter arrives exactly: 16777217 as 16777216 and 1. What is left
// when a part rounds to nothing is below the smallest float32.
func float32Parts(v float64) []float32 {
	parts := []float32{float32(v)}
	for rest := v - float64(parts[0]); ; {
		part := float32(rest)
		if part == 0 {
			return parts
		}
		parts = append(parts, part)
		rest -= float64(part)
	}
}

// tagList splits "k:v,k" at commas; a tag without a colon has an empty value.
func tagList(s string) []ssf.Tag {
	var tags []ssf.Tag
	for item := range strings.SplitSeq(s, ",") {
		if item == "" {
			continue
		}
		key, value, _ := strings.Cut(item, ":")
		tags = append(tags, ssf.Tag{Key: validText(key), Value: validText(value)})
	}
	return tags
}

func validText(s string) string { return strings.ToValidUTF8(s, "_") }
