package aggregate

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However the same samples are cut into packets, spread over lanes and ordered, the interval says the same.
func TestShardingDoesNotMatter(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = randomLine(r)
	}
	inOrder := make([]int, len(lines))
	for i := range inOrder {
		inOrder[i] = i
	}
	shuffled := slices.Clone(inOrder)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })

	variants := []struct {
		name  string
		lanes int
		order []int
		cut   int // an interval ends for the lanes after so many lines; 0 for never
	}{
		{"one lane", 1, inOrder, 0},
		{"one lane, any order", 1, shuffled, 0},
		{"four lanes", 4, inOrder, 0},
		{"four lanes, any order", 4, shuffled, 0},
		{"series known already, and known to have left", 3, shuffled, 5000},
	}
	var want map[string]float64
	for _, v := range variants {
		d := newDaemon(t, v.lanes, func(c *Config) { c.SeriesIdleIntervals = 2 })
		if v.cut > 0 {
			for i, n := range v.order {
				d.addAt(r.IntN(v.lanes), 1, lines[n])
				if i%v.cut == 0 {
					d.end()
				}
			}
			d.end()
		}
		for _, n := range v.order {
			// The stamp of a line is its place, so that gauges have one answer.
			d.addAt(r.IntN(v.lanes), int64(n+10), lines[n])
		}
		got := d.flush()
		if want == nil {
			want = got
			require.Greater(t, len(want), 500)
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), v.name)
		for key, value := range want {
			if strings.Contains(key, ".sum|h") || strings.Contains(key, ".count|h") { // digests may differ in the last bit
				require.InEpsilon(t, value+1e6, got[key]+1e6, 1e-12, "%s: %s", v.name, key)
			} else if value != got[key] {
				t.Errorf("%s: %s is %v, want %v", v.name, key, got[key], value)
			}
		}
	}
}

func randomLine(r *rand.Rand) string {
	tags := []string{"env:prod", "az:b", "host:x", fmt.Sprint("id:", r.IntN(10)), "veneurlocalonly", "veneurglobalonly", "a", "b"}
	r.Shuffle(len(tags), func(i, j int) { tags[i], tags[j] = tags[j], tags[i] })
	kind := []string{"c", "g", "h", "ms", "d", "s"}[r.IntN(6)]
	var values []string
	for range 1 + r.IntN(3) {
		if kind == "s" {
			values = []string{fmt.Sprint("member", r.IntN(50))}
			break
		}
		values = append(values, fmt.Sprint(float64(r.IntN(2_000_000)-1_000_000)/1000))
	}
	line := fmt.Sprintf("n%d:%s|%s", r.IntN(20), strings.Join(values, ":"), kind)
	if r.IntN(2) == 0 {
		line += []string{"|@0.5", "|@0.1", "|@0.7", "|@0.001"}[r.IntN(4)]
	}
	if n := r.IntN(4); n > 0 {
		line += "|#" + strings.Join(tags[:n], ",")
	}
	return line
}

func TestGaugesMeet(t *testing.T) {
	type call struct {
		lane  int
		stamp int64
		lines string
	}
	tests := []struct {
		name  string
		calls []call
		want  float64
	}{
		{"the later call wins, whatever the lane", []call{{1, 1, "g:1|g"}, {0, 2, "g:2|g"}}, 2},
		{"and whatever the order", []call{{0, 2, "g:2|g"}, {0, 1, "g:1|g"}}, 2},
		{"of two calls at once the one of the last lane", []call{{1, 5, "g:1|g"}, {0, 5, "g:2|g"}}, 1},
		{"within a call the last line, however its tags stand", []call{{0, 5, "g:1|g|#x,y\ng:2|g|#y,x\ng:3|g|#x,y\ng:4|g|#y,y,x"}}, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 2)
			for _, c := range tt.calls {
				d.addAt(c.lane, c.stamp, c.lines)
			}
			for _, v := range d.flush() {
				require.Equal(t, tt.want, v)
			}
		})
	}
}

func TestGaugeDeltas(t *testing.T) {
	d := newDaemon(t, 2, func(c *Config) { c.SeriesIdleIntervals = 2 })
	d.parser.GaugeDeltas = true
	want := func(v float64) {
		t.Helper()
		require.Equal(t, map[string]float64{"g|g": v}, d.flush())
	}
	d.add("g:+10|g\ng:0|g\ng:-1|g")
	want(-1) // what other systems get wrong
	d.add("g:+4|g")
	want(3) // the value is kept
	require.Empty(t, d.flush())
	d.add("g:+1|g\ng:+1|g")
	want(5) // also over an interval without a sample
	d.addTo(0, "g:7|g")
	d.addTo(1, "g:+2|g")
	want(9) // in another lane, later
	d.addTo(1, "g:+2|g")
	d.addTo(0, "g:7|g")
	want(7) // and earlier
	d.addTo(0, "g:+2|g")
	d.addTo(1, "g:+2|g")
	want(11)
	d.add("g:+1:+2|g")
	want(14)
	for range 4 {
		d.end()
	}
	d.add("g:+1|g")
	want(1) // forgotten
}

func TestScopesMeet(t *testing.T) {
	d := newDaemon(t, 2)
	lines := "x:1|c|#a\nx:2|c|#a,veneurlocalonly\nx:4|c|#a,veneurglobalonly\nx:8|c|#b,veneurglobalonly\n" +
		"t:1|h\nt:2|d\nt:3|ms|#veneurlocalonly\n" +
		"s:a|s\ns:a|s|#veneurlocalonly\ns:b|s|#veneurglobalonly"
	d.addTo(0, lines)
	d.addTo(1, lines)
	d.addTo(0, "g:1|g\ng:3|g|#veneurlocalonly\ng:2|g|#veneursinkonly:k")
	want := map[string]float64{
		"x|c|#a": 14, "x|c|global|#b": 16, "g|g": 3, "g|g|only k": 2,
		"t.count|h": 6, "t.sum|h": 12, "t.min|h": 1, "t.max|h": 3, "s.size|s": 2,
	}
	require.Equal(t, want, d.flush())
	d.addTo(1, "x:1|c|#a")
	require.Equal(t, map[string]float64{"x|c|#a": 1}, d.flush())
}

func TestContested(t *testing.T) {
	tests := []struct {
		name, lines string
		want        []string // the contested
	}{
		{"nothing", "a:1|c\nb:1|g\nc:1|h\nc.rate:1|g\nd.min:1|g\nmin:1|c", nil},
		{"counter and gauge", "x:1|c\nx:1|g|#a\ny:1|c", []string{"x|c", "x|g|#a"}},
		{"set and gauge", "x:m|s\nx:1|g", []string{"x|g", "x|s"}},
		{"a histogram has no point of its bare name", "x:1|h\nx:1|c", nil},
		{"an aggregate of a histogram seen later", "x.count:1|c\nx:1|h\nxx:1|h", []string{"x.count|c", "x|h"}},
		{"an aggregate of a histogram seen before", "x:1|h\nx.99percentile:1|g\nx.percentile:1|g\nx.aapercentile:1|g", []string{"x.99percentile|g", "x|h"}},
		{"histograms do not meet", "x:1|h\nx.min:1|h", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 1)
			d.add(tt.lines)
			require.Equal(t, tt.want, contested(d.collect()))
			for range 65 {
				d.end()
			}
			d.add(strings.SplitAfter(tt.lines, "\n")[0])
			require.Empty(t, contested(d.collect()), "the others are forgotten")
		})
	}
}

func contested(iv *Interval) []string {
	only := Interval{
		Counters:   those(&iv.Counters, func(s *CounterState) bool { return s.Contested }),
		Gauges:     those(&iv.Gauges, func(s *GaugeState) bool { return s.Contested }),
		Histograms: those(&iv.Histograms, func(s *HistogramState) bool { return s.Contested }),
		Sets:       those(&iv.Sets, func(s *SetState) bool { return s.Contested }),
	}
	return names(&only)
}

func those[S any](states *List[S], are func(*S) bool) (list List[S]) {
	for s := range states.All() {
		if are(s) {
			list.Push(*s)
		}
	}
	return list
}

func TestB149UniqueTimeseries(t *testing.T) {
	d := newDaemon(t, 2, func(c *Config) { c.CountUniqueTimeseries = true })
	for i := range 1000 {
		d.addTo(i%2, fmt.Sprintf("a:1|c|#id:%d\na:1|c|#id:%d,veneurlocalonly", i, i))
		d.addTo(1, fmt.Sprintf("a:1|c|#id:%d", i))
	}
	d.end()
	require.InDelta(t, 1000, d.telemetry.Value("flush.unique_timeseries_total"), 20)
	d.add("a:1|c")
	d.end()
	require.EqualValues(t, 1, d.telemetry.Value("flush.unique_timeseries_total"))
}
