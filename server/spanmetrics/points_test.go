package spanmetrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// pointsOf returns what a minute of spans gives, a line each.
func pointsOf(t *testing.T, change func(*Settings), spans ...*ssf.SSFSpan) []string {
	settings := Settings{Config: testConfig(), Telemetry: telemetry.New()}
	if change != nil {
		change(&settings)
	}
	require.NoError(t, settings.Config.Validate())
	s := New(settings)
	r := s.NewRecorder()
	for _, span := range spans {
		r.Add(span, 1_700_000_000)
	}
	set, _ := r.take(s.known)
	iv, _ := s.Points(&Closed{Bucket: store.Bucket{Interval: 60}, Set: set})
	return shown(iv)
}

// Sums of what has no key of its own stop at the most that can be counted: they do not begin again at nothing.
func TestExcessIsNotTurnedOver(t *testing.T) {
	config := testConfig()
	config.Limits.KindsPerService = 1
	s := New(Settings{Config: config, Telemetry: telemetry.New()})
	r := s.NewRecorder()
	for _, kind := range []string{"a", "b"} {
		span := requestSpan("web", "GET /", time.Second)
		span.Tags = []ssf.Tag{{Key: config.KindTag, Value: kind}}
		r.Add(span, 1_700_000_000)
	}
	set, _ := r.take(s.known)
	sums := &set.Excess(0).Sums
	sums.Ok, sums.Failed = 1<<63, 1<<63
	iv, _ := s.Points(&Closed{Bucket: store.Bucket{Interval: 60}, Set: set})
	most := fmt.Sprint(float64(math.MaxUint64) / loghist.One)
	assert.True(t, slices.ContainsFunc(shown(iv), func(line string) bool {
		return strings.HasPrefix(line, "span.service.requests "+most) && strings.Contains(line, "kind:_other")
	}), "%s in %q", most, shown(iv))
}

// A sum that went as far as it can says less than came, and is counted.
func TestSaturated(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rate  string
		kinds int
		want  float64
	}{
		{"what has room", "1e-5", 1, 0},
		{"an operation and its kind", "1e-9", 1, 2},
		{"and what has no kind of its own", "1e-9", 2, 3},
		{"only its duration", "2e-7", 1, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config, registry := testConfig(), telemetry.New()
			config.Limits.KindsPerService = 1
			s := New(Settings{Config: config, Telemetry: registry})
			r := s.NewRecorder()
			for kind := range tt.kinds {
				for range 6 {
					span := requestSpan("web", "GET /", time.Hour)
					span.Tags = []ssf.Tag{{Key: config.KindTag, Value: fmt.Sprint(kind)}, {Key: config.SampleRateTag, Value: tt.rate}}
					r.Add(span, 1_700_000_000)
				}
			}
			set, _ := r.take(s.known)
			s.stats.bucket(&Closed{Bucket: store.Bucket{Interval: 60}, Set: set})
			assert.InDelta(t, tt.want, registry.Value("span_metrics.saturated", "interval:1m"), 0)
		})
	}
}

func shown(iv *aggregate.Interval) []string {
	var got []string
	for s := range iv.Counters.All() {
		got = append(got, fmt.Sprintf("%s %v %s", s.Series.Name, s.Value, strings.Join(s.Series.Tags, ",")))
	}
	for s := range iv.Gauges.All() {
		got = append(got, fmt.Sprintf("%s %v %s", s.Series.Name, s.Value, strings.Join(s.Series.Tags, ",")))
	}
	for s := range iv.Histograms.All() {
		got = append(got, fmt.Sprintf("%s count %v p50 %.2f %s", s.Series.Name, s.Digest.Count(), s.Digest.Quantile(0.5), strings.Join(s.Series.Tags, ",")))
	}
	slices.Sort(got)
	return got
}

func TestPoints(t *testing.T) {
	request := requestSpan("web", "GET /", 1500*time.Millisecond)
	request.Tags = []ssf.Tag{{Key: "span.kind", Value: "server"}, {Key: "env", Value: "prod"}, {Key: "sample_rate", Value: "0.5"}}
	failed := requestSpan("web", "GET /", 500*time.Millisecond)
	failed.Error, failed.Tags = true, []ssf.Tag{{Key: "span.kind", Value: "server"}, {Key: "env", Value: "prod"}}
	query := requestSpan("web", "SELECT", 250*time.Millisecond)
	query.Id, query.ParentId, query.Tags = 8, 7, []ssf.Tag{{Key: "db.instance", Value: "users"}, {Key: "env", Value: "prod"}}
	internal := requestSpan("cron", "tick", time.Second)
	internal.Id, internal.ParentId = 8, 7

	assert.Equal(t, []string{
		"span.dependency.requests 1 env:prod,error:false,interval:1m,operation:SELECT,service:web,target:users,target_kind:db.instance",
		"span.dependency.seconds 0.25 env:prod,error:false,interval:1m,operation:SELECT,service:web,target:users,target_kind:db.instance",
		"span.operation.duration count 1 p50 0.50 env:prod,error:true,interval:1m,operation:GET /,service:web",
		"span.operation.duration count 2 p50 1.50 env:prod,error:false,interval:1m,operation:GET /,service:web",
		"span.operation.requests 1 env:prod,error:true,interval:1m,operation:GET /,service:web",
		"span.operation.requests 2 env:prod,error:false,interval:1m,operation:GET /,service:web",
		"span.operation.seconds 0.5 env:prod,error:true,interval:1m,operation:GET /,service:web",
		"span.operation.seconds 3 env:prod,error:false,interval:1m,operation:GET /,service:web",
		"span.service.alive 1 env:prod,interval:1m,service:web",
		"span.service.alive 1 interval:1m,service:cron",
		"span.service.duration count 3 p50 1.50 env:prod,interval:1m,kind:server,service:web",
		"span.service.errors 1 env:prod,interval:1m,kind:server,service:web",
		"span.service.requests 3 env:prod,interval:1m,kind:server,service:web",
		"span.service.seconds 3.5 env:prod,interval:1m,kind:server,service:web",
	}, pointsOf(t, nil, request, failed, query, internal))

	assert.Equal(t, []string{
		"my.service.alive.1m 1 env:dev,service:cron",
		"my.service.alive.1m 1 env:dev,service:web",
	}, pointsOf(t, func(s *Settings) {
		s.Config.Prefix, s.Config.IntervalIn = "my.", "name"
		s.Config.TargetTags = nil
		s.ExtendTags = []string{"env:dev"}
		s.ExcludedTags = []string{"region"}
	}, query, internal), "the configuration's tags override a sender's")

	assert.Equal(t, []string{
		"span.service.alive 1 dc:a,interval:1m,service:cron",
		"span.service.alive 1 dc:a,interval:1m,service:web",
	}, pointsOf(t, func(s *Settings) {
		s.Config.ResourceTags, s.Config.TargetTags = nil, nil
		s.ExtendTags = []string{"service:host", "interval:10s", "dc:a"}
	}, query, internal), "series stay apart")
}

// Durations over six decades: every quantile is within 1 % of what it is of the durations themselves.
func TestQuantilesOfDurations(t *testing.T) {
	settings := Settings{Config: testConfig(), Telemetry: telemetry.New()}
	require.NoError(t, settings.Config.Validate())
	s := New(settings)
	r := s.NewRecorder()
	random := rand.New(rand.NewPCG(1, 2))
	durations := make([]float64, 50_000)
	for i := range durations {
		d := time.Duration(math.Exp(random.NormFloat64()*2.5) * float64(time.Millisecond))
		durations[i] = d.Seconds()
		r.Add(requestSpan("web", "GET /", d), 1_700_000_000)
	}
	slices.Sort(durations)
	set, _ := r.take(s.known)
	iv, _ := s.Points(&Closed{Bucket: store.Bucket{Interval: 60}, Set: set})
	checked := 0
	for h := range iv.Histograms.All() {
		if !strings.HasSuffix(h.Series.Name, "operation.duration") {
			continue
		}
		for _, q := range []float64{0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999} {
			want := durations[int(math.Ceil(q*float64(len(durations))))-1]
			require.InEpsilon(t, want, h.Digest.Quantile(q), 0.01, "%v", q)
			checked++
		}
	}
	require.Equal(t, 7, checked)
}

func TestPointsOfOverflow(t *testing.T) {
	var spans []*ssf.SSFSpan
	for i := range 4 {
		spans = append(spans, requestSpan("a", fmt.Sprint("op", i), time.Second))
		s := requestSpan("a", "query", time.Second)
		s.Id, s.ParentId, s.Tags = 8, 7, []ssf.Tag{{Key: "db.instance", Value: fmt.Sprint("db", i)}}
		spans = append(spans, s)
	}
	spans = append(spans, requestSpan("b", "op", time.Second), requestSpan("c", "op", time.Second))
	assert.Equal(t, []string{
		"span.dependency.requests 1 error:false,interval:1m,service:a,target:db0,target_kind:db.instance",
		"span.dependency.requests 3 interval:1m,operation:_other,service:a,target:_other,target_kind:_other",
		"span.operation.requests 1 error:false,interval:1m,operation:op0,service:a",
		"span.operation.requests 2 interval:1m,operation:_other,service:_other",
		"span.operation.requests 3 interval:1m,operation:_other,service:a",
		"span.overflow.keys 2 family:operation,interval:1m,service:_other",
		"span.overflow.keys 2 family:service,interval:1m,service:_other",
		"span.overflow.keys 3 family:dependency,interval:1m,service:a",
		"span.overflow.keys 3 family:operation,interval:1m,service:a",
		"span.overflow.services 2 interval:1m,service:_other",
		"span.service.alive 1 interval:1m,service:a",
		"span.service.requests 2 interval:1m,kind:_other,service:_other",
		"span.service.requests 4 interval:1m,service:a",
	}, slices.DeleteFunc(pointsOf(t, func(s *Settings) {
		s.Config.Limits.Services, s.Config.Limits.OperationsPerService, s.Config.Limits.DependenciesPerService = 1, 1, 1
	}, spans...), func(line string) bool {
		return strings.Contains(line, "seconds") || strings.Contains(line, "duration") || strings.Contains(line, "errors")
	}))
}

// Somebody may call something as we call what has no key.
func TestOtherIsNotUsedTwice(t *testing.T) {
	call := func(service, name, target string) *ssf.SSFSpan {
		span := requestSpan(service, name, time.Second)
		span.Id, span.ParentId = 8, 7
		span.SetTag("db.instance", target)
		return span
	}
	request := func(service, name, kind string) *ssf.SSFSpan {
		span := requestSpan(service, name, time.Second)
		span.SetTag("span.kind", kind)
		return span
	}
	got := pointsOf(t, func(s *Settings) { s.Config.Limits.Services, s.Config.Limits.OperationsPerService = 1, 2 },
		request("_other", "_other", "_other"), request("_other", "__other", "__other"), request("_other", "x", "other"), call("_other", "_others", "_other"),
		request("past the limit", "y", "server"),
	)
	assert.Equal(t, []string{
		"span.dependency.requests 1 error:false,interval:1m,operation:_others,service:__other,target:__other,target_kind:db.instance",
		"span.operation.requests 1 error:false,interval:1m,operation:___other,service:__other",
		"span.operation.requests 1 error:false,interval:1m,operation:__other,service:__other",
		"span.operation.requests 1 interval:1m,operation:_other,service:__other",
		"span.operation.requests 1 interval:1m,operation:_other,service:_other",
		"span.service.requests 1 interval:1m,kind:___other,service:__other",
		"span.service.requests 1 interval:1m,kind:__other,service:__other",
		"span.service.requests 1 interval:1m,kind:_other,service:_other",
		"span.service.requests 1 interval:1m,kind:other,service:__other",
	}, slices.DeleteFunc(got, func(line string) bool { return !strings.Contains(line, "requests") }))
}

// Each operation has the trace that took longest and, of those that failed, the one that came last.
func TestExemplars(t *testing.T) {
	s := New(Settings{Config: testConfig(), Telemetry: telemetry.New()})
	r := s.NewRecorder()
	for i, span := range []struct {
		trace  int64
		took   time.Duration
		failed bool
	}{{1, time.Second, false}, {2, 3 * time.Second, false}, {3, 2 * time.Second, false}, {4, 5 * time.Second, true}, {5, time.Second, true}} {
		one := requestSpan("a", "op", span.took)
		one.TraceId, one.Id, one.Error = span.trace, span.trace, span.failed
		r.Add(one, 1000+int64(i))
	}
	set, _ := r.take(s.known)
	_, exemplars := s.Points(&Closed{Bucket: store.Bucket{Interval: 60}, Set: set})
	var got []string
	for _, e := range exemplars {
		got = append(got, fmt.Sprintf("%s %s: trace %d, %v s, at %d", e.Series.Name, e.Series.Tags[0], e.TraceID, e.Value, e.Time))
	}
	slices.Sort(got)
	assert.Equal(t, []string{
		"span.operation.requests error:false: trace 2, 3 s, at 0",
		"span.operation.requests error:true: trace 5, 1 s, at 1004",
	}, got)
}
