package flush

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/sketch/tdigest"
	"github.com/veneurd/veneur/sinks"
)

// Each interval is told of its own end, in whatever order they end.
func TestExtraIntervalsOverlap(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	var undone []func()
	f.s.Targets[0].Offer = func(_, told func(), _ ...*sinks.Batch) { undone = append(undone, told) }
	x := NewExtra(f.s)
	var done []string
	for i := range 3 {
		x.Offer(Interval{Interval: &aggregate.Interval{}, End: time.Unix(int64(i), 0)}, func(target string) { done = append(done, fmt.Sprint(i, target)) })
	}
	for _, i := range []int{1, 0, 2} {
		undone[i]()
	}
	require.Equal(t, []string{"1a", "0a", "2a"}, done)
}

// A target that had the interval is not offered it again, whatever routes and rules it has, and of each of the others it is told when it is done with
// it: also of those that no point goes to, and of those for which something of the interval is alone.
func TestExtraIntervalsGoToTargetsThatHadNone(t *testing.T) {
	route := RouteConfig{Match: []Match{{Name: NameMatch{Kind: "exact", Value: "routed"}}}, Sinks: RouteSinks{Matched: []string{"plain", "ruled", "had ruled"}}}
	route.Sinks.NotMatched = []string{"ruled", "had"}
	another := RouteConfig{Match: []Match{{Name: NameMatch{Kind: "any"}}}, Sinks: RouteSinks{Matched: []string{"ruled", "had"}}}
	rules := Rules{AddTags: map[string]string{"team": "a"}}
	for _, tt := range []struct {
		name   string
		routes []RouteConfig
		had    []string
		got    map[string]int
	}{
		{"all", nil, nil, map[string]int{"plain": 3, "had": 2, "ruled": 2, "had ruled": 2, "nothing": 2}},
		{"some had it", nil, []string{"had", "had ruled", "vanished"}, map[string]int{"plain": 3, "ruled": 2, "nothing": 2}},
		{"by routes", []RouteConfig{route, another}, nil, map[string]int{"plain": 2, "had": 2, "ruled": 2, "had ruled": 1, "nothing": 0}},
		{"by routes, some had it", []RouteConfig{route, another}, []string{"had", "had ruled"}, map[string]int{"plain": 2, "ruled": 2, "nothing": 0}},
		{"all had it", []RouteConfig{route}, []string{"plain", "had", "ruled", "had ruled", "nothing"}, map[string]int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tested(func(c *Config) { c.MetricSinkRouting = tt.routes }),
				Target{Name: "plain"}, Target{Name: "had"}, Target{Name: "ruled", Rules: rules}, Target{Name: "had ruled", Rules: rules}, Target{Name: "nothing"})
			var iv aggregate.Interval
			for _, name := range []string{"routed", "other"} {
				iv.Counters.Push(aggregate.CounterState{Series: &metric.Series{Name: name, Kind: metric.Counter}, Value: 1})
			}
			iv.Counters.Push(aggregate.CounterState{Series: &metric.Series{Name: "alone", Kind: metric.Counter, SinkOnly: "plain"}, Value: 1})
			var undone []func()
			for i := range f.s.Targets {
				f.s.Targets[i].Offer = func(_, done func(), interval ...*sinks.Batch) {
					undone = append(undone, done)
					f.got[f.s.Targets[i].Name] = interval
				}
			}
			told := map[string]int{}
			NewExtra(f.s).Offer(Interval{Interval: &iv, End: time.Unix(1, 0), Had: tt.had}, func(target string) { told[target]++ })
			require.Empty(t, told)
			for _, done := range undone {
				done()
			}
			got := map[string]int{}
			for target, interval := range f.got {
				got[target] = len(interval[0].Points)
				require.EqualValues(t, got[target], f.stats.Value("flush.routed", "sink:"+target))
				require.Equal(t, 1, told[target], target)
			}
			require.Equal(t, tt.got, got)
			require.Len(t, told, len(got))
		})
	}
}

// An interval that comes from elsewhere goes by the same routes and rules, with its own end and length.
func TestExtraIntervals(t *testing.T) {
	f := newFixture(t, tested(func(c *Config) { c.Aggregates, c.Percentiles = []string{"count"}, []float64{0.5} }),
		Target{Name: "plain", WantsDistributions: true}, Target{Name: "ruled", Rules: Rules{AddTags: map[string]string{"team": "a"}}})
	var undone []func()
	for i := range f.s.Targets {
		target := &f.s.Targets[i]
		keep := target.Offer
		target.Offer = func(_, told func(), interval ...*sinks.Batch) {
			undone = append(undone, told)
			keep(nil, told, interval...)
		}
	}
	x, done := NewExtra(f.s), []string{}
	tell := func(target string) { done = append(done, target) }
	series := func(name string, kind metric.Kind) *metric.Series {
		return &metric.Series{Name: name, Tags: []string{"service:web"}, Kind: kind}
	}
	var iv aggregate.Interval
	digest := tdigest.New(tdigest.DefaultCompression)
	digest.Add(0.5, 3)
	iv.Counters.Push(aggregate.CounterState{Series: series("requests", metric.Counter), Value: 3})
	iv.Gauges.Push(aggregate.GaugeState{Series: series("alive", metric.Gauge), Value: 1})
	iv.Histograms.Push(aggregate.HistogramState{Series: series("duration", metric.Histogram), Digest: digest})
	f.add("own:1|c")
	extra := Interval{
		Interval: &iv, End: time.Unix(1_700_000_040, 0), Covered: time.Minute,
		Exemplars: []metric.Exemplar{{Series: iv.Counters.At(0).Series, TraceID: 7, Value: 0.5}},
	}
	x.Offer(extra, tell)

	plain := f.got["plain"][0]
	require.Equal(t, []string{
		"alive gauge 1 service:web", "duration.50percentile gauge 0.5 service:web", "duration.count counter 3 service:web", "requests counter 3 service:web",
	}, show(plain))
	require.Equal(t, []any{time.Unix(1_700_000_040, 0), time.Minute}, []any{plain.End, plain.Interval})
	require.Len(t, plain.Distributions, 1)
	require.Equal(t, extra.Exemplars, plain.Exemplars)
	require.Equal(t, []string{"service:web", "team:a"}, f.got["ruled"][0].Exemplars[0].Series.Tags)
	require.Equal(t, []string{
		"alive gauge 1 service:web,team:a", "duration.50percentile gauge 0.5 service:web,team:a", "duration.count counter 3 service:web,team:a",
		"requests counter 3 service:web,team:a",
	}, show(f.got["ruled"][0]))
	require.EqualValues(t, 4, f.stats.Value("flush.points"))
	require.EqualValues(t, 4, f.stats.Value("flush.somewhere_routed"))
	require.Empty(t, done)
	for _, told := range undone {
		told()
	}
	require.Equal(t, []string{"plain", "ruled"}, done)
	NewExtra(Settings{Config: DefaultConfig(), Telemetry: f.stats, Log: f.s.Log}).Offer(extra, tell)
	require.Len(t, done, 2, "without a target nobody is done")
	require.Equal(t, []string{"own counter 1"}, f.points("plain"), "what comes from lanes is another interval")
}
