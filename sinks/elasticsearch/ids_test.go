package elasticsearch

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// Ids are equal for what is equal, and change with each part of it.
func TestIDs(t *testing.T) {
	d := &ids{host: "a"}
	other := &ids{host: "b"}
	sample := func(change func(*ssf.SSFSpan)) string {
		s := span(1)
		s.Metrics = []ssf.SSFSample{{Name: "n"}, {Name: "n"}}
		change(s)
		return string(d.appendSample(nil, s, 0))
	}
	series := func(tags ...string) *metric.Series { return &metric.Series{Name: "n", Tags: tags} }
	end := begin.Truncate(time.Second)
	point := func(d *ids, p metric.Point) string { return string(d.appendPoint(nil, &p, end)) }
	event := metric.Event{Title: "t", Text: "x", Time: 1, Tags: []string{"a"}}
	moved := event
	moved.Title, moved.Text = "", "tx"
	check := metric.Check{Name: "n", Time: 1}
	critical := check
	critical.Status = metric.Critical

	list := []string{
		string(d.appendSpan(nil, span(1))), string(d.appendSpan(nil, span(2))), string(d.appendSpan(nil, span(-1))),
		sample(func(*ssf.SSFSpan) {}), sample(func(s *ssf.SSFSpan) { s.Metrics[0].Name = "m" }), sample(func(s *ssf.SSFSpan) { s.TraceId++ }),
		string(d.appendSample(nil, &ssf.SSFSpan{TraceId: 7, Id: 1, StartTimestamp: span(1).StartTimestamp, Metrics: []ssf.SSFSample{{}, {Name: "n"}}}, 1)),
		point(d, metric.Point{Series: series(), Name: "n"}),
		point(d, metric.Point{Series: series("a:b"), Name: "n"}),
		point(d, metric.Point{Series: series("a", "b"), Name: "n"}),
		point(d, metric.Point{Series: series("ab"), Name: "n"}),
		point(d, metric.Point{Series: series(), Name: "n.min"}),
		point(d, metric.Point{Series: series(), Name: "n", Type: metric.GaugePoint}),
		point(other, metric.Point{Series: series(), Name: "n"}),
		point(d, metric.Point{Series: series(), Name: "n", Type: metric.GaugePoint, Time: 5}),
		point(d, metric.Point{Series: series(), Name: "n", Type: metric.GaugePoint, Time: 5, Value: 1}),
		string(d.appendPoint(nil, &metric.Point{Series: series(), Name: "n"}, end.Add(time.Second))),
		string(d.appendDigest(nil, &metric.DigestPoint{Series: series()}, end)),
		string(d.appendEvent(nil, &event)), string(d.appendEvent(nil, &moved)),
		string(d.appendCheck(nil, &check)), string(d.appendCheck(nil, &critical)),
	}
	seen := map[string]int{}
	for i, id := range list {
		assert.NotEmpty(t, id, "%d", i)
		assert.NotContains(t, seen, id, "%d is equal to %d", i, seen[id])
		seen[id] = i
	}
	assert.Equal(t, "AAAAAAAAAAcAAAAAAAAAARemaLcwATRZ", list[0])
	assert.Equal(t, list[7], point(d, metric.Point{Series: series(), Name: "n", Value: 99}), "what a point says is not what it is")
}

// Two that may be equal without being the same have no id.
func TestNoIDForWhatCannotBeToldApart(t *testing.T) {
	d := &ids{}
	timed := metric.Point{Series: &metric.Series{}, Name: "n", Type: metric.CounterPoint, Time: 5}
	assert.Empty(t, d.appendPoint(nil, &timed, begin))
	d.short = true
	timed.Time = 0
	assert.Empty(t, d.appendPoint(nil, &timed, begin))
	assert.Empty(t, d.appendDigest(nil, &metric.DigestPoint{Series: &metric.Series{}}, begin))
}

func ExampleKind() {
	fmt.Println(Kind().Name(), Kind().TakesMetrics(), Kind().TakesSpans())
	// Output: elasticsearch true true
}

// A time series data stream takes one document for each time and set of dimensions, and answers the next one as it answers what was sent
// again. Series that look alike once some of their tags are left out, or their names rewritten, must not meet there.
func TestFieldsOfUnlikeSeriesDiffer(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "metrics: fields\ndrop_tag_keys: [pod]")
	require.NoError(t, r.sendPoints(
		gauge("m", 1, "env:a", "pod:1"), gauge("m", 2, "env:a", "pod:2"), gauge("m", 3, "env:a"), gauge("n.", 4, "env:a"), gauge("n_", 5, "env:a"),
	))
	seen := map[any]bool{}
	for i := range f.docs() {
		seen[f.decoded(i)["_metric_names_hash"]] = true
	}
	assert.Len(t, seen, 5)
}
