package prometheus

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// Exemplars of counters are shown in OpenMetrics and protobuf to those who prefer them; the old text has no place for them.
func TestExemplars(t *testing.T) {
	r := newRig(t, nil)
	stop := r.run()
	defer stop()
	const prefers = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2"
	c := counter("requests", 3, "service:web")
	require.Zero(t, r.points(c))
	resp, _ := request(t, http.MethodGet, r.url(), "Accept", prefers)
	assert.Contains(t, resp.Header.Get("Content-Type"), "text/plain", "there is nothing that the old text does not say")

	require.Zero(t, r.interval(&sinks.Batch{Points: []metric.Point{c, gauge("g", 1)}, Exemplars: []metric.Exemplar{
		{Series: c.Series, TraceID: 77, Value: 0.25, Time: 1_700_000_001},
		{Series: &metric.Series{Name: "unknown"}, TraceID: 78, Value: 1},
	}}))
	resp, body := request(t, http.MethodGet, r.url(), "Accept", prefers)
	assert.Contains(t, resp.Header.Get("Content-Type"), "application/openmetrics-text")
	assert.Contains(t, string(body), `requests_total{service="web"} 6.0 # {trace_id="77"} 0.25 1.700000001e+09`)
	assert.True(t, strings.HasSuffix(string(body), "# EOF\n"))
	resp, body = request(t, http.MethodGet, r.url(), "Accept", prefers, "Accept-Encoding", "gzip")
	assert.Equal(t, "gzip", resp.Header.Get("Content-Encoding"))
	z, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	body, err = io.ReadAll(z)
	require.NoError(t, err)
	assert.Contains(t, string(body), `trace_id="77"`)

	resp, body = request(t, http.MethodGet, r.url())
	assert.Contains(t, resp.Header.Get("Content-Type"), "text/plain")
	assert.Contains(t, string(body), "requests_total{service=\"web\"} 6\n")
	_, body = request(t, http.MethodGet, r.url(), "Accept", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")
	shown := decoded(t, body)["requests_total"].GetMetric()[0].GetCounter()
	assert.Equal(t, 6.0, shown.GetValue())
	assert.Equal(t, "77", shown.GetExemplar().GetLabel()[0].GetValue())
	assert.Equal(t, 0.25, shown.GetExemplar().GetValue())
}

// OpenMetrics has no place for native histograms, so that nobody gets it where the page may have some.
func TestExemplarsBesideNativeHistograms(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Histograms = asNative })
	stop := r.run()
	defer stop()
	b := timers(map[string][]float64{"t": {1, 2}})
	c := counter("requests", 3)
	b.Points, b.Exemplars = []metric.Point{c}, []metric.Exemplar{{Series: c.Series, TraceID: 77, Value: 0.25}}
	require.Zero(t, r.interval(b))
	resp, body := request(t, http.MethodGet, r.url(), "Accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2")
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s", body)
	assert.Equal(t, textType, resp.Header.Get("Content-Type"))
	assert.EqualValues(t, 2, parsed(t, body)["t"].Metric[0].Histogram.GetSampleCount())
}
