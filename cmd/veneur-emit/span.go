package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/veneurd/veneur/ssf"
)

// newSpan returns the span that carries what the command line reports: the samples, and where a trace is given the span of id as well.
func (o *options) newSpan(id int64, t timed) *ssf.SSFSpan {
	span := &ssf.SSFSpan{Metrics: o.samples(t.took)}
	if o.span.traceID == 0 {
		return span
	}
	span.TraceId, span.Id, span.ParentId = o.span.traceID, id, o.span.parentID
	span.Name = cleanName(o.name)
	span.Service = cleanText(o.span.service)
	span.Indicator = o.span.indicator
	span.Error = o.span.failed || t.code != 0
	for _, tag := range append(spanTags(o.tag), spanTags(o.span.tags)...) {
		span.SetTag(tag.Key, tag.Value)
	}
	start, end := o.times(t)
	span.StartTimestamp, span.EndTimestamp = start.UnixNano(), end.UnixNano()
	return span
}

// newSpanID is random and positive, as the ids of the original's client are.
func newSpanID() int64 { return rand.Int64N(math.MaxInt64) + 1 }

// times returns when the span started and ended. What the flags say goes before what was measured; where they say only one of the two,
// the time that was taken gives the other, and a start alone lasts until now.
func (o *options) times(t timed) (start, end time.Time) {
	start, end = o.span.start.Time, o.span.end.Time
	switch {
	case !start.IsZero() && !end.IsZero():
	case !start.IsZero() && (o.command || o.given["timing"]):
		end = start.Add(t.took)
	case !start.IsZero():
		end = time.Now()
	case !end.IsZero():
		start = end.Add(-t.took)
	case o.command:
		start, end = t.start, t.start.Add(t.took)
	default:
		end = time.Now()
		start = end.Add(-t.took)
	}
	return start, end
}

func (o *options) samples(took time.Duration) []ssf.SSFSample {
	tags, name := spanTags(o.tag), cleanName(o.name)
	var samples []ssf.SSFSample
	add := func(s ssf.SSFSample) {
		s.Tags = tags
		samples = append(samples, s)
	}
	if o.given["gauge"] {
		add(ssf.Gauge(name, float32(o.gauge), nil))
	}
	if o.given["count"] {
		for _, part := range float32Parts(float64(o.count)) {
			add(ssf.Count(name, part, nil))
		}
	}
	if o.given["timing"] || o.command {
		add(ssf.Timing(name, took, time.Millisecond, nil))
	}
	if o.given["set"] {
		add(ssf.Set(name, cleanText(o.set), nil))
	}
	return samples
}

// A sample's value is a float32 on the wire, and a larger number would arrive as an infinity.
func fitsFloat32(flag string, v number) error {
	if math.IsInf(float64(float32(v)), 0) {
		return fmt.Errorf("%s %v is beyond ±%v, the largest that SSF can carry: leave -ssf out", flag, v, float32(math.MaxFloat32))
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
