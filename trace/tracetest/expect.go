package tracetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/veneurd/veneur/ssf"
)

// expectations are what can be said of recorded spans.
type expectations struct {
	t     testing.TB
	spans func() []*ssf.SSFSpan
}

// Span expects exactly one span of the name.
func (e expectations) Span(name string) *Span {
	e.t.Helper()
	all := e.spans()
	var found []*ssf.SSFSpan
	for _, span := range all {
		if span.Name == name {
			found = append(found, span)
		}
	}
	if len(found) != 1 {
		e.t.Fatalf("%d spans are called %q, want 1 of:\n%s", len(found), name, list(all))
	}
	return &Span{found[0], all, e.t}
}

// HasSpans expects spans of just these names, in any order. Those that only carry samples are not among them.
func (e expectations) HasSpans(names ...string) {
	e.t.Helper()
	all := e.spans()
	missing := map[string]int{}
	for _, name := range names {
		missing[name]++
	}
	wrong := false
	for _, span := range all {
		if ssf.InTrace(span) {
			missing[span.Name]--
		}
	}
	for _, n := range missing {
		wrong = wrong || n != 0
	}
	if wrong {
		e.t.Errorf("want the spans %q, got:\n%s", names, list(all))
	}
}

// Samples returns every sample of the name, of whatever span.
func (e expectations) Samples(name string) []ssf.SSFSample {
	e.t.Helper()
	return Samples(e.spans(), name)
}

// HasCount expects the counters of the name to add up to n, whatever their tags.
func (e expectations) HasCount(name string, n float64) {
	e.t.Helper()
	all := e.spans()
	sum := 0.0
	for _, s := range Samples(all, name) {
		if s.Metric == ssf.SSFSample_COUNTER {
			sum += float64(s.Value) / float64(max(s.SampleRate, 1e-9))
		}
	}
	if sum != n {
		e.t.Errorf("counter %q is %v, want %v, of:\n%s", name, sum, n, list(all))
	}
}

// Samples returns every sample of the name in the spans.
func Samples(spans []*ssf.SSFSpan, name string) []ssf.SSFSample {
	var found []ssf.SSFSample
	for _, span := range spans {
		for _, s := range span.Metrics {
			if s.Name == name {
				found = append(found, s)
			}
		}
	}
	return found
}

// Span is one that was recorded. Its expectations return it, so that they can be put in a row.
type Span struct {
	*ssf.SSFSpan
	all []*ssf.SSFSpan
	t   testing.TB
}

func (s *Span) expect(ok bool, format string, args ...any) *Span {
	s.t.Helper()
	if !ok {
		s.t.Errorf("span %q %s:\n%s", s.Name, fmt.Sprintf(format, args...), list([]*ssf.SSFSpan{s.SSFSpan}))
	}
	return s
}

// HasTag expects the tag to have the value.
func (s *Span) HasTag(key, value string) *Span {
	s.t.Helper()
	got, ok := s.Tag(key)
	return s.expect(ok && got == value, "has no tag %s:%s", key, value)
}

// HasNoTag expects no tag of the key.
func (s *Span) HasNoTag(key string) *Span {
	s.t.Helper()
	_, ok := s.Tag(key)
	return s.expect(!ok, "has a tag %s", key)
}

// HasSample expects a sample of the name.
func (s *Span) HasSample(name string) *Span {
	s.t.Helper()
	return s.expect(len(Samples([]*ssf.SSFSpan{s.SSFSpan}, name)) > 0, "has no sample %q", name)
}

// OfService expects the span to be of the service.
func (s *Span) OfService(name string) *Span {
	s.t.Helper()
	return s.expect(s.Service == name, "is of service %q, not %q", s.Service, name)
}

// Succeeded expects that no error was set.
func (s *Span) Succeeded() *Span {
	s.t.Helper()
	return s.expect(!s.Error, "failed")
}

// Failed expects that an error was set.
func (s *Span) Failed() *Span {
	s.t.Helper()
	return s.expect(s.Error, "did not fail")
}

// IsIndicator expects an indicator span.
func (s *Span) IsIndicator() *Span {
	s.t.Helper()
	return s.expect(s.Indicator, "is no indicator")
}

// IsRoot expects the span to have no parent.
func (s *Span) IsRoot() *Span {
	s.t.Helper()
	return s.expect(s.ParentId == 0, "has a parent")
}

// ChildOf expects the span's parent to be one of the name, in the same trace.
func (s *Span) ChildOf(name string) *Span {
	s.t.Helper()
	for _, parent := range s.all {
		if parent.Name == name && parent.Id == s.ParentId && parent.TraceId == s.TraceId {
			return s
		}
	}
	return s.expect(false, "is no child of %q, among\n%s", name, list(s.all))
}

// list writes a line for each span.
func list(spans []*ssf.SSFSpan) string {
	if len(spans) == 0 {
		return "\tnothing"
	}
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "\t%q trace %x id %x parent %x service %q", s.Name, s.TraceId, s.Id, s.ParentId, s.Service)
		if s.Error {
			b.WriteString(" error")
		}
		if s.Indicator {
			b.WriteString(" indicator")
		}
		for _, tag := range s.Tags {
			fmt.Fprintf(&b, " %s:%s", tag.Key, tag.Value)
		}
		for i := range s.Metrics {
			m := &s.Metrics[i]
			fmt.Fprintf(&b, " {%s %s %v%s}", m.Metric, m.Name, m.Value, m.Message)
		}
		b.WriteString("\n")
	}
	return b.String()
}
