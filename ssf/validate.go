package ssf

import (
	"math"
	"unicode/utf8"
)

// Normalize brings a span that came over the wire into the form that everything after it expects: each key stands once among the tags
// of the span and of each sample, with the value that came last, as in the map that tags are on the wire; an empty name takes the value of
// the tag "name", which is removed; and a sample rate of 0 becomes the 1 that it means. It allocates only for more than 16 tags.
func Normalize(s *SSFSpan) {
	s.Tags = uniqueTags(s.Tags)
	if s.Name == "" {
		if name, ok := s.Tag("name"); ok {
			s.Name = name
			s.DeleteTag("name")
		}
	}
	for i := range s.Metrics {
		s.Metrics[i].Tags = uniqueTags(s.Metrics[i].Tags)
		if s.Metrics[i].SampleRate == 0 {
			s.Metrics[i].SampleRate = 1
		}
	}
}

// ValidateSpan says why the packet as a whole is refused: it is neither a valid span of a trace nor does it carry a sample. It
// expects a span after Normalize, as the other functions here do, and returns nil or one of the Reason constants. Faults of a
// sample are its own, see ValidateSample, and do not touch the packet.
func ValidateSpan(s *SSFSpan) error {
	if len(s.Metrics) > 0 {
		return nil
	}
	if !InTrace(s) {
		return ReasonEmpty
	}
	return ValidateTrace(s)
}

// InTrace says that the span means to be part of a trace: it has one of the ids. Where ValidateTrace refuses such a span it is
// lost, and counted, even if its samples are taken; one without ids only carries them.
func InTrace(s *SSFSpan) bool { return s.TraceId != 0 || s.Id != 0 }

// ValidateTrace says why the span cannot be part of a trace: it must have both ids, a start, an end and a name, and all its texts
// must be UTF-8. An end before the start is no fault, see Duration. It returns nil or one of the Reason constants, and reads
// every text of the span, but no sample.
func ValidateTrace(s *SSFSpan) error {
	switch {
	case s.TraceId == 0:
		return ReasonNoTraceID
	case s.Id == 0:
		return ReasonNoID
	case s.StartTimestamp == 0:
		return ReasonNoStart
	case s.EndTimestamp == 0:
		return ReasonNoEnd
	case s.Name == "":
		return ReasonNoName
	case !utf8.ValidString(s.Name) || !utf8.ValidString(s.Service) || !validTags(s.Tags):
		return ReasonUTF8
	}
	return nil
}

// ValidateSample says why a sample is refused. It returns nil or one of the Reason constants.
func ValidateSample(s *SSFSample) error {
	switch {
	case s.Name == "":
		return ReasonNoName
	case s.Metric < SSFSample_COUNTER || s.Metric > SSFSample_STATUS:
		return ReasonMetric
	case s.Status < SSFSample_OK || s.Status > SSFSample_UNKNOWN:
		return ReasonStatus
	case s.Scope < SSFSample_DEFAULT || s.Scope > SSFSample_GLOBAL:
		return ReasonScope
	case !finite(s.Value):
		return ReasonValue
	case !(s.SampleRate >= 0 && s.SampleRate <= 1): // NaN is neither
		return ReasonRate
	case s.Metric == SSFSample_SET && s.Message == "":
		return ReasonNoMember
	case !utf8.ValidString(s.Name) || !utf8.ValidString(s.Message) || !utf8.ValidString(s.Unit) || !validTags(s.Tags):
		return ReasonUTF8
	}
	return nil
}

func validTags(tags []Tag) bool {
	for i := range tags {
		if !utf8.ValidString(tags[i].Key) || !utf8.ValidString(tags[i].Value) {
			return false
		}
	}
	return true
}

func finite(v float32) bool { return math.Abs(float64(v)) <= math.MaxFloat32 }
