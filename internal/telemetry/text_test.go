package telemetry

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/buildinfo"
)

func parseText(t *testing.T, r *Registry) map[string]*dto.MetricFamily {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, r.WriteText(&page))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&page)
	require.NoError(t, err, page.String())
	return families
}

func TestTextIsWhatWasCounted(t *testing.T) {
	lines := Desc{Name: "ingest.lines", Kind: Counter, Help: "Every line \\ that is not empty,\nwith \"quotes\"."}
	series := Desc{Name: "series", Kind: Gauge, Tags: []string{"kind", "sink-name"}, Help: "Series."}
	r := New()
	r.Counter(&lines).Add(1 << 40)
	r.Gauge(&series, "counter", `a"b\c`+"\nd").Set(2.5)
	r.Gauge(&series, "gauge", "\xff").Set(math.Inf(1))
	r.Gauge(&series, "gauge", "\xfe").Set(math.NaN())
	r.Gauge(&series, "", "é").Set(-1e300)

	families := parseText(t, r)
	require.Len(t, families, 2)

	f := families["veneur_ingest_lines_total"]
	require.Equal(t, dto.MetricType_COUNTER, f.GetType())
	require.Equal(t, lines.Help, f.GetHelp())
	require.Equal(t, float64(1<<40), f.GetMetric()[0].GetCounter().GetValue())

	f = families["veneur_series"]
	require.Equal(t, dto.MetricType_GAUGE, f.GetType())
	got := map[string]float64{}
	for _, m := range f.GetMetric() {
		require.Equal(t, "kind", m.GetLabel()[0].GetName())
		require.Equal(t, "sink_name", m.GetLabel()[1].GetName())
		got[m.GetLabel()[0].GetValue()+"|"+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
	}
	require.True(t, math.IsNaN(got[`gauge|\xfe`]))
	delete(got, `gauge|\xfe`)
	require.Equal(t, map[string]float64{"counter|a\"b\\c\nd": 2.5, `gauge|\xff`: math.Inf(1), "|é": -1e300}, got)
}

func TestTextNames(t *testing.T) {
	for _, tt := range []struct {
		name string
		kind Kind
		want string
	}{
		{"ingest.lines", Counter, "veneur_ingest_lines_total"},
		{"bytes_total", Counter, "veneur_bytes_total"},
		{"flush.duration", Gauge, "veneur_flush_duration"},
		{"odd name-é", Gauge, "veneur_odd_name___"},
	} {
		require.Equal(t, tt.want, PrometheusName(&Desc{Name: tt.name, Kind: tt.kind}))
	}
}

func TestTextOfMembersThatMeet(t *testing.T) {
	d := Desc{Name: "worst", Kind: Gauge, Tags: []string{"name"}}
	r := New()
	for range 2 {
		r.FuncSet(&d, func(emit func(float64, ...string)) { emit(1, "a"); emit(2, "b"); emit(3, "a") })
	}
	f := parseText(t, r)["veneur_worst"]
	require.Len(t, f.GetMetric(), 2, "a series that stands twice makes a page unreadable")
	require.Equal(t, 8.0, f.GetMetric()[0].GetGauge().GetValue())
	require.Equal(t, 4.0, r.Value("worst", "name:b"))
}

func TestTextOfTheProcess(t *testing.T) {
	r := New()
	r.RegisterProcess(buildinfo.Info{Version: "v1.2.3", Revision: "abc", Date: "x", Go: "go1.26"})
	runtime.GC()
	families := parseText(t, r)
	for name, f := range families {
		require.True(t, strings.HasPrefix(name, "veneur_"), name)
		require.NotEmpty(t, f.GetHelp(), name)
	}
	require.Positive(t, r.Value("uptime_seconds"))
	require.GreaterOrEqual(t, r.Value("goroutines"), 2.0)
	require.Greater(t, r.Value("heap_bytes"), 1e4)
	require.GreaterOrEqual(t, families["veneur_gc_cycles_total"].GetMetric()[0].GetCounter().GetValue(), 1.0)
	require.Equal(t, 1.0, r.Value("build_info", "version:v1.2.3", "revision:abc", "go:go1.26"))
}

func TestEmptyRegistryIsAnEmptyPage(t *testing.T) {
	require.Empty(t, New().AppendText(nil))
}

func FuzzText(f *testing.F) {
	f.Add("ingest.lines", "reason", "no_type", 1.5)
	f.Add("a-b", "x y", "\"\\\n\xff\xc3", math.Inf(-1))
	f.Fuzz(func(t *testing.T, name, key, value string, v float64) {
		r := New()
		r.Gauge(&Desc{Name: name, Kind: Gauge, Tags: []string{"k" + key}, Help: value}, value).Set(v)
		parseText(t, r)
	})
}
