package ssf

import (
	"math/rand/v2"
	"time"
)

// The constructors give samples by value, where the original's gave pointers: they go straight into a span's list of values,
// and a sample that is made and appended need not touch the heap. Tags are taken as the map that callers of the original pass, and
// listed by key; whoever has a list already passes nil and sets the field. No constructor adds a prefix to the name.

// SampleOption changes a sample that a constructor makes.
type SampleOption func(*SSFSample)

// Unit names what the value counts, such as "bytes".
func Unit(name string) SampleOption { return func(s *SSFSample) { s.Unit = name } }

// TimeUnit is Unit for a length of time: "ns", "µs", "ms", "s", "min" or "h", and nothing for any other.
func TimeUnit(resolution time.Duration) SampleOption { return Unit(timeUnit(resolution)) }

// Timestamp is when the sample was taken. The daemon reads it on Status only; everything else counts when it arrives.
func Timestamp(t time.Time) SampleOption { return func(s *SSFSample) { s.Timestamp = t.UnixNano() } }

// SampleRate says which share of such measurements is sent: more than 0, at most 1. The default is 1.
func SampleRate(rate float32) SampleOption { return func(s *SSFSample) { s.SampleRate = rate } }

// Scope says which tier of daemons aggregates the sample. The default leaves it to the kind of metric.
func Scope(scope SSFSample_Scope) SampleOption { return func(s *SSFSample) { s.Scope = scope } }

// Message is the text of a Status. A Set has its member there.
func Message(text string) SampleOption { return func(s *SSFSample) { s.Message = text } }

// Count adds value to the counter. Value is a float32: whole numbers are exact up to 16,777,216 (2^24), and what is counted beyond
// that in one go belongs into several samples. The daemon adds samples up as float64.
func Count(name string, value float32, tags map[string]string, opts ...SampleOption) SSFSample {
	return newSample(SSFSample{Metric: SSFSample_COUNTER, Name: name, Value: value}, tags, opts)
}

// Gauge sets the gauge to value.
func Gauge(name string, value float32, tags map[string]string, opts ...SampleOption) SSFSample {
	return newSample(SSFSample{Metric: SSFSample_GAUGE, Name: name, Value: value}, tags, opts)
}

// Histogram adds value to the distribution.
func Histogram(name string, value float32, tags map[string]string, opts ...SampleOption) SSFSample {
	return newSample(SSFSample{Metric: SSFSample_HISTOGRAM, Name: name, Value: value}, tags, opts)
}

// Timing is a Histogram of durations. The value is d in units of the resolution, fraction kept, and its unit is that of the
// resolution: Timing("x", 1500*time.Microsecond, time.Millisecond, nil) is 1.5 with unit "ms". A resolution that is not positive
// counts as a nanosecond.
func Timing(name string, d, resolution time.Duration, tags map[string]string, opts ...SampleOption) SSFSample {
	resolution = max(resolution, time.Nanosecond)
	value := float32(float64(d) / float64(resolution))
	return newSample(SSFSample{Metric: SSFSample_HISTOGRAM, Name: name, Value: value, Unit: timeUnit(resolution)}, tags, opts)
}

// Set adds the member to the set, of which the size is reported.
func Set(name, member string, tags map[string]string, opts ...SampleOption) SSFSample {
	return newSample(SSFSample{Metric: SSFSample_SET, Name: name, Message: member}, tags, opts)
}

// Status is the result of a service check. Message gives it a text, Timestamp its time.
func Status(name string, state SSFSample_Status, tags map[string]string, opts ...SampleOption) SSFSample {
	return newSample(SSFSample{Metric: SSFSample_STATUS, Name: name, Status: state}, tags, opts)
}

// RandomlySample keeps each of the samples by chance, with the probability rate, and multiplies the sample rate of those it keeps
// by it, so that counters and histograms stay right on average. A rate of 1 or more keeps all as they are, one of 0 or less
// none. The result is a new list; the tags are shared.
func RandomlySample(rate float32, samples ...SSFSample) []SSFSample {
	kept := make([]SSFSample, 0, len(samples))
	for _, s := range samples {
		if !(rate >= 1) { // NaN keeps none
			if !(rand.Float32() < rate) {
				continue
			}
			if s.SampleRate == 0 {
				s.SampleRate = 1
			}
			s.SampleRate *= rate
		}
		kept = append(kept, s)
	}
	return kept
}

func newSample(s SSFSample, tags map[string]string, opts []SampleOption) SSFSample {
	s.SampleRate = 1
	s.Tags = TagsFromMap(tags)
	for _, opt := range opts {
		opt(&s)
	}
	return s
}

func timeUnit(resolution time.Duration) string {
	switch resolution {
	case time.Nanosecond:
		return "ns"
	case time.Microsecond:
		return "µs"
	case time.Millisecond:
		return "ms"
	case time.Second:
		return "s"
	case time.Minute:
		return "min"
	case time.Hour:
		return "h"
	}
	return ""
}
