package flush

import (
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
	var done []int
	for i := range 3 {
		x.Offer(Interval{Interval: &aggregate.Interval{}, End: time.Unix(int64(i), 0)}, func() { done = append(done, i) })
	}
	for _, i := range []int{1, 0, 2} {
		undone[i]()
	}
	require.Equal(t, []int{1, 0, 2}, done)
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
	x, done := NewExtra(f.s), 0
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
	x.Offer(extra, func() { done++ })

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
	for _, told := range undone {
		require.Zero(t, done)
		told()
	}
	require.Equal(t, 1, done)
	NewExtra(Settings{Config: DefaultConfig(), Telemetry: f.stats, Log: f.s.Log}).Offer(extra, func() { done++ })
	require.Equal(t, 2, done, "without a target")
	require.Equal(t, []string{"own counter 1"}, f.points("plain"), "what comes from lanes is another interval")
}
