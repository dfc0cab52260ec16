package jsondoc_test

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// FuzzDocuments compares samples, points, events and checks with what encoding/json writes of the equal maps.
func FuzzDocuments(f *testing.F) {
	for _, text := range []string{"", "a", "größe", "\xff\xfe\n", "<&>\u2028", "a:b:c", ":", "k:\"\\"} {
		f.Add(text, text, "a:1,a:2,b", int64(1_700_000_000), math.Float64bits(12.5), int32(2))
		f.Add(text, "\x00", "a:1,a.b:2,a:0,\xff:1,\xfe:2", int64(-1), math.Float64bits(math.NaN()), int32(-1))
	}
	f.Add("", "", strings.Repeat("k:1,j:2,", 30), int64(math.MaxInt64), uint64(1), int32(0))
	f.Add("", "", "", int64(math.MinInt64), uint64(0), int32(4))
	f.Fuzz(func(t *testing.T, a, b, list string, at int64, bits uint64, number int32) {
		e := jsondoc.New(jsondoc.Options{})
		var tags []string
		if list != "" {
			tags = strings.Split(list, ",")
		}
		year := time.Unix(at, 0).UTC().Year()
		inRange := at > -1e12 && at < 1e12 && year >= 0 && year <= 9999
		check := func(got []byte, err error, want map[string]any, refused error) {
			t.Helper()
			require.Equal(t, refused, err)
			if refused != nil {
				require.Equal(t, "before", string(got))
				return
			}
			require.Equal(t, "before"+ofStdlib(t, want), string(got))
			require.True(t, utf8.Valid(got))
			require.False(t, strings.ContainsAny(string(got), "\n\r"))
		}
		var late error
		if !inRange {
			late = jsondoc.ReasonTime
		}

		event := &metric.Event{Title: a, Text: b, Time: at, Host: a, AggregationKey: b, Priority: a, AlertType: b, SourceType: a, Tags: tags}
		got, err := e.AppendEvent([]byte("before"), event)
		check(got, err, eventMap(event), late)

		c := &metric.Check{Name: a, Message: b, Time: at, Host: b, Status: metric.Status(uint32(number) % 4), Tags: tags}
		got, err = e.AppendCheck([]byte("before"), c)
		check(got, err, checkMap(c), late)

		p := &metric.Point{Series: &metric.Series{Tags: tags}, Name: a, Value: math.Float64frombits(bits), Type: metric.PointType(number & 1), Time: at}
		end := time.Unix(at/2, int64(uint32(number)%1e9))
		got, err = e.AppendPoint([]byte("before"), p, end, time.Duration(at))
		refused := late
		if year := end.UTC().Year(); at == 0 && (year < 0 || year > 9999) {
			refused = jsondoc.ReasonTime
		}
		if refused == nil && p.Value-p.Value != 0 {
			refused = jsondoc.ReasonValue
		}
		check(got, err, pointMap(p, end, time.Duration(at)), refused)

		s := &ssf.SSFSample{
			Name: a, Message: b, Unit: a, Timestamp: at, Value: math.Float32frombits(uint32(bits)), SampleRate: math.Float32frombits(uint32(bits >> 32)),
			Metric: ssf.SSFSample_Metric(number), Status: ssf.SSFSample_Status(number >> 1), Scope: ssf.SSFSample_Scope(number >> 2), Tags: []ssf.Tag{{Key: a, Value: b}, {Key: b, Value: a}},
		}
		got, err = e.AppendSample([]byte("before"), s, 7)
		want := sampleMap(s)
		if at == 0 {
			want["@timestamp"] = time.Unix(0, 7).UTC().Format(nineDigits)
		} else {
			want["@timestamp"] = time.Unix(0, at).UTC().Format(nineDigits)
		}
		want["kind"] = "sample"
		refused = nil
		if !finite(s.Value) {
			refused = jsondoc.ReasonValue
		}
		check(got, err, want, refused)
	})
}
