package sinktest

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// end is when the sample batch's interval ended.
var end = time.Date(2023, time.November, 14, 22, 13, 20, 0, time.UTC)

// Batch returns a batch, new each time, with everything a sink has to be able to write: all types of points and aggregates, points with times of
// their own, names and tags as hostile as senders are allowed to make them, numbers at the ends of their range, events and checks.
func Batch() *sinks.Batch {
	return &sinks.Batch{
		End:           end,
		Interval:      10 * time.Second,
		Points:        slices.Concat(plainPoints(), hostilePoints(), extremePoints()),
		Distributions: digests(),
		Events:        events(),
		Checks:        checks(),
	}
}

// Point returns a point of a series of its own. The tags must be sorted.
func Point(t metric.PointType, name string, value float64, tags ...string) metric.Point {
	kind := metric.Counter
	if t == metric.GaugePoint {
		kind = metric.Gauge
	}
	return metric.Point{Series: &metric.Series{Name: name, Tags: tags, Kind: kind}, Name: name, Value: value, Type: t}
}

func counter(name string, value float64, tags ...string) metric.Point {
	return Point(metric.CounterPoint, name, value, tags...)
}

func gauge(name string, value float64, tags ...string) metric.Point {
	return Point(metric.GaugePoint, name, value, tags...)
}

func plainPoints() []metric.Point {
	points := []metric.Point{
		counter("requests", 42, "env:prod", "route:/a/{id}", "status:200"),
		counter("requests", 0.1, "env:prod", "route:/a/{id}", "status:500"),
		counter("untagged", 3),
		gauge("temperature", -3.5, "room:1"),
		gauge("unique.users", 12345),
	}
	latency := &metric.Series{Name: "latency", Tags: []string{"env:prod"}, Kind: metric.Timer}
	for _, aggregate := range []struct {
		suffix string
		value  float64
	}{
		{"min", 1},
		{"max", 320},
		{"median", 10},
		{"avg", 17.25},
		{"count", 8},
		{"sum", 138},
		{"hmean", 4.5},
		{"50percentile", 10},
		{"99percentile", 319.5},
		{"999percentile", 320},
	} {
		p := metric.Point{Series: latency, Name: "latency." + aggregate.suffix, Value: aggregate.value, Type: metric.GaugePoint}
		if aggregate.suffix == "count" {
			p.Type = metric.CounterPoint
		}
		points = append(points, p)
	}
	timed := gauge("timed", 7, "env:prod")
	for _, ago := range []int64{20, 15} {
		timed.Time = end.Unix() - ago
		points = append(points, timed)
	}
	return points
}

func hostilePoints() []metric.Point {
	return []metric.Point{
		counter("größe.日本.🙂", 1, "schlüssel:wert", "ключ:значение"),
		counter("with space, comma;semicolon=equals", 1, "a b:c d"),
		counter("new\nline\ttab\r\"quote\" back\\slash 'apostrophe' {brace} <tag> &amp; \u2028 \x00 \x7f", 1,
			"nl:a\nb", "quote:MacBook 14\" \\ x", "tab:a\tb"),
		counter("9starts.with-digit", 1, "9key:1"),
		counter("collides.after_mapping", 1, "k.a:1"),
		counter("collides.after-mapping", 2, "k-a:1"),
		counter("tags", 1, "a:1", "a:2", "bare", "colons:http://x:80/?q=1", "empty:"),
		counter("tags", 1, ":leading"),
		counter("reserved", 1, "__name__:y", "host:other", "instance:i", "job:z", "le:1", "quantile:x"),
		counter("two.types", 1, "x:1"),
		gauge("two.types", 1, "x:2"),
		counter("."+strings.Repeat("n", 300), 1, "long:"+strings.Repeat("v", 300)),
		counter("_", 1, strings.Repeat("t:", 100)),
	}
}

func extremePoints() []metric.Point {
	return []metric.Point{
		gauge("extreme", 0, "v:zero"),
		gauge("extreme", math.Copysign(0, -1), "v:minus_zero"),
		gauge("extreme", math.MaxFloat64, "v:max"),
		gauge("extreme", -math.MaxFloat64, "v:min"),
		gauge("extreme", math.SmallestNonzeroFloat64, "v:smallest"),
		gauge("extreme", 1<<53, "v:2^53"),
		gauge("extreme", 1e21, "v:1e21"),
		gauge("extreme", 1.0/3, "v:third"),
		gauge("extreme", 1e-7, "v:1e-7"),
		counter("extreme.counter", -1),
		counter("extreme.counter", 1e15, "v:1e15"),
	}
}

func digests() []metric.DigestPoint {
	return []metric.DigestPoint{
		{
			Series: &metric.Series{Name: "latency", Tags: []string{"env:prod"}, Kind: metric.Timer},
			Digest: NewDigest(1, 1, 4, 10, 12, 30, 60, 320),
		},
		{
			Series: &metric.Series{Name: "one\nsample", Tags: []string{"a:1", "a:2"}, Kind: metric.Distribution},
			Digest: NewDigest(-0.5),
		},
	}
}

func events() []metric.Event {
	return []metric.Event{
		{
			Title: "deployed", Text: "version 3\nby \"me\"", Time: end.Unix() - 4, Host: "web-1", AggregationKey: "deploy",
			Priority: "low", AlertType: "success", SourceType: "jenkins", Tags: []string{"env:prod", "version:3"},
		},
		{Title: "größer 🙂", Text: "tab\there, back\\slash", Time: end.Unix(), Priority: "normal", AlertType: "error"},
		{Title: "bare", Time: end.Unix() - 9, Priority: "normal", AlertType: "info", Tags: []string{"bare", "empty:"}},
	}
}

func checks() []metric.Check {
	return []metric.Check{
		{Name: "db.up", Status: metric.OK, Time: end.Unix() - 8, Host: "web-1", Tags: []string{"env:prod"}},
		{Name: "db.up", Status: metric.Critical, Message: "no answer\n\"in\" 5 s", Time: end.Unix() - 3, Host: "web-1", Tags: []string{"env:prod"}},
		{Name: "disk", Status: metric.Warning, Message: "90 % full", Time: end.Unix() - 1, Scope: metric.Local},
		{Name: "größe\tx", Status: metric.Unknown, Time: end.Unix(), Tags: []string{"nl:a\nb"}},
	}
}

// Spans returns spans, new each time, with everything a span sink has to be able to write.
func Spans() []*ssf.SSFSpan {
	start := end.Add(-3 * time.Second).UnixNano()
	return []*ssf.SSFSpan{
		{
			TraceId: 1, Id: 1, StartTimestamp: start, EndTimestamp: start + 250_000_000, Service: "web", Name: "GET /a/{id}",
			Indicator: true, RootStartTimestamp: start,
			Tags: []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "status", Value: "200"}},
			Metrics: []ssf.SSFSample{{
				Metric: ssf.SSFSample_HISTOGRAM, Name: "bytes", Value: 512, SampleRate: 1, Unit: "B",
				Tags: []ssf.Tag{{Key: "route", Value: "/a"}},
			}},
		},
		{
			TraceId: 1, Id: math.MaxInt64, ParentId: 1, StartTimestamp: start + 1, EndTimestamp: start + 2, Service: "db", Name: "query",
			Error: true, Tags: []ssf.Tag{{Key: "sql", Value: "select \"a\\b\"\n\twhere 'x' <> 1"}, {Key: "größe", Value: "日本 🙂"}},
		},
		{TraceId: -5, Id: math.MinInt64, StartTimestamp: 1, EndTimestamp: 1, Name: "no duration, no service, no tags"},
		{
			TraceId: 7, Id: 8, ParentId: 6, StartTimestamp: start, EndTimestamp: start + int64(time.Hour), Service: "a b:c", Name: "x",
			Tags: []ssf.Tag{{Key: "twice", Value: "1"}, {Key: "twice", Value: "2"}, {Key: "", Value: "no key"}, {Key: "empty"}},
		},
	}
}

// Digest is a metric.Digest that keeps every value, each of weight 1.
type Digest struct{ values []float64 }

// NewDigest returns the digest of values, at least one, in ascending order.
func NewDigest(values ...float64) *Digest { return &Digest{values} }

// Count implements metric.Digest, as do the others.
func (d *Digest) Count() float64 { return float64(len(d.values)) }

// Sum returns the sum.
func (d *Digest) Sum() (sum float64) {
	for _, v := range d.values {
		sum += v
	}
	return sum
}

// Min returns the first value.
func (d *Digest) Min() float64 { return d.values[0] }

// Max returns the last value.
func (d *Digest) Max() float64 { return d.values[len(d.values)-1] }

// ReciprocalSum returns the sum of 1/value.
func (d *Digest) ReciprocalSum() (sum float64) {
	for _, v := range d.values {
		sum += 1 / v
	}
	return sum
}

// Quantile returns the value at the nearest rank.
func (d *Digest) Quantile(q float64) float64 {
	return d.values[min(int(q*d.Count()), len(d.values)-1)]
}

// Size returns the bytes of the values.
func (d *Digest) Size() int { return 8 * len(d.values) }

// EachCentroid calls f with every value.
func (d *Digest) EachCentroid(f func(mean, weight float64) bool) {
	for _, v := range d.values {
		if !f(v, 1) {
			return
		}
	}
}
