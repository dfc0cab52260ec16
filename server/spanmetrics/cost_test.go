package spanmetrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// spansOfServices are a request and two dependencies for each of ten operations of five services, with the tags that such spans have.
func spansOfServices() []*ssf.SSFSpan {
	var spans []*ssf.SSFSpan
	for i := range 50 {
		s := requestSpan(fmt.Sprint("service", i%5), fmt.Sprint("GET /item/", i/5), time.Duration(1+i)*time.Millisecond)
		s.Tags = []ssf.Tag{
			{Key: "env", Value: "prod"},
			{Key: "span.kind", Value: "server"},
			{Key: "http.status_code", Value: "200"},
			{Key: "region", Value: "eu-west-1"},
			{Key: "component", Value: "net/http"},
		}
		spans = append(spans, s)
		for j := range 2 {
			s := requestSpan(fmt.Sprint("service", i%5), "query", time.Duration(1+i)*time.Millisecond)
			s.Id, s.ParentId = 8, 7
			s.Tags = []ssf.Tag{
				{Key: "env", Value: "prod"},
				{Key: "span.kind", Value: "client"},
				{Key: "db.instance", Value: fmt.Sprint("users", j)},
				{Key: "region", Value: "eu-west-1"},
				{Key: "db.statement", Value: "SELECT"},
			}
			spans = append(spans, s)
		}
	}
	return spans
}

func newStage(recorders int) (*Stage, []*Recorder) {
	c := testConfig()
	s := New(Settings{Config: c, Sinks: []string{"a"}, Emit: func(c *Closed) { c.Taken("a") }, Telemetry: telemetry.New(), Open: func() (store.Store, error) { return memory(&c), nil }})
	var all []*Recorder
	for range recorders {
		all = append(all, s.NewRecorder())
	}
	s.store, _ = s.s.Open()
	s.begin(time.Unix(1_000_000_020, 0))
	return s, all
}

func TestKnownKeysDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s, recorders := newStage(1)
	spans := spansOfServices()
	run := func() {
		for _, span := range spans {
			recorders[0].Add(span, 1_000_000_021)
		}
		s.commit()
	}
	run()
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations for %d spans and a commit to memory, want 0", n, len(spans))
	}
}

// BenchmarkSpanMetricsAdd counts spans with five tags each, a third of them requests and the others dependencies, of 5 services with 10
// operations and 4 dependencies each, into 1m, 10m and 60m, with all that follows in a daemon, to memory: it commits after 10,000 spans and closes
// a minute after 60 commits, with its part in the longer intervals.
func BenchmarkSpanMetricsAdd(b *testing.B) {
	spans := spansOfServices()
	s, recorders := newStage(1)
	now := time.Unix(1_000_000_020, 0)
	b.ReportAllocs()
	i, left := 0, 10_000
	for b.Loop() {
		recorders[0].Add(spans[i], 1)
		if i++; i == len(spans) {
			i = 0
		}
		if left--; left == 0 {
			left = 10_000
			now = now.Add(time.Second)
			s.tick(now)
		}
	}
}

// BenchmarkSpanMetricsRecorder is the same without what follows.
func BenchmarkSpanMetricsRecorder(b *testing.B) {
	spans := spansOfServices()
	_, recorders := newStage(1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		recorders[0].Add(spans[i], 1)
		if i++; i == len(spans) {
			i = 0
		}
	}
}
