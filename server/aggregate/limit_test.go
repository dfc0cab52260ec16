package aggregate

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

func TestSeriesLimits(t *testing.T) {
	type step struct {
		lines string
		want  Outcome
	}
	tests := []struct {
		name  string
		steps []step
		want  map[string]float64
	}{
		{"per name", []step{
			{"x:1|c|#id:1\nx:1|c|#id:2\nx:1|c|#id:3", Applied},
			{"x:1|c|#id:4", Overflowed},
			{"x:1|c|#id:4", Overflowed}, // known by now
			{"x:1|c|#id:5", Overflowed},
			{"x:1|c|#id:1", Applied},
			{"y:1|c", Applied},
		}, map[string]float64{"x|c|#id:1": 2, "x|c|#id:2": 1, "x|c|#id:3": 1, "x|c|#veneur_overflow:true": 3, "y|c": 1}},
		{"per name, each kind and scope", []step{
			{"x:1|c|#id:1\nx:1|c|#id:2\nx:1|c|#id:3", Applied},
			{"x:1|c|#id:4,veneurlocalonly", Overflowed},
			{"x:5|g|#id:5", Overflowed},
			{"x:5|g|#id:6,veneursinkonly:k", Overflowed},
			{"x:7|ms|#id:7", Overflowed},
			{"x:9|d|#id:8", Overflowed},
			{"x:m|s|#id:9,veneurglobalonly", Overflowed},
		}, map[string]float64{
			"x|c|#id:1": 1, "x|c|#id:2": 1, "x|c|#id:3": 1, "x|c|local|#veneur_overflow:true": 1,
			"x|g|#veneur_overflow:true": 5, "x|g|only k|#veneur_overflow:true": 5,
			"x.count|h|#veneur_overflow:true": 1, "x.sum|h|#veneur_overflow:true": 7, "x.min|h|#veneur_overflow:true": 7, "x.max|h|#veneur_overflow:true": 7,
			"x.count|h|global|#veneur_overflow:true": 1, "x.sum|h|global|#veneur_overflow:true": 9, "x.min|h|global|#veneur_overflow:true": 9, "x.max|h|global|#veneur_overflow:true": 9,
			"x.size|s|global|#veneur_overflow:true": 1,
		}},
		{"of the daemon", []step{
			{"a:1|c|#1\na:1|c|#2\nb:1|c\nc:1|g\nd:1|h", Applied},
			{"a:1|c|#3", Overflowed},
			{"b:1|g", Overflowed}, // the name has series
			{"e:1|c\nf:2|c", Overflowed},
			{"e:m|s", Overflowed},
			{"e:1|g", RefusedSeriesLimit},
			{"e:1|h", RefusedSeriesLimit},
			{"a:1|c|#2", Applied},
		}, map[string]float64{
			"a|c|#1": 1, "a|c|#2": 2, "a|c|#veneur_overflow:true": 1, "b|c": 1, "b|g|#veneur_overflow:true": 1, "c|g": 1,
			"d.count|h": 1, "d.sum|h": 1, "d.min|h": 1, "d.max|h": 1,
			"veneur.overflow|c|#kind:counter": 3, "veneur.overflow.size|s|#kind:set": 1,
		}},
		{"a time does not help", []step{
			{"x:1|c|#id:1\nx:1|c|#id:2\nx:1|c|#id:3", Applied},
			{"x:1|c|#id:4|T1600000000", PassedThrough},
		}, map[string]float64{"x|c|#id:1": 1, "x|c|#id:2": 1, "x|c|#id:3": 1}},
		{"a sender's own tag", []step{
			{"x:1|c|#veneur_overflow:true\nx:1|c|#id:2\nx:1|c|#id:3", Applied},
			{"x:1|c|#id:4", Overflowed},
			{"x:1|c|#veneur_overflow:true", Applied},
		}, map[string]float64{"x|c|#veneur_overflow:true": 3, "x|c|#id:2": 1, "x|c|#id:3": 1}},
		{"a name of any length", []step{
			{strings.Repeat("n", 65_536) + ":1|c", Overflowed},
			{strings.Repeat("n", 65_536) + ":1|g", RefusedSeriesLimit},
			{strings.Repeat("n", 65_535) + ":1|g", Applied},
		}, map[string]float64{"veneur.overflow|c|#kind:counter": 1, strings.Repeat("n", 65_535) + "|g": 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 1, func(c *Config) { c.MaxSeries, c.MaxSeriesPerName = 5, 3 })
			for range 2 {
				for _, s := range tt.steps {
					require.Equal(t, s.want, d.add(s.lines), "%.40s", s.lines)
				}
				iv := d.collect()
				require.Equal(t, tt.want, values(iv))
				d.c.Release(iv)
			}
		})
	}
}

func TestOverflowHasExtendTags(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxSeriesPerName, c.ExtendTags = 1, []string{"env:prod"} })
	d.add("x:1|c|#1\nx:1|c|#2")
	require.Equal(t, map[string]float64{"x|c|#1,env:prod": 1, "x|c|#env:prod,veneur_overflow:true": 1}, d.flush())
}

func TestB146TotalsStayRight(t *testing.T) {
	tests := []struct {
		name  string
		lines int
		line  func(i int) string
	}{
		{"values of a tag", 1_000_000, func(i int) string { return fmt.Sprintf("c:1|c|#id:%d", i) }},
		{"names", 200_000, func(i int) string { return fmt.Sprintf("c.%d:1|c", i) }},
		{"names and scopes and sinks", 200_000, func(i int) string {
			return fmt.Sprintf("c.%d:1|c|#veneursinkonly:%d,id:%d", i%3000, i, i)
		}},
		{"long tags", 100_000, func(i int) string { return fmt.Sprintf("c:1|c|#id:%0*d", 10+i%3*1000, i) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := tt.lines
			if raceEnabled {
				n /= 20
			}
			d := newDaemon(t, 2, func(c *Config) { c.MaxSeries, c.MaxSeriesPerName, c.SeriesIdleIntervals = 20_000, 5_000, 2 })
			before := heap()
			refused := 0
			for i := range n {
				if d.addTo(i%2, tt.line(i)) == RefusedSeriesLimit {
					refused++
				}
			}
			iv := d.collect()
			total := 0.0
			for s := range iv.Counters.All() {
				total += s.Value
			}
			require.EqualValues(t, n-refused, total)
			if tt.name != "names and scopes and sinks" { // there are more of these than overflow series may be
				require.Zero(t, refused)
			}
			require.LessOrEqual(t, d.telemetry.Value("series"), 20_000+20_000/8+64.0)
			require.LessOrEqual(t, heap()-before, int64(40<<20), "memory is bounded")
			d.c.Release(iv)
			d.expire()
			for range 8 {
				d.end()
			}
			require.Zero(t, d.telemetry.Value("series"))
			require.LessOrEqual(t, heap()-before, int64(1<<20), "memory returns")
			runtime.KeepAlive(d)
		})
	}
}

// Tags of a byte or two take more by being tags than by their text.
func TestManyShortTagsAreBounded(t *testing.T) {
	const limit, lines = 20_000, 30_000
	var tags strings.Builder
	for i := range 119 {
		fmt.Fprintf(&tags, "%c%c,", 'a'+i%26, '0'+i/26)
	}
	for _, kind := range []string{"one name", "names"} {
		t.Run(kind, func(t *testing.T) {
			d := newDaemon(t, 1, func(c *Config) { c.MaxSeries, c.MaxSeriesPerName, c.SeriesIdleIntervals = limit, limit, 2 })
			before := heap()
			for i := range lines {
				name := "c"
				if kind == "names" {
					name = fmt.Sprintf("c.%d", i)
				}
				outcome := d.add(fmt.Sprintf("%s:1|c|#%sid:%d", name, tags.String(), i))
				require.Contains(t, []Outcome{Applied, Overflowed}, outcome)
			}
			iv := d.collect()
			total := 0.0
			for s := range iv.Counters.All() {
				total += s.Value
			}
			require.EqualValues(t, lines, total)
			require.LessOrEqual(t, d.telemetry.Value("series"), float64(limit*keyBytes+minKeyBytes)/(120*keyTagBytes)+1)
			got := heap() - before
			t.Logf("%d kB", got>>10)
			require.LessOrEqual(t, got, int64(3*(limit*keyBytes+minKeyBytes)))
			d.c.Release(iv)
			d.expire()
			for range 8 {
				d.end()
			}
			require.Zero(t, d.tables[0].store.keySize, "the room is given back")
			runtime.KeepAlive(d)
		})
	}
}

// What is counted of an event is what it holds, and not what else was written with its tags.
func TestEventsHoldTheirOwnTags(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.TagsExclude = []string{"x"} })
	raw := []byte("x:" + strings.Repeat("x", 64<<10) + ",a,b")
	before := heap()
	for range 500 {
		var set metric.TagSet
		require.True(t, set.Parse(metric.TagsList, raw))
		require.Equal(t, Applied, d.tables[0].AddEvent(metric.Event{Tags: set.Tags}, 1))
		require.True(t, set.Parse(metric.TagsList, raw))
		require.Equal(t, Applied, d.tables[0].AddCheck(metric.Check{Tags: set.Tags}, 1))
	}
	require.LessOrEqual(t, heap()-before, int64(2<<20))
	require.Equal(t, []string{"a", "b"}, d.collect().Events.At(0).Tags)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestOffendersAreNamed(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxSeriesPerName = 10 })
	log, hook := logtest.NewNullLogger()
	d.in.log = log
	d.in.SetListeners([]string{"udp://:8126", "unix:///s"})
	for i := range 3000 {
		d.add(fmt.Sprintf("good.%d:1|c\nbad:1|c|#env:e%d,request_id:%d", i, i%10, i))
		d.parser.Reset(fmt.Appendf(nil, "worse:1|c|#a:b,c%d:d,user:%d", i%40, i/2), 0)
		for line := d.parser.Next(); line != nil; line = d.parser.Next() {
			d.tables[0].Add(&line.Sample, 1, 1)
			d.tables[0].Add(&line.Sample, 1, 1)
		}
	}
	require.InDelta(t, 2990, d.telemetry.Value("aggregate.over_limit", "metric:bad", "tag:request_id", "listener:udp://:8126"), 0)
	require.InDelta(t, 3000, d.telemetry.Value("aggregate.over_limit", "metric:worse", "tag:user", "listener:unix:///s"), 20)
	d.end()
	d.end()
	require.Len(t, hook.Entries, 1, "once a minute")
	require.Equal(t, logrus.WarnLevel, hook.LastEntry().Level)
	require.Contains(t, hook.LastEntry().Data["worst"], `"bad" (tag "request_id", from udp://:8126, about 2990)`)
}

func TestOffendersAreBounded(t *testing.T) {
	var o offenders
	tags := make([]string, 100)
	for i := range tags {
		tags[i] = fmt.Sprintf("%s%d:v", strings.Repeat("k", 190), i)
	}
	for i := range 20_000 {
		o.note(fmt.Appendf(nil, "%d%s", i, strings.Repeat("x", 1000)), tags, uint16(i))
		o.note([]byte("often"), tags, 7)
	}
	require.Len(t, o.items, maxOffenders)
	for _, item := range o.items {
		require.LessOrEqual(t, len(item.name), maxOffenderName)
		require.LessOrEqual(t, len(item.tags), maxOffenderTags)
	}
	require.Equal(t, "often", o.top(1)[0].name)
	require.NotNil(t, o.report())
	require.Nil(t, o.report(), "nothing new")
	for range 40 {
		o.report()
	}
	require.Empty(t, o.items, "the past fades")
}

func TestAliasesAreBounded(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxSeries = 1 })
	const keys = 5000
	for i := range keys {
		// One series, written in many ways.
		d.add(fmt.Sprintf("x:1|c|#a,b,%s", strings.Repeat("a,", i)))
	}
	require.Equal(t, map[string]float64{"x|c|#a,b": keys}, d.flush())
	require.LessOrEqual(t, d.tables[0].store.aliases, minAliases+1)
	require.EqualValues(t, d.tables[0].store.aliases, d.telemetry.Value("aggregate.aliases"))
	require.EqualValues(t, 1, d.telemetry.Value("series"))
}

func TestDescsAreRegistered(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.CountUniqueTimeseries = true; c.MaxSeriesPerName = 1 })
	d.end()
	d.add("a:1|c|#1\na:1|c|#2")
	registered := map[string]bool{}
	for _, reading := range d.telemetry.Gather() {
		registered[reading.Desc.Name] = true
	}
	for _, desc := range Descs() {
		require.True(t, registered[desc.Name], desc.Name)
		require.NotEmpty(t, desc.Help)
	}
	require.Len(t, registered, len(Descs()))
}

// A key that a flood kept out is not kept out for as long as somebody sends it: when the flood's series have left, it gets its own.
func TestOverflowEndsWithTheFlood(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxSeriesPerName, c.SeriesIdleIntervals = 3, 2 })
	d.add("x:1|c|#id:a\nx:1|c|#id:b\nx:1|c|#id:c")
	require.Equal(t, Overflowed, d.add("x:1|c|#id:good"))
	for range 10 {
		d.end()
		d.add("x:1|c|#id:good")
	}
	require.Equal(t, Applied, d.add("x:1|c|#id:good"))
	require.Contains(t, d.flush(), "x|c|#id:good")
}

func TestOffendersFadeByTheMinute(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxSeriesPerName = 1 })
	d.add("x:1|c|#id:0")
	d.end() // the first report of a daemon
	for i := range 100 {
		d.add(fmt.Sprintf("x:1|c|#id:%d", i+1))
	}
	for range 5 {
		d.end()
		require.Equal(t, 100.0, d.telemetry.Value("aggregate.over_limit", "metric:x"))
	}
}
