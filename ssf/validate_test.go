package ssf_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

func TestValidateSpan(t *testing.T) {
	trace := func(change func(*ssf.SSFSpan)) *ssf.SSFSpan {
		s := &ssf.SSFSpan{TraceId: 1, Id: 2, StartTimestamp: 3, EndTimestamp: 4, Name: "n"}
		change(s)
		return s
	}
	tests := []struct {
		name          string
		span          *ssf.SSFSpan
		packet, trace error
	}{
		{"least", trace(func(s *ssf.SSFSpan) {}), nil, nil},
		{"negative ids and times", trace(func(s *ssf.SSFSpan) { s.TraceId, s.Id, s.StartTimestamp, s.EndTimestamp = -1, -2, -3, -4 }), nil, nil},
		{"end before start", trace(func(s *ssf.SSFSpan) { s.EndTimestamp = 1 }), nil, nil},
		{"no trace id", trace(func(s *ssf.SSFSpan) { s.TraceId = 0 }), ssf.ReasonNoTraceID, ssf.ReasonNoTraceID},
		{"no id", trace(func(s *ssf.SSFSpan) { s.Id = 0 }), ssf.ReasonNoID, ssf.ReasonNoID},
		{"no start", trace(func(s *ssf.SSFSpan) { s.StartTimestamp = 0 }), ssf.ReasonNoStart, ssf.ReasonNoStart},
		{"no end", trace(func(s *ssf.SSFSpan) { s.EndTimestamp = 0 }), ssf.ReasonNoEnd, ssf.ReasonNoEnd},
		{"no name", trace(func(s *ssf.SSFSpan) { s.Name = "" }), ssf.ReasonNoName, ssf.ReasonNoName},
		{"name not UTF-8", trace(func(s *ssf.SSFSpan) { s.Name = "\xff" }), ssf.ReasonUTF8, ssf.ReasonUTF8},
		{"service not UTF-8", trace(func(s *ssf.SSFSpan) { s.Service = "\xff" }), ssf.ReasonUTF8, ssf.ReasonUTF8},
		{"tag's key not UTF-8", trace(func(s *ssf.SSFSpan) { s.SetTag("\xff", "v") }), ssf.ReasonUTF8, ssf.ReasonUTF8},
		{"tag's value not UTF-8", trace(func(s *ssf.SSFSpan) { s.SetTag("k", "\xff") }), ssf.ReasonUTF8, ssf.ReasonUTF8},
		{"nothing", &ssf.SSFSpan{}, ssf.ReasonEmpty, ssf.ReasonNoTraceID},
		{"a sample only", &ssf.SSFSpan{Metrics: make([]ssf.SSFSample, 1)}, nil, ssf.ReasonNoTraceID},
		{"half a trace with a sample", &ssf.SSFSpan{TraceId: 1, Metrics: make([]ssf.SSFSample, 1)}, nil, ssf.ReasonNoID},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.packet, ssf.ValidateSpan(tt.span))
			require.Equal(t, tt.trace, ssf.ValidateTrace(tt.span))
		})
	}
}

func TestValidateSample(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tests := []struct {
		name   string
		change func(*ssf.SSFSample)
		want   error
	}{
		{"least", func(s *ssf.SSFSample) {}, nil},
		{"no name", func(s *ssf.SSFSample) { s.Name = "" }, ssf.ReasonNoName},
		{"metric below", func(s *ssf.SSFSample) { s.Metric = -1 }, ssf.ReasonMetric},
		{"metric above", func(s *ssf.SSFSample) { s.Metric = 5 }, ssf.ReasonMetric},
		{"status below", func(s *ssf.SSFSample) { s.Status = -1 }, ssf.ReasonStatus},
		{"status above", func(s *ssf.SSFSample) { s.Status = 4 }, ssf.ReasonStatus},
		{"scope below", func(s *ssf.SSFSample) { s.Scope = -1 }, ssf.ReasonScope},
		{"scope above", func(s *ssf.SSFSample) { s.Scope = 3 }, ssf.ReasonScope},
		{"greatest value", func(s *ssf.SSFSample) { s.Value = math.MaxFloat32 }, nil},
		{"negative value", func(s *ssf.SSFSample) { s.Value = -1 }, nil},
		{"infinite value", func(s *ssf.SSFSample) { s.Value = inf }, ssf.ReasonValue},
		{"negative infinite value", func(s *ssf.SSFSample) { s.Value = -inf }, ssf.ReasonValue},
		{"value not a number", func(s *ssf.SSFSample) { s.Value = nan }, ssf.ReasonValue},
		{"rate 0 means 1", func(s *ssf.SSFSample) { s.SampleRate = 0 }, nil},
		{"rate 1", func(s *ssf.SSFSample) { s.SampleRate = 1 }, nil},
		{"least rate", func(s *ssf.SSFSample) { s.SampleRate = math.SmallestNonzeroFloat32 }, nil},
		{"rate above 1", func(s *ssf.SSFSample) { s.SampleRate = 1.0001 }, ssf.ReasonRate},
		{"negative rate", func(s *ssf.SSFSample) { s.SampleRate = -0.5 }, ssf.ReasonRate},
		{"rate not a number", func(s *ssf.SSFSample) { s.SampleRate = nan }, ssf.ReasonRate},
		{"infinite rate", func(s *ssf.SSFSample) { s.SampleRate = inf }, ssf.ReasonRate},
		{"set with a member", func(s *ssf.SSFSample) { s.Metric, s.Message = ssf.SSFSample_SET, "m" }, nil},
		{"set without a member", func(s *ssf.SSFSample) { s.Metric = ssf.SSFSample_SET }, ssf.ReasonNoMember},
		{"status without a text", func(s *ssf.SSFSample) { s.Metric = ssf.SSFSample_STATUS }, nil},
		{"name not UTF-8", func(s *ssf.SSFSample) { s.Name = "\xff" }, ssf.ReasonUTF8},
		{"message not UTF-8", func(s *ssf.SSFSample) { s.Message = "\xff" }, ssf.ReasonUTF8},
		{"unit not UTF-8", func(s *ssf.SSFSample) { s.Unit = "\xff" }, ssf.ReasonUTF8},
		{"tag's key not UTF-8", func(s *ssf.SSFSample) { s.SetTag("\xff", "v") }, ssf.ReasonUTF8},
		{"tag's value not UTF-8", func(s *ssf.SSFSample) { s.SetTag("k", "\xff") }, ssf.ReasonUTF8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ssf.SSFSample{Name: "n"}
			tt.change(&s)
			require.Equal(t, tt.want, ssf.ValidateSample(&s))
			// A faulty sample does not take its packet with it.
			require.NoError(t, ssf.ValidateSpan(&ssf.SSFSpan{Metrics: []ssf.SSFSample{s}}))
		})
	}
}

func TestNormalize(t *testing.T) {
	tests := []struct {
		name     string
		in, want ssf.SSFSpan
	}{
		{
			"the tag becomes the name",
			ssf.SSFSpan{Tags: []ssf.Tag{{Key: "a", Value: "1"}, {Key: "name", Value: "n"}}},
			ssf.SSFSpan{Name: "n", Tags: []ssf.Tag{{Key: "a", Value: "1"}}},
		},
		{
			"the last of two such tags, and both are removed",
			ssf.SSFSpan{Tags: []ssf.Tag{{Key: "name", Value: "m"}, {Key: "name", Value: "n"}}},
			ssf.SSFSpan{Name: "n", Tags: []ssf.Tag{}},
		},
		{
			"a name stays, and so does the tag",
			ssf.SSFSpan{Name: "m", Tags: []ssf.Tag{{Key: "name", Value: "n"}}},
			ssf.SSFSpan{Name: "m", Tags: []ssf.Tag{{Key: "name", Value: "n"}}},
		},
		{
			"a sample keeps its own tag",
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{SampleRate: 0.5, Tags: []ssf.Tag{{Key: "name", Value: "n"}}}}},
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{SampleRate: 0.5, Tags: []ssf.Tag{{Key: "name", Value: "n"}}}}},
		},
		{
			"of a key that stands twice the last value",
			ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "old"}, {Key: "a", Value: "1"}, {Key: "k", Value: "new"}, {Key: "b", Value: ""}}},
			ssf.SSFSpan{Tags: []ssf.Tag{{Key: "k", Value: "new"}, {Key: "a", Value: "1"}, {Key: "b", Value: ""}}},
		},
		{
			"of a sample's key too",
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{SampleRate: 1, Tags: []ssf.Tag{{Key: "k", Value: "old"}, {Key: "k", Value: "new"}}}}},
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{SampleRate: 1, Tags: []ssf.Tag{{Key: "k", Value: "new"}}}}},
		},
		{
			"rate 0 means 1",
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{}, {SampleRate: 0.5}}},
			ssf.SSFSpan{Metrics: []ssf.SSFSample{{SampleRate: 1}, {SampleRate: 0.5}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ssf.Normalize(&tt.in)
			require.Equal(t, tt.want, tt.in)
		})
	}
}

// For few tags and for many, some of them twice or more often, the tags are those of a map. Were the time quadratic, the last would take
// minutes.
func TestNormalizedTagsAreThoseOfAMap(t *testing.T) {
	for _, n := range []int{0, 1, 2, 15, 16, 17, 18, 100, 200_000} {
		tags := make([]ssf.Tag, n)
		want := map[string]string{}
		for i := range tags {
			tags[i] = ssf.Tag{Key: strconv.Itoa(i * i % (n - n/4 + 1)), Value: strconv.Itoa(i)}
			want[tags[i].Key] = tags[i].Value
		}
		span := ssf.SSFSpan{Name: "x", Tags: slices.Clone(tags), Metrics: []ssf.SSFSample{{Tags: tags}}}
		ssf.Normalize(&span)
		for _, got := range [][]ssf.Tag{span.Tags, span.Metrics[0].Tags} {
			require.Len(t, got, len(want))
			for _, tag := range got {
				require.Equal(t, want[tag.Key], tag.Value)
			}
		}
	}
}

func BenchmarkNormalize(b *testing.B) {
	for _, shape := range ssftest.Shapes() {
		b.Run(shape.Name, func(b *testing.B) {
			b.ReportAllocs()
			span := shape.Span.Clone()
			for b.Loop() {
				ssf.Normalize(span)
			}
		})
	}
}

func TestValidationDoesNotAllocate(t *testing.T) {
	bad := ssf.SSFSample{Name: "\xff"}
	span := ssf.SSFSpan{TraceId: 1, Metrics: []ssf.SSFSample{bad}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		ssf.Normalize(&span)
		_ = ssf.ValidateSpan(&span)
		_ = ssf.ValidateTrace(&span)
		_ = ssf.ValidateSample(&span.Metrics[0])
	}))
}
