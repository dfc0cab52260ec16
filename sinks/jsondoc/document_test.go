package jsondoc_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// TestDocuments has one document of each sort, with the options that a sink begins with.
func TestDocuments(t *testing.T) {
	e := jsondoc.New(jsondoc.DefaultOptions())
	end := time.Unix(1_700_000_010, 500)
	series := &metric.Series{Tags: []string{"a.b:1", "a:1", "a:2", "bare", "x.:y"}}
	sample := &ssf.SSFSample{Metric: ssf.SSFSample_HISTOGRAM, Name: "took", Value: 3, SampleRate: 0.1, Unit: "ms", Tags: []ssf.Tag{{Key: "", Value: "empty"}}}
	for _, tt := range []struct {
		name  string
		write func(dst []byte) ([]byte, error)
		want  string
	}{
		{"span", func(dst []byte) ([]byte, error) {
			return e.AppendSpan(dst, &ssf.SSFSpan{
				TraceId: 9007199254740993, Id: -1, ParentId: 3, StartTimestamp: 1_700_000_000_000_000_001, EndTimestamp: 1_700_000_001_500_000_001,
				Name: "GET /<a>", Service: "web", Error: true, Metrics: []ssf.SSFSample{*sample}, Tags: []ssf.Tag{{Key: "b", Value: "\x1b[1m"}, {Key: ".a", Value: "2"}, {Key: "b", Value: "\xff"}},
			})
		}, "{\"@timestamp\":\"2023-11-14T22:13:20.000000001Z\",\"duration\":1500000000,\"error\":true,\"id\":\"ffffffffffffffff\",\"indicator\":false,\"kind\":\"span\",\"name\":\"GET /<a>\",\"parent_id\":\"0000000000000003\",\"service\":\"web\",\"tags\":{\"_a\":\"2\",\"b\":\"\ufffd\"},\"trace_id\":\"00000000000000000020000000000001\"}"},
		{
			"sample", func(dst []byte) ([]byte, error) { return e.AppendSample(dst, sample, 1) },
			`{"@timestamp":"1970-01-01T00:00:00.000000001Z","kind":"sample","metric":"histogram","name":"took","sample_rate":0.1,"tags":{"_":"empty"},"unit":"ms","value":3.0}`,
		},
		{"status", func(dst []byte) ([]byte, error) {
			return e.AppendSample(dst, &ssf.SSFSample{Metric: ssf.SSFSample_STATUS, Name: "db", Message: "down", Status: ssf.SSFSample_CRITICAL, Timestamp: -1}, 1)
		}, `{"@timestamp":"1969-12-31T23:59:59.999999999Z","kind":"sample","message":"down","metric":"status","name":"db","status":"critical","tags":{},"timestamp":"1969-12-31T23:59:59.999999999Z","value":0.0}`},
		{"point", func(dst []byte) ([]byte, error) {
			return e.AppendPoint(dst, &metric.Point{Series: series, Name: "x.max", Value: 1.5, Type: metric.GaugePoint}, end, 10*time.Second)
		}, `{"@timestamp":"2023-11-14T22:13:30.000000500Z","interval":10000000000,"kind":"point","name":"x.max","tags":{"a":["1","2"],"a.b":"1","bare":"","x_":"y"},"type":"gauge","value":1.5}`},
		{"point with a time of its own", func(dst []byte) ([]byte, error) {
			return e.AppendPoint(dst, &metric.Point{Series: &metric.Series{}, Name: "x", Value: 2, Time: 5}, end, 0)
		}, `{"@timestamp":"1970-01-01T00:00:05.000000000Z","interval":0,"kind":"point","name":"x","tags":{},"type":"counter","value":2.0}`},
		{"event", func(dst []byte) ([]byte, error) {
			return e.AppendEvent(dst, &metric.Event{Title: "deployed", Text: "a\nb", Time: 5, AlertType: "info", Priority: "low", Tags: []string{"k:v:w"}})
		}, `{"@timestamp":"1970-01-01T00:00:05.000000000Z","alert_type":"info","kind":"event","priority":"low","tags":{"k":"v:w"},"text":"a\nb","title":"deployed"}`},
		{"check", func(dst []byte) ([]byte, error) {
			return e.AppendCheck(dst, &metric.Check{Name: "db.up", Status: metric.Warning, Time: 5, Host: "web"})
		}, `{"@timestamp":"1970-01-01T00:00:05.000000000Z","host":"web","kind":"check","name":"db.up","status":"warning","tags":{}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				got, err := tt.write([]byte("before"))
				require.NoError(t, err)
				assert.Equal(t, "before"+tt.want, string(got))
			}
		})
	}
	// Each was written twice.
	assert.Equal(t, jsondoc.Counts{DuplicateKeys: 2, RewrittenKeys: 2*2 + 2}, e.Counts)
}

func TestDocumentsThatAreRefused(t *testing.T) {
	e := jsondoc.New(jsondoc.Options{})
	for _, tt := range []struct {
		name  string
		write func(dst []byte) ([]byte, error)
		want  error
	}{
		{"event after the year 9999", func(dst []byte) ([]byte, error) { return e.AppendEvent(dst, &metric.Event{Time: 253_402_300_800}) }, jsondoc.ReasonTime},
		{"check before the year 0", func(dst []byte) ([]byte, error) { return e.AppendCheck(dst, &metric.Check{Time: -62_167_219_201}) }, jsondoc.ReasonTime},
		{"point", func(dst []byte) ([]byte, error) {
			return e.AppendPoint(dst, &metric.Point{Series: &metric.Series{}, Time: math.MaxInt64}, time.Time{}, 0)
		}, jsondoc.ReasonTime},
		{"point that is not finite", func(dst []byte) ([]byte, error) {
			return e.AppendPoint(dst, &metric.Point{Series: &metric.Series{}, Value: math.NaN()}, time.Unix(0, 0), 0)
		}, jsondoc.ReasonValue},
		{"sample that is not finite", func(dst []byte) ([]byte, error) {
			return e.AppendSample(dst, &ssf.SSFSample{Value: float32(math.Inf(1))}, 0)
		}, jsondoc.ReasonValue},
		{"packet", func(dst []byte) ([]byte, error) { return e.AppendWireSpan(dst, []byte("\x52\x01\x42")) }, ssf.ReasonTruncated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.write([]byte("before"))
			require.Equal(t, tt.want, err)
			require.Equal(t, "before", string(got))
		})
	}
	assert.Equal(t, jsondoc.Counts{NonFinite: 2}, e.Counts)
}

// TestNonFiniteWithinASpan: the neighbours of such a value are worth keeping.
func TestNonFiniteWithinASpan(t *testing.T) {
	e := jsondoc.New(jsondoc.Options{Samples: true})
	s := &ssf.SSFSpan{Metrics: []ssf.SSFSample{{Name: "a", Value: float32(math.NaN()), SampleRate: float32(math.Inf(1))}, {Name: "b", Value: 1}}}
	for range 2 {
		got, err := e.AppendSpan(nil, s)
		require.NoError(t, err)
		assert.Contains(t, string(got), `"samples":[{"metric":"counter","name":"a","tags":{}},{"metric":"counter","name":"b","tags":{},"value":1}]`)
		wire, err := e.AppendWireSpan(nil, ssf.AppendSpan(nil, s))
		require.NoError(t, err)
		assert.Equal(t, string(got), string(wire))
	}
	assert.Equal(t, jsondoc.Counts{NonFinite: 8}, e.Counts)
}

// TestPieces is what the layouts of other sinks are made of.
func TestPieces(t *testing.T) {
	tags := []ssf.Tag{{Key: "b", Value: "1"}, {Key: "ssf.indicator", Value: "2"}, {Key: "a..", Value: "3"}, {Key: "b", Value: "4"}}
	o := jsondoc.DefaultOptions()
	o.Keys.Reserved = []string{"ssf.indicator"}
	e := jsondoc.New(o)
	assert.Equal(t, `{"_ssf.indicator":"2","a__":"3","b":"4"}`, string(e.AppendTags(nil, tags)))
	assert.Equal(t, `{"ssf.indicator":true,"_ssf.indicator":"2","a__":"3","b":"4"`, string(e.AppendTagMembers([]byte(`{"ssf.indicator":true`), tags)))
	assert.Equal(t, []ssf.Tag{{Key: "_ssf.indicator", Value: "2"}, {Key: "a__", Value: "3"}, {Key: "b", Value: "4"}}, e.Sorted(tags))
	assert.Equal(t, `{"x":1,"k":["1","2","3"],"l":""`, string(e.AppendMetricTagMembers([]byte(`{"x":1`), []string{"k:1", "l", "k:2", "k:3"})))
	assert.Equal(t, jsondoc.Counts{DuplicateKeys: 3, RewrittenKeys: 3, ReservedKeys: 3}, e.Counts)
	assert.Equal(t, `"000000000000000000000000000000ff"`, string(jsondoc.AppendTraceID(nil, 255)))
	assert.Equal(t, `"8000000000000000"`, string(jsondoc.AppendSpanID(nil, math.MinInt64)))
}

func TestStyles(t *testing.T) {
	s := &ssf.SSFSpan{StartTimestamp: 1_700_000_000_123_456_789, Name: "<ab>", Tags: []ssf.Tag{{Key: "a.b", Value: "xyzé"}}}
	for _, tt := range []struct {
		style jsonappend.Style
		want  string
	}{
		{jsonappend.Style{Times: jsonappend.EpochMillis}, `{"@timestamp":1700000000123,`},
		{jsonappend.Style{Times: jsonappend.EpochMillisNanos}, `{"@timestamp":"1700000000123.456789",`},
		{jsonappend.Style{Escapes: jsonappend.EscapeHTML}, `"name":"\u003cab\u003e"`},
		{jsonappend.Style{MaxText: 4}, `"tags":{"a.b":"xyz"}`},
		{jsonappend.Style{Keys: jsonappend.Keys{Dot: '@'}}, `"tags":{"a@b":"xyzé"}`},
		{jsonappend.Style{Keys: jsonappend.Keys{Max: 2, Paths: true}}, `"tags":{"a_":"xyzé"}`},
	} {
		got, err := jsondoc.New(jsondoc.Options{Style: tt.style}).AppendSpan(nil, s)
		require.NoError(t, err)
		assert.Contains(t, string(got), tt.want)
	}
}

// The layout of a sink's own: constants with the punctuation around them, and values from the pieces.
func ExampleEncoder() {
	options := jsondoc.DefaultOptions()
	options.Keys.Reserved = []string{"ssf.indicator"}
	e := jsondoc.New(options)
	span := &ssf.SSFSpan{TraceId: 5, Id: 7, StartTimestamp: 1_700_000_000_000_000_001, Name: "GET /", Tags: []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "ssf.indicator", Value: "no"}}}

	dst := e.TimeNanos([]byte(`{"@timestamp":`), span.StartTimestamp)
	dst = jsondoc.AppendTraceID(append(dst, `,"trace_id":`...), span.TraceId)
	dst = e.Text(append(dst, `,"name":`...), span.Name)
	dst = append(dst, `,"attributes":{"ssf.indicator":true`...)
	dst = e.AppendTagMembers(dst, span.Tags)
	dst = append(dst, '}', '}')
	fmt.Println(string(dst))
	// Output:
	// {"@timestamp":"2023-11-14T22:13:20.000000001Z","trace_id":"00000000000000000000000000000005","name":"GET /","attributes":{"ssf.indicator":true,"_ssf.indicator":"no","env":"prod"}}
}
