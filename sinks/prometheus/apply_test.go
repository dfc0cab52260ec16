package prometheus

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// TestPoints has a row for each rule; every interval is the points of one flush.
func TestPoints(t *testing.T) {
	const end = 1_700_000_000
	for _, tt := range []struct {
		name      string
		intervals [][]metric.Point
		want      []string
		refused   map[reason]float64
	}{
		{
			name:      "B103 counters are cumulative",
			intervals: [][]metric.Point{{counter("foo", 1)}, {counter("foo", 1)}, {counter("foo", 1)}},
			want:      []string{"foo_total 3"},
		},
		{
			name:      "B103 and stay while nothing comes",
			intervals: [][]metric.Point{{counter("foo", 1)}, {}, {gauge("other", 1)}},
			want:      []string{"foo_total 1", "other 1"},
		},
		{
			name:      "B103 and never go down",
			intervals: [][]metric.Point{{counter("foo", 5)}, {counter("foo", -3), counter("bar", -1)}},
			want:      []string{"foo_total 5"},
			refused:   map[reason]float64{negative: 2},
		},
		{
			name:      "a counter stops at the greatest number",
			intervals: [][]metric.Point{{counter("foo", math.MaxFloat64)}, {counter("foo", math.MaxFloat64)}},
			want:      []string{"foo_total 1.7976931348623157e+308"},
		},
		{
			name:      "a fraction",
			intervals: [][]metric.Point{{counter("foo", 0.5)}, {counter("foo", 0.25)}},
			want:      []string{"foo_total 0.75"},
		},
		{
			name:      "a name that says already that it is a total",
			intervals: [][]metric.Point{{counter("foo.total", 1)}},
			want:      []string{"foo_total 1"},
		},
		{
			name:      "B100 a name that Prometheus libraries use",
			intervals: [][]metric.Point{{counter("process_cpu_seconds_total", 1)}},
			want:      []string{"process_cpu_seconds_total 1"},
		},
		{
			name:      "a gauge is its last value",
			intervals: [][]metric.Point{{gauge("g", 5)}, {gauge("g", -7.5)}, {}},
			want:      []string{"g -7.5"},
		},
		{
			name:      "B101 label values are escaped",
			intervals: [][]metric.Point{{gauge("g", 1, "n:MacBook 14\" \\ x\ny")}},
			want:      []string{`g{n="MacBook 14\" \\ x\ny"} 1`},
		},
		{
			name:      "B030 one bad value costs nothing else",
			intervals: [][]metric.Point{{gauge("a\xff", 1, "t:\xc3\x28"), counter("ok", 1)}},
			want:      []string{"a_{t=\"\uFFFD(\"} 1", "ok_total 1"},
		},
		{
			name:      "B016 B098 an empty value is no label",
			intervals: [][]metric.Point{{counter("c", 1, "key:")}, {counter("c", 1)}},
			want:      []string{"c_total 2"},
		},

		{
			name: "counters that become equal add up",
			intervals: [][]metric.Point{
				{counter("a.b", 1, "x.y:1"), counter("a_b", 10, "x_y:1")},
				{counter("a-b", 100, "x-y:1"), counter("a.b", 1, "x.y:1"), counter("a.b", 1, "x.y:2")},
			},
			want: []string{`a_b_total{x_y="1"} 112`, `a_b_total{x_y="2"} 1`},
		},
		{
			name:      "of gauges that become equal the last of an interval stands",
			intervals: [][]metric.Point{{gauge("a.b", 1), gauge("a_b", 2), gauge("a-b", 3)}},
			want:      []string{"a_b 3"},
			refused:   map[reason]float64{overwritten: 2},
		},
		{
			name:      "and of intervals the last",
			intervals: [][]metric.Point{{gauge("a.b", 1)}, {gauge("a_b", 2)}},
			want:      []string{"a_b 2"},
		},
		{
			name:      "a counter and a gauge of one name",
			intervals: [][]metric.Point{{counter("a.b", 1), gauge("a_b", 2)}},
			want:      []string{"a_b 2", "a_b_total 1"},
		},
		{
			name:      "another type has the name",
			intervals: [][]metric.Point{{counter("a.b", 1), gauge("a_b_total", 2), gauge("a.b.total", 3, "x:1")}},
			want:      []string{"a_b_total 1"},
			refused:   map[reason]float64{typeTaken: 2},
		},

		{
			name:      "a counter adds whenever it happened",
			intervals: [][]metric.Point{{at(counter("c", 1), end-86400), at(counter("c", 1), end+86400), counter("c", 1)}},
			want:      []string{"c_total 3"},
		},
		{
			name:      "a gauge is its newest value, not the last to come",
			intervals: [][]metric.Point{{at(gauge("g", 1), end-5), at(gauge("g", 2), end-3), at(gauge("g", 3), end-4)}},
			want:      []string{"g 2"},
		},
		{
			name:      "a value without a time is new",
			intervals: [][]metric.Point{{at(gauge("g", 1), end)}, {gauge("g", 2), at(gauge("g", 3), end+9)}},
			want:      []string{"g 2"},
		},
		{
			name:      "a time in the future is now",
			intervals: [][]metric.Point{{at(gauge("g", 1), end*2)}, {at(gauge("g", 2), end+10)}},
			want:      []string{"g 2"},
		},
		{
			name:      "a gauge from before the page's time",
			intervals: [][]metric.Point{{at(gauge("g", 1), end-301), at(gauge("h", 1), end-300)}},
			want:      []string{"h 1"},
			refused:   map[reason]float64{tooOld: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			refused := 0
			for _, points := range tt.intervals {
				refused += r.points(points...)
			}
			assert.Equal(t, tt.want, r.lines())
			sum := 0.0
			for why := accepted + 1; why < numReasons; why++ {
				assert.Equal(t, tt.refused[why], r.refused(why), reasonNames[why])
				sum += tt.refused[why]
			}
			assert.EqualValues(t, sum, refused, "what Send said")
		})
	}
}

func TestGaugeGoesOnAfterTheClockWasPutBack(t *testing.T) {
	r := newRig(t, nil)
	r.points(gauge("g", 1), at(gauge("timed", 1), r.end.Unix()))
	r.end = r.end.Add(-time.Hour)
	r.points(gauge("g", 2), at(gauge("timed", 2), r.end.Unix()-1))
	assert.Equal(t, []string{"g 2", "timed 2"}, r.lines())
}

func TestRefusalsAreNamed(t *testing.T) {
	r := newRig(t, nil)
	err := r.Send(t.Context(), &sinks.Batch{Points: []metric.Point{
		counter("c", -1), counter("d", -1), gauge("x", 1), gauge("x.total", 1), counter("x", 1),
	}})
	require.EqualError(t, err, `3 items refused: 1 type_conflict, 2 negative_counter; one is "c"`)
	require.NoError(t, r.Send(t.Context(), &sinks.Batch{Points: []metric.Point{gauge("x", 1)}}), "they are not said again")
}

func TestB146SeriesAreBounded(t *testing.T) {
	r := newRig(t, func(c *Config) { c.MaxSeries = 3 })
	require.Equal(t, 2, r.points(counter("c", 1, "n:1"), gauge("g", 1), counter("c", 1, "n:2"), counter("c", 1, "n:3"), gauge("h", 1)))
	require.Equal(t, 1, r.points(counter("c", 1, "n:1"), counter("c", 1, "n:2"), counter("c", 1, "n:3")))
	assert.Equal(t, []string{`c_total{n="1"} 2`, `c_total{n="2"} 2`, "g 1"}, r.lines())
	assert.EqualValues(t, 3, r.refused(seriesLimit))
	assert.EqualValues(t, 3, r.registry.Value("sink.prometheus.series"))
}

func TestMergedSeriesAreCounted(t *testing.T) {
	r := newRig(t, nil)
	r.points(counter("a.b", 1), counter("a_b", 1), counter("a-b", 1), counter("other", 1))
	assert.EqualValues(t, 4, r.registry.Value("sink.prometheus.series"))
	assert.EqualValues(t, 2, r.registry.Value("sink.prometheus.merged_series"))
}

func TestPrefix(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Prefix = "app_" })
	r.interval(&sinks.Batch{Points: []metric.Point{counter("9", 1)}, Events: []metric.Event{{Title: "x"}}})
	assert.Equal(t, []string{"app_9_total 1", "app_veneur_events_total 1"}, r.lines())
}

func TestEventsAreCounted(t *testing.T) {
	r := newRig(t, nil)
	e := metric.Event{Title: "deployed", Text: "x", AlertType: "info", Tags: []string{"env:prod"}}
	r.interval(&sinks.Batch{Events: []metric.Event{e, e, {Title: "down", AlertType: "error"}}})
	r.interval(&sinks.Batch{Events: []metric.Event{e}})
	assert.Equal(t, []string{`veneur_events_total{alert_type="error"} 1`, `veneur_events_total{alert_type="info"} 3`}, r.lines())
}

func TestChecksShowTheirLastStatus(t *testing.T) {
	r := newRig(t, nil)
	refused := r.interval(&sinks.Batch{Checks: []metric.Check{
		{Name: "db.up", Status: metric.Critical, Host: "web-1", Tags: []string{"env:prod"}},
		{Name: "db.up", Status: metric.OK, Host: "web-1", Tags: []string{"env:prod"}},
		{Name: "db.up", Status: metric.Unknown, Host: "web-2", Tags: []string{"env:prod"}},
		{Name: "x", Status: metric.Warning, Tags: []string{"check:mine"}},
	}})
	assert.Zero(t, refused)
	assert.Equal(t, []string{
		`veneur_service_check_status{check="db.up",env="prod",host="web-1"} 0`,
		`veneur_service_check_status{check="db.up",env="prod",host="web-2"} 3`,
		`veneur_service_check_status{check="x,mine"} 1`,
	}, r.lines())
}

func TestKnownSeriesCostNoAllocation(t *testing.T) {
	b := newBoard(DefaultConfig(), interval)
	chunk := &sinks.Batch{End: time.Unix(1_700_000_000, 0), Points: []metric.Point{
		counter("c", 1, "env:prod", "route:/a"), gauge("g", 1, "env:prod"),
		{Series: &metric.Series{Name: "h", Kind: metric.Timer}, Name: "h.max", Type: metric.GaugePoint},
		{Series: &metric.Series{Name: "h", Kind: metric.Timer}, Name: "h.count", Type: metric.CounterPoint},
	}, Checks: nil}
	now := time.Now()
	allocs := testing.AllocsPerRun(100, func() {
		b.add(chunk, now)
		b.finish()
	})
	assert.Zero(t, allocs)
}

func TestBatchIsNotChanged(t *testing.T) {
	// The kit asserts the same; here a gauge and a counter stand in one array that other sinks read meanwhile.
	b := sinktest.Batch()
	r := newRig(t, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		other := newRig(t, nil)
		_ = other.Send(t.Context(), b)
	}()
	_ = r.Send(t.Context(), b)
	<-done
}
