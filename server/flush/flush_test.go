package flush

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
)

// lane is a table with its lock.
type lane struct {
	mu    sync.Mutex
	table *aggregate.Table
}

func (l *lane) Flip() (held int) {
	l.WithLock(func() {
		held = l.table.Held()
		l.table.Flip()
	})
	return held
}

func (l *lane) Held() (held int) {
	l.WithLock(func() { held = l.table.Held() })
	return held
}

func (l *lane) WithLock(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// fixture is a flusher over one lane, with targets that keep what they are offered.
type fixture struct {
	*Flusher
	t     *testing.T
	lane  *lane
	stats *telemetry.Registry
	got   map[string][]*sinks.Batch
	stamp int64

	logged strings.Builder // by the goroutine that flushes
}

func newFixture(t *testing.T, c Config, targets ...Target) *fixture {
	t.Helper()
	log := logrus.New()
	f := &fixture{t: t, stats: telemetry.New(), got: map[string][]*sinks.Batch{}}
	log.SetOutput(&f.logged)
	interner := aggregate.NewInterner(aggregate.Settings{Config: aggregate.DefaultConfig(), Telemetry: f.stats, Log: log})
	f.lane = &lane{table: interner.NewTable()}
	for i := range targets {
		name := targets[i].Name
		targets[i].Offer = func(_, _ func(), interval ...*sinks.Batch) { f.got[name] = append(f.got[name], interval...) }
	}
	require.NoError(t, c.Validate())
	f.Flusher = New(Settings{
		Config:    c,
		Lanes:     []Lane{f.lane},
		Collector: aggregate.NewCollector(interner, []*aggregate.Table{f.lane.table}),
		Targets:   targets,
		Telemetry: f.stats,
		Log:       log,
	})
	return f
}

func (f *fixture) add(lines ...string) {
	f.t.Helper()
	var parser dogstatsd.Parser
	parser.Reset([]byte(strings.Join(lines, "\n")), time.Now().Unix())
	for line := parser.Next(); line != nil; line = parser.Next() {
		require.Equal(f.t, dogstatsd.MetricLine, line.Kind, "%s", line.Raw)
		f.stamp++
		f.lane.WithLock(func() { f.lane.table.Add(&line.Sample, f.stamp, 0) })
	}
}

// points flushes and returns the points of a target, sorted, each as "name type value tags".
func (f *fixture) points(target string) []string {
	f.t.Helper()
	f.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
	batches := f.got[target]
	require.NotEmpty(f.t, batches)
	return show(batches[len(batches)-1])
}

func show(b *sinks.Batch) []string {
	var out []string
	for _, p := range b.Points {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", p.Name, p.Type, p.Value, strings.Join(p.Series.Tags, ","))))
	}
	slices.Sort(out)
	return out
}

func tested(change func(*Config)) Config {
	c := DefaultConfig()
	c.Aggregates = []string{"min", "max", "median", "avg", "count", "sum", "hmean"}
	c.Percentiles = []float64{0.5, 0.99}
	if change != nil {
		change(&c)
	}
	return c
}

func TestPointsOfEachKind(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	f.add("c:1|c|@0.1", "g:3|g", "g:-2|g", "h:1:2:4|h", "s:a|s", "s:b|s", "s:a|s")
	require.Equal(t, []string{
		"c counter 10",
		"g gauge -2",
		"h.50percentile gauge 2",
		"h.99percentile gauge 4",
		"h.avg gauge 2.3333333333333335",
		"h.count counter 3",
		"h.hmean gauge 1.7142857142857142",
		"h.max gauge 4",
		"h.median gauge 2",
		"h.min gauge 1",
		"h.sum gauge 7",
		"s gauge 2",
	}, f.points("a"))
}

func TestHistogramAggregates(t *testing.T) {
	tests := []struct {
		name       string
		lines      []string
		aggregates []string
		want       []string
	}{
		{
			"B033 negative",
			[]string{"o:-1.000000|h"},
			[]string{"count", "min", "max", "sum"},
			[]string{"o.count counter 1", "o.max gauge -1", "o.min gauge -1", "o.sum gauge -1"},
		},
		{
			"B038 the rate does not scale the value",
			[]string{"t:57|ms|@0.1"},
			[]string{"count", "sum", "min", "max"},
			[]string{"t.count counter 10", "t.max gauge 57", "t.min gauge 57", "t.sum gauge 570"},
		},
		{
			"B039 the rate counts",
			[]string{"f:5|ms|@0.5", "f:5|ms|@0.5", "f:5|ms|@0.5", "f:5|ms|@0.5"},
			[]string{"count", "sum", "avg"},
			[]string{"f.avg gauge 5", "f.count counter 8", "f.sum gauge 40"},
		},
		{
			"B041 a sum of 0",
			[]string{"h:-1:1|h"},
			[]string{"sum", "avg", "count"},
			[]string{"h.avg gauge 0", "h.count counter 2", "h.sum gauge 0"},
		},
		{"B042 no harmonic mean with a 0", []string{"h:0|h"}, []string{"hmean", "count"}, []string{"h.count counter 1"}},
		{"B042 no harmonic mean of -1 and 1", []string{"h:-1:1|h"}, []string{"hmean", "count"}, []string{"h.count counter 2"}},
		{
			"B061 huge values",
			[]string{"h:1e308:1e308|h"},
			[]string{"avg", "max", "min", "sum"},
			[]string{"h.avg gauge 1e+308", "h.max gauge 1e+308", "h.min gauge 1e+308", "h.sum gauge 1.7976931348623157e+308"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tested(func(c *Config) { c.Aggregates, c.Percentiles = tt.aggregates, nil }), Target{Name: "a"})
			f.add(tt.lines...)
			require.Equal(t, tt.want, f.points("a"))
			require.Equal(t, strings.HasPrefix(tt.name, "B061"), f.stats.Value("flush.saturated_histograms") == 1)
		})
	}
}

func TestB052IdleSeriesGiveNothing(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	f.add("c:1|c")
	require.Equal(t, []string{"c counter 1"}, f.points("a"))
	require.Empty(t, f.points("a"))
	require.Empty(t, f.points("a"))
}

func TestSeriesOfUnequalScopeMerge(t *testing.T) {
	f := newFixture(t, tested(func(c *Config) { c.Aggregates, c.Percentiles = []string{"count", "avg"}, nil }), Target{Name: "a"})
	f.add("c:1|c", "c:2|c|#veneurlocalonly", "c:4|c|#veneurglobalonly", "h:1|h", "h:3|d")
	require.Equal(t, []string{"c counter 7", "h.avg gauge 2", "h.count counter 2"}, f.points("a"))
}

func TestPointsThatMeet(t *testing.T) {
	tests := []struct {
		name        string
		lines       []string
		want        []string
		conflicting float64
	}{
		{"a counter and a gauge of one name: the later is left out", []string{"x:1|c", "x:5|g"}, []string{"x counter 1"}, 1},
		{"other tags do not meet", []string{"x:1|c", "x:5|g|#a"}, []string{"x counter 1", "x gauge 5 a"}, 0},
		{"a counter and the count of a histogram add up", []string{"h.count:2|c", "h:1|h"}, []string{"h.count counter 3", "h.min gauge 1"}, 0},
		{"a gauge and the min of a histogram: the last stands", []string{"h.min:7|g", "h:1|h"}, []string{"h.count counter 1", "h.min gauge 1"}, 0},
		{"a gauge and a set: the set stands", []string{"s:7|g", "s:a|s"}, []string{"s gauge 1"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tested(func(c *Config) { c.Aggregates, c.Percentiles = []string{"min", "count"}, nil }), Target{Name: "a"})
			f.add(tt.lines...)
			require.Equal(t, tt.want, f.points("a"))
			require.Equal(t, tt.conflicting, f.stats.Value("flush.conflicting", "sink:a"))
			require.Equal(t, strings.Contains(tt.name, "stands"), f.stats.Value("flush.gave_way", "sink:a") == 1)
			told := tt.conflicting > 0 || strings.Contains(tt.name, "stands")
			require.Equal(t, told, strings.Contains(f.logged.String(), "level=warning"), "%s", f.logged.String())
		})
	}
}

func TestRules(t *testing.T) {
	strip := Rules{StripTags: []StripTag{{Kind: "prefix", Value: "host:"}}}
	tests := []struct {
		name     string
		rules    Rules
		excluded []string
		lines    []string
		want     []string
	}{
		{"strip_tags: what becomes equal adds up", strip, nil, []string{"c:1|c|#host:a,x", "c:2|c|#host:b,x"}, []string{"c counter 3 x"}},
		{"strip_tags: of gauges the last stands", strip, nil, []string{"g:1|g|#host:b", "g:2|g|#host:a"}, []string{"g gauge 2"}},
		{
			"strip_tags: digests merge, so that an average is one of all values", strip, nil,
			[]string{"h:1:1:1|h|#host:a", "h:5|h|#host:b"},
			[]string{"h.avg gauge 2", "h.count counter 4"},
		},
		{"strip_tags: sets merge", strip, nil, []string{"s:a|s|#host:a", "s:a|s|#host:b", "s:b|s|#host:b"}, []string{"s gauge 2"}},
		{"add_tags", Rules{AddTags: map[string]string{"env": "p", "dc": "1"}}, nil, []string{"c:1|c|#x"}, []string{"c counter 1 dc:1,env:p,x"}},
		{"add_tags leaves a key that is there", Rules{AddTags: map[string]string{"env": "p"}}, nil, []string{"c:1|c|#env:d"}, []string{"c counter 1 env:d"}},
		{
			"add_tags goes by the whole key",
			Rules{AddTags: map[string]string{"env": "p"}},
			nil,
			[]string{"c:1|c|#environment:d"},
			[]string{"c counter 1 env:p,environment:d"},
		},
		{"tags_exclude for this sink", Rules{}, []string{"id"}, []string{"c:1|c|#id:1", "c:1|c|#id:2,ident:3"}, []string{"c counter 1", "c counter 1 ident:3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tested(func(c *Config) { c.Aggregates, c.Percentiles = []string{"avg", "count"}, nil })
			f := newFixture(t, c, Target{Name: "plain"}, Target{Name: "ruled", Rules: tt.rules, ExcludedTags: tt.excluded})
			for range 2 { // the second interval goes by what the first has worked out
				f.add(tt.lines...)
				require.Equal(t, tt.want, f.points("ruled"))
			}
		})
	}
}

func TestRoutesSeeTagsBeforeRules(t *testing.T) {
	c := tested(func(c *Config) {
		c.Aggregates, c.Percentiles = []string{"min", "max"}, nil
		c.MetricSinkRouting = []RouteConfig{{
			Match: []Match{{Name: NameMatch{"exact", "h.max"}, Tags: []TagMatch{{Kind: "exact", Value: "host:a"}}}},
			Sinks: RouteSinks{Matched: []string{"ruled"}, NotMatched: []string{"rest"}},
		}}
	})
	f := newFixture(t, c,
		Target{Name: "ruled", Rules: Rules{StripTags: []StripTag{{Kind: "prefix", Value: "host:"}}}}, Target{Name: "rest"})
	f.add("h:1:2|h|#host:a", "h:9|h|#host:b")
	require.Equal(t, []string{"h.max gauge 2"}, f.points("ruled"))
	require.Equal(t, []string{"h.max gauge 9 host:b", "h.min gauge 1 host:a", "h.min gauge 9 host:b"}, show(f.got["rest"][0]))
	require.Equal(t, 4.0, f.stats.Value("flush.points"))
	require.Zero(t, f.stats.Value("flush.no_sink"))
}

func TestNoSinkIsCounted(t *testing.T) {
	c := tested(func(c *Config) {
		c.MetricSinkRouting = []RouteConfig{{
			Match: []Match{{Name: NameMatch{"prefix", "a."}}},
			Sinks: RouteSinks{Matched: []string{"a"}},
		}}
	})
	f := newFixture(t, c, Target{Name: "a"})
	f.add("a.x:1|c", "b.x:1|c", "c.x:1|c|#veneursinkonly:a", "d.x:1|c|#veneursinkonly:nowhere")
	require.Equal(t, []string{"a.x counter 1", "c.x counter 1"}, f.points("a"))
	require.Equal(t, 4.0, f.stats.Value("flush.points"))
	require.Equal(t, 2.0, f.stats.Value("flush.somewhere_routed"))
	require.Equal(t, 2.0, f.stats.Value("flush.no_sink"))
}

func TestWhatIsForOneSinkOnlyMeetsTheRestThere(t *testing.T) {
	c := tested(func(c *Config) { c.Aggregates, c.Percentiles = []string{"count", "max"}, nil })
	f := newFixture(t, c, Target{Name: "a"}, Target{Name: "b"})
	for range 2 {
		f.add("x:1|c|#k", "x:2|c|#k,veneursinkonly:a", "g:1|g", "g:2|g|#veneursinkonly:a", "h:1|h", "h:5|h|#veneursinkonly:a",
			"y:1|c", "y:9|g|#veneursinkonly:a")
		require.Equal(t, []string{"g gauge 2", "h.count counter 2", "h.max gauge 5", "x counter 3 k", "y counter 1"}, f.points("a"))
		require.Equal(t, []string{"g gauge 1", "h.count counter 1", "h.max gauge 1", "x counter 1 k", "y counter 1"}, show(f.got["b"][len(f.got["b"])-1]))
	}
	require.Equal(t, 2.0, f.stats.Value("flush.conflicting", "sink:a"))
	require.Zero(t, f.stats.Value("flush.conflicting", "sink:b"))
}

func TestConflictsAreChargedToThoseWhoWouldHaveHadThePoint(t *testing.T) {
	c := tested(func(c *Config) {
		c.MetricSinkRouting = []RouteConfig{{
			Match: []Match{{Name: NameMatch{"exact", "x"}}},
			Sinks: RouteSinks{Matched: []string{"a"}, NotMatched: []string{"b"}},
		}}
	})
	f := newFixture(t, c, Target{Name: "a"}, Target{Name: "b"})
	f.add("x:1|c", "x:2|g")
	f.points("a")
	require.Equal(t, 1.0, f.stats.Value("flush.conflicting", "sink:a"))
	require.Zero(t, f.stats.Value("flush.conflicting", "sink:b"))
}

func TestTimedPointsThatBecomeEqualMerge(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a", Rules: Rules{StripTags: []StripTag{{Kind: "prefix", Value: "host:"}}}})
	f.add("x:1|c|#host:a|T1656581400", "x:2|c|#host:b|T1656581400", "x:4|c|#host:b|T1656581401", "g:1|g|#host:a|T1656581400", "g:2|g|#host:b|T1656581400")
	require.Equal(t, []string{"g gauge 2", "x counter 3", "x counter 4"}, f.points("a"))
}

func TestChecksAndEventsForNobodyAreCounted(t *testing.T) {
	c := tested(func(c *Config) {
		c.MetricSinkRouting = []RouteConfig{{Match: []Match{{Name: NameMatch{"exact", "x"}}}, Sinks: RouteSinks{Matched: []string{"a"}}}}
	})
	f := newFixture(t, c, Target{Name: "a"})
	f.lane.table.AddCheck(metric.Check{Name: "x"}, 0)
	f.lane.table.AddCheck(metric.Check{Name: "y"}, 0)
	f.lane.table.AddEvent(metric.Event{Title: "for all"}, 0)
	f.lane.table.AddEvent(metric.Event{Title: "for none", SinkOnly: "nowhere"}, 0)
	f.points("a")
	require.Len(t, f.got["a"][0].Checks, 1)
	require.Len(t, f.got["a"][0].Events, 1)
	require.Equal(t, 1.0, f.stats.Value("flush.no_sink_other", "sort:check"))
	require.Equal(t, 1.0, f.stats.Value("flush.no_sink_other", "sort:event"))
}

func TestTimedPointsPassThrough(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	f.add("c:1:2|c|@0.5|T1656581400", "g:7|g|T1656581401", "c:1|c")
	f.points("a")
	times := map[string]int64{}
	for _, p := range f.got["a"][0].Points {
		times[fmt.Sprintf("%s %v", p.Name, p.Value)] = p.Time
	}
	require.Equal(t, map[string]int64{"c 6": 1656581400, "g 7": 1656581401, "c 1": 0}, times)
}

func TestDistributionsAreCopies(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a", WantsDistributions: true}, Target{Name: "b"})
	f.add("h:1:2:3|h|#x")
	f.points("a")
	require.Empty(t, f.got["b"][0].Distributions)
	kept := f.got["a"][0].Distributions
	require.Len(t, kept, 1)
	f.add("h:100:200|h|#x", "i:1|h") // takes the digests of the interval before from their pool
	f.points("a")
	require.Equal(t, 3.0, kept[0].Digest.Count())
	require.Equal(t, 3.0, kept[0].Digest.Max())
	require.Equal(t, []string{"x"}, kept[0].Series.Tags)
}

func TestRunFlushesAtTicksAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, tested(func(c *Config) { c.SynchronizeWithInterval = true }), Target{Name: "a"})
		time.Sleep(3 * time.Second) // synctest begins at midnight, and this is three seconds past a tick
		begin := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		f.add("c:1|c")
		time.Sleep(7 * time.Second)
		synctest.Wait()
		first := f.got["a"][0]
		require.Equal(t, begin.Add(7*time.Second).Unix(), first.End.Unix(), "B152")
		require.Equal(t, 7*time.Second, first.Interval, "B152")
		f.add("c:5|c")
		time.Sleep(time.Second / 2)
		cancel()
		require.NoError(t, <-done)
		last := f.got["a"][len(f.got["a"])-1]
		require.Equal(t, []string{"c counter 5"}, show(last), "B125: the last, partial interval")
		require.Equal(t, first.End.Unix()+1, last.End.Unix())
		require.Equal(t, time.Second/2, last.Interval)
	})
}

func TestRunLeavesThePartialIntervalWhenToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, tested(func(c *Config) { c.FlushOnShutdown = false }), Target{Name: "a"})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- f.Run(ctx) }()
		f.add("c:1|c")
		time.Sleep(time.Second)
		cancel()
		require.NoError(t, <-done)
		require.Empty(t, f.got["a"])
	})
}

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, tested(func(c *Config) { c.FlushWatchdogMissedFlushes = 2 }), Target{Name: "a"})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- f.Watchdog().Run(ctx) }()
		for range 5 { // flushes come on time
			f.points("a")
			time.Sleep(10 * time.Second)
		}
		require.Empty(t, done)
		time.Sleep(30 * time.Second) // and then no more
		require.ErrorContains(t, <-done, "no flush for")
	})
}

func TestWatchdogOfOneIntervalLetsAFlusherLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, tested(func(c *Config) { c.FlushWatchdogMissedFlushes = 1 }), Target{Name: "a"})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 2)
		go func() { done <- f.Run(ctx) }()
		go func() { done <- f.Watchdog().Run(ctx) }()
		time.Sleep(time.Hour)
		require.Empty(t, done)
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
	})
}

func TestWatchdogIsOffByDefault(t *testing.T) {
	require.Nil(t, newFixture(t, tested(nil), Target{Name: "a"}).Watchdog())
}

// A point's tags belong to its series, which every sink may keep: rules must not write into them.
func TestRulesLeaveSeriesAlone(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "plain"}, Target{Name: "ruled", Rules: Rules{AddTags: map[string]string{"b": "1"}}})
	f.add("c:1|c|#a,c")
	f.points("ruled")
	require.Equal(t, []string{"a", "c"}, f.got["plain"][0].Points[0].Series.Tags)
	require.Equal(t, []string{"a", "b:1", "c"}, f.got["ruled"][0].Points[0].Series.Tags)
	require.NotSame(t, f.got["plain"][0].Points[0].Series, f.got["ruled"][0].Points[0].Series)
}

func TestRestsEndAtAStopAndAreAPartOfTheInterval(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	require.False(t, f.stopping())
	require.Equal(t, f.s.Config.Interval/10, f.pacer.Most)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, f.Run(ctx))
	require.True(t, f.stopping())
}
