package aggregate

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

func TestOneInterval(t *testing.T) {
	type want = map[string]float64
	tests := []struct {
		name, lines string
		want        want
	}{
		{"counter", "a:1|c\na:2|c", want{"a|c": 3}},
		{"pack", "a:1:2:3|c", want{"a|c": 6}},
		{"B035 fractions", "cf:0.5|c\ncf:0.5|c\ncf:0.5|c", want{"cf|c": 1.5}},
		{"rate of a tenth", "a:1|c|@0.1", want{"a|c": 10}},
		{"B035 fractions of rates", "a:1|c|@0.7", want{"a|c": 1 / 0.7}},
		{"B036 past an int64", "cb:9223372036854775807|c\ncb:9223372036854775807|c\ncx:1e20|c", want{"cb|c": 1.8446744073709552e19, "cx|c": 1e20}},
		{"B036 past a float64", "a:1.7e308:1.7e308|c\nb:-1.7e308:-1.7e308|c", want{"a|c": most, "b|c": -most}},
		{"B037 a signed gauge is absolute", "g:5|g\ng:+3|g\ng:-2|g", want{"g|g": -2}},
		{"a gauge's rate means nothing", "g:5|g|@0.1", want{"g|g": 5}},
		{"the last of a pack", "g:1:2:3|g", want{"g|g": 3}},
		{"B038 a rate weighs, and does not scale", "t:57|ms|@0.1", want{"t.count|h": 10, "t.sum|h": 570, "t.min|h": 57, "t.max|h": 57}},
		{"B039 a timer's count", "foo:5|ms|@0.5\nfoo:5|ms|@0.5\nfoo:5|ms|@0.5\nfoo:5|ms|@0.5", want{"foo.count|h": 8, "foo.sum|h": 40, "foo.min|h": 5, "foo.max|h": 5}},
		{"B041 a sum of nothing", "h:-1:1|h\nh0:0|h", want{
			"h.count|h": 2, "h.sum|h": 0, "h.min|h": -1, "h.max|h": 1,
			"h0.count|h": 1, "h0.sum|h": 0, "h0.min|h": 0, "h0.max|h": 0,
		}},
		{"h and ms are one series", "x:1|h\nx:3|ms", want{"x.count|h": 2, "x.sum|h": 4, "x.min|h": 1, "x.max|h": 3}},
		{"d is global by nature", "x:1|d", want{"x.count|h|global": 1, "x.sum|h|global": 1, "x.min|h|global": 1, "x.max|h|global": 1}},
		{"d with local scope is not", "x:1|d|#veneurlocalonly", want{"x.count|h|local": 1, "x.sum|h|local": 1, "x.min|h|local": 1, "x.max|h|local": 1}},
		{"set", "s:a|s\ns:b|s\ns:a|s|@0.1", want{"s.size|s": 2}},
		{"B047 order and duplicates of tags", "t:1|c|#a,b\nt:1|c|#b,a\nt:1|c|#a,b,b", want{"t|c|#a,b": 3}},
		{"B048 both scopes", "t:1|c|#veneurlocalonly,veneurglobalonly", want{"t|c|local": 1}},
		{"B049 a longer key is a tag", "t:1|c|#veneurlocalonly_rollout:1", want{"t|c|#veneurlocalonly_rollout:1": 1}},
		{"B049 a value does not matter", "t:1|c|#veneurlocalonly:x", want{"t|c|local": 1}},
		{"B050 one sink only", "t:1|c|#veneursinkonly:kafka,a", want{"t|c|only kafka|#a": 1}},
		{"B055 two hosts are two series", "t:1|c|#host:a\nt:1|c|#host:b", want{"t|c|#host:a": 1, "t|c|#host:b": 1}},
		{"B148 origin data is no tag", "t:1|c|#dd.internal.entity_id:u1\nt:1|c|#dd.internal.entity_id:u2", want{"t|c": 2}},
		{"one name, four kinds", "x:1|c\nx:2|g\nx:a|s\nx:3|h", want{
			"x|c": 1, "x|g": 2, "x.size|s": 1, "x.count|h": 1, "x.sum|h": 3, "x.min|h": 3, "x.max|h": 3,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 1)
			require.Equal(t, Applied, d.add(tt.lines))
			require.Equal(t, tt.want, d.flush())
			require.Empty(t, d.flush(), "B052 a series without samples is not there")
			d.add(tt.lines)
			require.Equal(t, tt.want, d.flush(), "the series are known by now")
		})
	}
}

func TestEachValueCountsForItself(t *testing.T) {
	d := newDaemon(t, 1)
	d.add("a:1.7e308:1.7e308|c\nb:-1.7e308:-1.7e308|c\nc:1|c\ng:1|c|#veneurlocalonly,veneurglobalonly")
	d.end()
	require.EqualValues(t, 2, d.telemetry.Value("aggregate.saturated"))
	require.EqualValues(t, 1, d.telemetry.Value("aggregate.scope_conflicts"))
	require.EqualValues(t, 4, d.telemetry.Value("series", "kind:counter"))
	require.EqualValues(t, 4, d.telemetry.Value("aggregate.interned"))
}

func TestScopeBesideTheTags(t *testing.T) {
	tests := []struct {
		name   string
		kind   metric.Kind
		scope  metric.Scope
		tags   string
		want   metric.Scope
		strife float64
	}{
		{"none", metric.Counter, metric.Mixed, "a", metric.Mixed, 0},
		{"local", metric.Counter, metric.Local, "a", metric.Local, 0},
		{"global, twice", metric.Counter, metric.Global, "veneurglobalonly", metric.Global, 0},
		{"B048 both", metric.Counter, metric.Global, "veneurlocalonly", metric.Local, 1},
		{"B048 both, the other way round", metric.Gauge, metric.Local, "veneurglobalonly", metric.Local, 1},
		{"a distribution that is local", metric.Distribution, metric.Local, "", metric.Local, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 1)
			s := metric.Sample{Kind: tt.kind, Scope: tt.scope, Name: []byte("x"), Tags: []byte(tt.tags), Values: []float64{1}, Rate: 1}
			require.Equal(t, Applied, d.tables[0].Add(&s, 1, 0))
			require.Len(t, names(d.collect()), 1)
			require.Equal(t, tt.want, d.c.series.get(1).Scope)
			require.Equal(t, tt.strife, d.telemetry.Value("aggregate.scope_conflicts"))
		})
	}
}

func TestTagPairsAndListsMeet(t *testing.T) {
	d := newDaemon(t, 1)
	pairs := metric.AppendPair(metric.AppendPair(nil, "b", "2"), "a", "1")
	s := metric.Sample{Kind: metric.Counter, Form: metric.TagsPairs, Name: []byte("x"), Tags: pairs, Values: []float64{1}, Rate: 1}
	d.tables[0].Add(&s, 1, 0)
	d.add("x:1|c|#a:1,b:2")
	require.Equal(t, map[string]float64{"x|c|#a:1,b:2": 2}, d.flush())
}

func TestBrokenBytesAreRefused(t *testing.T) {
	d := newDaemon(t, 1)
	require.Equal(t, RefusedUTF8, d.add("caf\xe9:1|c"))
	require.Equal(t, RefusedUTF8, d.add("x:1|c|#t:\xc3\x28"))
	require.Empty(t, d.flush())
	require.Zero(t, d.telemetry.Value("series"))
}

func TestExtendAndExcludeTags(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) {
		c.ExtendTags = []string{"env:prod", "gone:1"}
		c.TagsExclude = []string{"id", "gone", "elsewhere|kafka"}
	})
	d.add("x:1|c|#id:1,env:dev,z\nx:1|c|#z,id:2\nx:1|c|#env,id,z\ny:1|c|#elsewhere:1")
	require.Equal(t, map[string]float64{"x|c|#env:prod,z": 3, "y|c|#elsewhere:1,env:prod": 1}, d.flush())
	require.Equal(t, Applied, d.tables[0].AddEvent(metric.Event{Title: "t", Tags: []string{"env:dev", "id:3", "z"}}, 0))
	require.Equal(t, Applied, d.tables[0].AddCheck(metric.Check{Name: "c", Tags: []string{"id:3"}}, 0))
	iv := d.collect()
	require.Equal(t, []string{"env:prod", "z"}, iv.Events.At(0).Tags)
	require.Equal(t, []string{"env:prod"}, iv.Checks.At(0).Tags)
}

func TestB046EveryCheckIsDelivered(t *testing.T) {
	d := newDaemon(t, 1)
	d.tables[0].AddCheck(metric.Check{Name: "chk", Status: metric.Critical, Message: "bad"}, 1)
	d.tables[0].AddCheck(metric.Check{Name: "chk", Status: metric.OK}, 1)
	iv := d.collect()
	require.Equal(t, []metric.Check{{Name: "chk", Status: metric.Critical, Message: "bad"}, {Name: "chk"}}, items(&iv.Checks))
}

func TestB046ChecksAndEventsOfAllLanesComeInOrder(t *testing.T) {
	d := newDaemon(t, 3)
	var checks []metric.Check
	var events []metric.Event
	for i := range 12 {
		check, event := metric.Check{Name: strconv.Itoa(i)}, metric.Event{Title: strconv.Itoa(i)}
		checks, events = append(checks, check), append(events, event)
		table := d.tables[[]int{2, 0, 1}[i/2%3]] // two of one receive call each
		require.Equal(t, Applied, table.AddCheck(check, int64(i/2)))
		require.Equal(t, Applied, table.AddEvent(event, int64(i/2)))
	}
	iv := d.collect()
	require.Equal(t, checks, items(&iv.Checks))
	require.Equal(t, events, items(&iv.Events))
}

func TestEventLimits(t *testing.T) {
	text := func(n int) string { return string(make([]byte, n)) }
	d := newDaemon(t, 2, func(c *Config) { c.MaxEvents, c.MaxEventBytes = 3, 3*eventSize+100 })
	require.Equal(t, Applied, d.tables[0].AddEvent(metric.Event{Title: text(60)}, 0))
	require.Equal(t, RefusedEventLimit, d.tables[1].AddEvent(metric.Event{Text: text(2*eventSize + 60)}, 0), "bytes")
	require.Equal(t, RefusedEventLimit, d.tables[1].AddEvent(metric.Event{Tags: make([]string, 2*eventSize/tagSize+10)}, 0), "headers of tags")
	require.Equal(t, Applied, d.tables[1].AddEvent(metric.Event{Title: "b"}, 0))
	require.Equal(t, Applied, d.tables[0].AddCheck(metric.Check{Name: "c"}, 0))
	require.Equal(t, RefusedEventLimit, d.tables[0].AddCheck(metric.Check{Name: "d"}, 0), "number")
	iv := d.collect()
	require.Equal(t, 2, iv.Events.Len())
	require.Equal(t, 1, iv.Checks.Len())
	require.Equal(t, Applied, d.tables[0].AddCheck(metric.Check{Name: text(2*eventSize + 60)}, 0), "all of the room is back")
}

func TestTimedPoints(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) { c.MaxTimedPoints = 4 })
	require.Equal(t, PassedThrough, d.add("c:1:2|c|@0.5|T1600000000|#b,a"))
	require.Equal(t, PassedThrough, d.add("g:1:2|g|T1600000001\nc:7|c|T1600000002|#a,b"))
	require.Equal(t, Applied, d.add("c:5|c|#b,a"))
	require.Equal(t, PassedThrough, d.add("c:8|c|T1600000003|#b,a"))
	require.Equal(t, RefusedTimedLimit, d.add("c:8|c|T1600000003|#b,a"))
	require.Equal(t, RefusedTimedLimit, d.add("new:8|c|T1600000003"))
	iv := d.collect()
	require.Equal(t, map[string]float64{"c|c|#a,b": 5}, values(iv), "only the sample without a time is in an interval")
	c, g := d.c.series.get(1), d.c.series.get(2)
	require.Equal(t, []metric.Point{
		{Series: c, Name: "c", Value: 6, Type: metric.CounterPoint, Time: 1600000000},
		{Series: g, Name: "g", Value: 2, Type: metric.GaugePoint, Time: 1600000001},
		{Series: c, Name: "c", Value: 7, Type: metric.CounterPoint, Time: 1600000002},
		{Series: c, Name: "c", Value: 8, Type: metric.CounterPoint, Time: 1600000003},
	}, items(&iv.Timed))
	require.Equal(t, PassedThrough, d.add("c:8|c|T1600000003"))
}

func TestSeriesStaysTheSame(t *testing.T) {
	d := newDaemon(t, 2)
	var first *metric.Series
	for range 10 {
		d.addTo(0, "x:1|c|#a,b")
		d.addTo(1, "x:1|c|#b,a")
		iv := d.collect()
		require.Equal(t, 1, iv.Counters.Len())
		if first == nil {
			first = iv.Counters.At(0).Series
		}
		require.Same(t, first, iv.Counters.At(0).Series)
		d.c.Release(iv)
		d.expire()
	}
	require.Equal(t, &metric.Series{Name: "x", Tags: []string{"a", "b"}, Kind: metric.Counter}, first)
}

func TestFlipWaitsForCollect(t *testing.T) {
	d := newDaemon(t, 1)
	d.add("x:1|c")
	d.tables[0].Flip()
	d.add("x:2|c")
	d.tables[0].Flip() // too early
	d.add("x:4|c")
	require.Equal(t, map[string]float64{"x|c": 1}, values(d.c.Collect()))
	require.Equal(t, map[string]float64{"x|c": 6}, d.flush())
}

func TestB067ManyOnes(t *testing.T) {
	d := newDaemon(t, 1)
	ones := make([]float64, 1<<12)
	for i := range ones {
		ones[i] = 1
	}
	s := metric.Sample{Kind: metric.Counter, Name: []byte("x"), Values: ones, Rate: 1}
	for range 1 << 12 {
		d.tables[0].Add(&s, 1, 0)
	}
	require.Equal(t, map[string]float64{"x|c": 1 << 24}, d.flush())
}

func TestSumIsExact(t *testing.T) {
	s := sum{}
	for range 10 {
		s.add(0.1)
	}
	require.Equal(t, 1.0, s.rounded().hi)
	s = sum{}
	for _, x := range []float64{1e300, 1, -1e300, 1e-9} {
		s.add(x)
	}
	require.InDelta(t, 1+1e-9, s.rounded().hi, 1e-15)
	for _, x := range []float64{most, -most / 3, 5e-324, most / 3, -1, -most, most, -most} {
		s.add(x)
		require.False(t, math.IsNaN(s.rounded().hi) || math.IsInf(s.rounded().hi, 0))
	}
}

// A daemon that forwards to nobody merges scopes: the last line stands, in whichever it was.
func TestLastGaugeOfAnyScopeStands(t *testing.T) {
	for _, tt := range []struct {
		lines string
		want  float64
	}{
		{"g:1|g\ng:2|g|#veneurlocalonly\ng:3|g", 3},
		{"g:1|g\ng:3|g\ng:2|g|#veneurlocalonly", 2},
		{"g:1|g|#veneurglobalonly\ng:5|g\ng:7|g|#veneurglobalonly", 7},
		{"g:1|g|#veneurglobalonly\n" + strings.Repeat("c:1|c\n", 200) + "g:5|g\ng:7|g|#veneurglobalonly\ng:8|g", 8},
	} {
		d := newDaemon(t, 1)
		d.add(tt.lines)
		iv := d.collect()
		d.c.MergeScopes(iv)
		require.Equal(t, 1, iv.Gauges.Len())
		require.Equal(t, tt.want, iv.Gauges.At(0).Value, tt.lines)
	}
}
