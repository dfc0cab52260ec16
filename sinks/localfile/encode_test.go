package localfile

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

var batch = &sinks.Batch{End: time.Unix(1_700_000_000, 0), Interval: 9500 * time.Millisecond}

func point(name string, value float64, typ metric.PointType, at int64, tags ...string) *metric.Point {
	return &metric.Point{Series: &metric.Series{Name: name, Tags: tags}, Name: name, Value: value, Type: typ, Time: at}
}

// TestLines has the exact line of each sort of item, in both formats.
func TestLines(t *testing.T) {
	event := metric.Event{
		Title: "deployed", Text: "a\tb\n\"c\"", Time: 1_699_999_990, Host: "web", AggregationKey: "k", Priority: "low",
		AlertType: "success", SourceType: "ci", Tags: []string{"a:1", "b"},
	}
	check := metric.Check{Name: "db.up", Status: metric.Critical, Message: "no", Time: 1_699_999_991, Host: "web", Tags: []string{"a:1"}}
	span := ssf.SSFSpan{
		TraceId: 9223372036854775807, Id: -1, ParentId: 3, StartTimestamp: 1_700_000_000_000_000_001, EndTimestamp: 1_700_000_001_500_000_001,
		Name: "GET", Service: "web", Error: true, Indicator: true, Tags: []ssf.Tag{{Key: "k", Value: "a,b"}, {Key: "e", Value: ""}},
	}
	for _, tt := range []struct {
		name        string
		encode      func(encoder) []byte
		ndjson, tsv string
	}{
		{
			name: "counter",
			encode: func(e encoder) []byte {
				return e.point(nil, point("a.b", 3, metric.CounterPoint, 0, "x:y", "z"), batch)
			},
			ndjson: `{"kind":"metric","name":"a.b","tags":["x:y","z"],"type":"counter","value":3,"timestamp":1700000000,"interval_s":9.5,"hostname":"host"}`,
			tsv:    "a.b|x:y,z|counter|host|9.5|1700000000|3|",
		},
		{
			name:   "gauge with a time of its own",
			encode: func(e encoder) []byte { return e.point(nil, point("g", -0.5, metric.GaugePoint, 1_600_000_000), batch) },
			ndjson: `{"kind":"metric","name":"g","tags":[],"type":"gauge","value":-0.5,"timestamp":1600000000,"interval_s":9.5,"hostname":"host"}`,
			tsv:    "g||gauge|host|9.5|1600000000|-0.5|",
		},
		{
			name:   "event",
			encode: func(e encoder) []byte { return e.event(nil, &event) },
			ndjson: `{"kind":"event","title":"deployed","text":"a\tb\n\"c\"","timestamp":1699999990,"host":"web","aggregation_key":"k","priority":"low","alert_type":"success","source_type":"ci","tags":["a:1","b"]}`,
			tsv:    `deployed|a:1,b|event|web||1699999990|success|a\tb\n"c"`,
		},
		{
			name:   "service check",
			encode: func(e encoder) []byte { return e.check(nil, &check) },
			ndjson: `{"kind":"service_check","name":"db.up","status":2,"message":"no","timestamp":1699999991,"host":"web","tags":["a:1"]}`,
			tsv:    "db.up|a:1|service_check|web||1699999991|2|no",
		},
		{
			name:   "span",
			encode: func(e encoder) []byte { return e.span(nil, &span) },
			ndjson: `{"kind":"span","trace_id":"9223372036854775807","id":"-1","parent_id":"3","name":"GET","service":"web","start_ns":1700000000000000001,"end_ns":1700000001500000001,"error":true,"indicator":true,"tags":{"e":"","k":"a,b"}}`,
			tsv:    `GET|k:a\,b,e:|span|web||1700000001|1500000000|9223372036854775807/-1/3`,
		},
		{
			name:   "span that ends before it starts",
			encode: func(e encoder) []byte { return e.span(nil, &ssf.SSFSpan{StartTimestamp: 3e9, EndTimestamp: 2e9}) },
			ndjson: `{"kind":"span","trace_id":"0","id":"0","parent_id":"0","name":"","service":"","start_ns":3000000000,"end_ns":2000000000,"error":false,"indicator":false,"tags":{}}`,
			tsv:    "||span|||2|0|0/0/0",
		},
		{
			name:   "span without anything",
			encode: func(e encoder) []byte { return e.span(nil, &ssf.SSFSpan{}) },
			ndjson: `{"kind":"span","trace_id":"0","id":"0","parent_id":"0","name":"","service":"","start_ns":0,"end_ns":0,"error":false,"indicator":false,"tags":{}}`,
			tsv:    "||span|||0|0|0/0/0",
		},
		{
			name: "what has a meaning of its own",
			encode: func(e encoder) []byte {
				return e.point(nil, point("a|b\\n\r", 1e300, metric.GaugePoint, 0, "k:\xff|,"), batch)
			},
			ndjson: "{\"kind\":\"metric\",\"name\":\"a|b\\\\n\\r\",\"tags\":[\"k:\uFFFD|,\"],\"type\":\"gauge\",\"value\":1e+300,\"timestamp\":1700000000,\"interval_s\":9.5,\"hostname\":\"host\"}",
			tsv:    "a\\|b\\\\n\\r|k:\uFFFD\\|\\,|gauge|host|9.5|1700000000|1e+300|",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.ndjson+"\n", string(tt.encode(newNDJSON("host"))))
			assert.Equal(t, tt.tsv+"\n", string(tt.encode(&tsv{delimiter: '|', hostname: "host"})))
		})
	}
}

func TestSpanTagsStandOnce(t *testing.T) {
	many := make([]ssf.Tag, 0, 40)
	for i := range 40 {
		many = append(many, ssf.Tag{Key: fmt.Sprint("k", i%20), Value: fmt.Sprint(i)})
	}
	for _, tt := range []struct {
		name string
		tags []ssf.Tag
		want map[string]string
	}{
		{"none", nil, map[string]string{}},
		{"the last counts", []ssf.Tag{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}, {Key: "a", Value: "3"}}, map[string]string{"a": "3", "b": "2"}},
		{"keys that are one once written", []ssf.Tag{{Key: "\xff", Value: "1"}, {Key: "\xfe", Value: "2"}, {Key: "\uFFFD", Value: "3"}}, map[string]string{"\uFFFD": "3"}},
		{"many", many, func() map[string]string {
			want := map[string]string{}
			for _, tag := range many {
				want[tag.Key] = tag.Value
			}
			return want
		}()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written := newNDJSON("").AppendTags(nil, tt.tags)
			got := map[string]string{}
			require.NoError(t, json.Unmarshal(written, &got))
			assert.Equal(t, tt.want, got)
			assert.Equal(t, len(tt.want), strings.Count(string(written), `":"`), "%s", written)
		})
	}
}

// TestHostileSpanIsWrittenInLinearTime would take minutes if each tag was compared with each.
func TestHostileSpanIsWrittenInLinearTime(t *testing.T) {
	span := &ssf.SSFSpan{}
	for i := range 200_000 {
		span.Tags = append(span.Tags, ssf.Tag{Key: fmt.Sprint(i), Value: "1"}, ssf.Tag{Key: "same", Value: "2"})
	}
	var got struct{ Tags map[string]string }
	require.NoError(t, json.Unmarshal(newNDJSON("").span(nil, span), &got))
	assert.Len(t, got.Tags, 200_001)
}

// FuzzLines: whatever stands in a point, it is one line, and who reads it gets back what was sent.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"a.b", "a\tb|c\\n", "\xff\xfe", "ü\n\r\x00\u2028", `"\`, ",|,", ""} {
		f.Add(seed, seed, seed, "\t")
		f.Add(seed, "k:v", "bare", "|")
	}
	f.Fuzz(func(t *testing.T, name, tag1, tag2, delimiter string) {
		p := point(name, 0.1, metric.GaugePoint, 0, tag1, tag2)
		written := newNDJSON(name).point(nil, p, batch)
		require.Equal(t, 1, strings.Count(string(written), "\n"))
		require.True(t, utf8.Valid(written))
		var got struct {
			Name, Hostname string
			Tags           []string
			Value          float64
		}
		require.NoError(t, json.Unmarshal(written, &got))
		require.Equal(t, []string{readable(name), readable(name), readable(tag1), readable(tag2)}, []string{got.Name, got.Hostname, got.Tags[0], got.Tags[1]})
		require.Equal(t, 0.1, got.Value)

		if !isDelimiter(delimiter) {
			return
		}
		d, _ := utf8.DecodeRuneInString(delimiter)
		written = (&tsv{delimiter: d, hostname: name}).point(nil, p, batch)
		require.Equal(t, 1, strings.Count(string(written), "\n"))
		columns := split(strings.TrimSuffix(string(written), "\n"), d)
		require.Len(t, columns, 8)
		if d == '\t' {
			require.Len(t, strings.Split(string(written), "\t"), 8)
		}
		tags := split(columns[1], ',')
		require.Equal(t, []string{readable(name), readable(tag1), readable(tag2), "gauge", readable(name), "9.5", "1700000000", "0.1", ""}, []string{
			unescape(columns[0]), unescape(tags[0]), unescape(tags[1]), columns[2], unescape(columns[3]), columns[4], columns[5], columns[6], columns[7],
		})
	})
}

func readable(s string) string { return string([]rune(s)) }

// split cuts at separators that have no backslash before them.
func split(s string, separator rune) []string {
	parts := []string{""}
	escaped := false
	for _, r := range s {
		last := &parts[len(parts)-1]
		switch {
		case escaped:
			escaped = false
			*last += string(r)
		case r == separator:
			parts = append(parts, "")
		default:
			escaped = r == '\\'
			*last += string(r)
		}
	}
	return parts
}

func unescape(s string) string {
	var b strings.Builder
	escaped := false
	for _, r := range s {
		switch {
		case !escaped && r == '\\':
			escaped = true
			continue
		case escaped && r == 'n':
			r = '\n'
		case escaped && r == 'r':
			r = '\r'
		case escaped && r == 't':
			r = '\t'
		}
		escaped = false
		b.WriteRune(r)
	}
	return b.String()
}

func BenchmarkEncode(b *testing.B) {
	p := point("http.requests", 12345, metric.CounterPoint, 0, "env:prod", "route:/api/v1/x", "status:200")
	span := &ssf.SSFSpan{TraceId: 1, Id: 2, Name: "GET /x", Service: "web", Tags: []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "status", Value: "200"}}}
	j := newNDJSON("host")
	for _, tt := range []struct {
		name   string
		encode func(dst []byte) []byte
	}{
		{"ndjson point with 3 tags", func(dst []byte) []byte { return j.point(dst, p, batch) }},
		{"tsv point with 3 tags", func(dst []byte) []byte { return (&tsv{delimiter: '\t', hostname: "host"}).point(dst, p, batch) }},
		{"ndjson span with 2 tags", func(dst []byte) []byte { return j.span(dst, span) }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			buf := tt.encode(nil)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf = tt.encode(buf[:0])
			}
		})
	}
}

func TestEncodingDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 1024)
	p := point("http.requests", 12345.5, metric.CounterPoint, 0, "env:prod", "route:/api")
	span := &ssf.SSFSpan{Tags: []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "status", Value: "200"}}}
	j, c := newNDJSON("host"), &tsv{delimiter: '\t', hostname: "host"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = j.point(buf, p, batch)
		_ = c.point(buf, p, batch)
		_ = j.span(buf, span)
	}))
}
