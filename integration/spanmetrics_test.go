//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// prometheus is a Prometheus of the system, which scrapes one daemon every second.
type prometheus struct {
	t   testing.TB
	url string
}

func startPrometheus(t testing.TB, target string) *prometheus {
	t.Helper()
	path := findPrometheus(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: veneur
    static_configs: [{targets: [%q]}]
`, target), 0o600))
	address := freeAddress(t)
	p := &prometheus{t, "http://" + address}
	process := start(t, exec.Command(path, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address,
		"--enable-feature=exemplar-storage"))
	process.await("ready", time.Minute, func() bool {
		resp, err := http.Get(p.url + "/-/ready")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return p
}

// ask answers a query, by the label service.
func (p *prometheus) ask(query string) map[string]float64 {
	p.t.Helper()
	resp, err := http.Get(p.url + "/api/v1/query?query=" + url.QueryEscape(query))
	require.NoError(p.t, err)
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
		Error string
	}
	require.NoError(p.t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Empty(p.t, answer.Error, query)
	got := map[string]float64{}
	for _, r := range answer.Data.Result {
		value, err := strconv.ParseFloat(r.Value[1].(string), 64)
		require.NoError(p.t, err)
		got[r.Metric["service"]] = value
	}
	return got
}

// exemplars returns how many traces a Prometheus knows of for a query.
func (p *prometheus) exemplars(query string) map[string]bool {
	p.t.Helper()
	now := time.Now().Unix()
	resp, err := http.Get(fmt.Sprintf("%s/api/v1/query_exemplars?query=%s&start=%d&end=%d", p.url, url.QueryEscape(query), now-3600, now+60))
	require.NoError(p.t, err)
	defer resp.Body.Close()
	var answer struct {
		Data []struct {
			Exemplars []struct{ Labels map[string]string }
		}
	}
	require.NoError(p.t, json.NewDecoder(resp.Body).Decode(&answer))
	traces := map[string]bool{}
	for _, series := range answer.Data {
		for _, e := range series.Exemplars {
			traces[e.Labels["trace_id"]] = true
		}
	}
	return traces
}

// Trees of known spans: a request to web of 100 ms to 199 ms, each once in a hundred and any few of them spread over all of that, which asks users for 10 ms; every tenth fails there, and so in both.
func shopTree(n int) []*ssf.SSFSpan {
	const start = 1_700_000_000_000_000_000
	took := time.Duration(100+n*37%100) * time.Millisecond
	failed := n%10 == 9
	span := func(id, parent int64, service, name string, d time.Duration) *ssf.SSFSpan {
		return &ssf.SSFSpan{
			TraceId: int64(n + 1000), Id: id, ParentId: parent, Service: service, Name: name, StartTimestamp: start, EndTimestamp: start + int64(d), Error: failed,
		}
	}
	root := span(1, 0, "web", "GET /", took)
	call := span(2, 1, "web", "call users", 10*time.Millisecond)
	call.SetTag("peer.service", "users")
	answer := span(3, 2, "users", "find", 10*time.Millisecond)
	answer.Indicator = true
	return []*ssf.SSFSpan{answer, call, root}
}

// A Prometheus that scrapes the daemon answers rate, share of errors and p99 of each service, of spans whose values are known.
func TestPrometheusAnswersOfSpanMetrics(t *testing.T) {
	scraped := freeAddress(t)
	d := servertest.Start(t, fmt.Sprintf(`
interval: 1s
percentiles: [0.5, 0.99]
ssf_listen_addresses: ["tcp://127.0.0.1:0"]
span_metrics: {enabled: true, intervals: [1s, 10s], store_path: "${DIR}/store"}
metric_sinks: [{kind: prometheus, config: {listen_address: %q}}]
`, scraped))
	explain(t, d)
	p := startPrometheus(t, scraped)
	conn := d.Dial("SSF", "tcp")

	// Twenty requests a second for long enough that the window of the rate begins and ends in the middle of it. What is late by a bucket and a scrape,
	// as things may be on a busy machine, is some hundredths of that window.
	const perSecond, seconds, window = 20, 40, 30 * time.Second
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	var sent []time.Time
	for n := range perSecond * seconds {
		sendSpans(t, conn, shopTree(n))
		sent = append(sent, <-tick.C)
	}
	rate := p.ask(`sum by (service) (rate(span_service_requests_total{interval="1s"}[30s]))`)
	first, _ := slices.BinarySearchFunc(sent, time.Now().Add(-window), time.Time.Compare)
	wantRate := float64(len(sent)-first) / window.Seconds()
	t.Logf("rate %v, sent %.2f a second", rate, wantRate)
	total := float64(perSecond * seconds)
	until(t, "all there", time.Minute, func() bool {
		return p.ask(`sum by (service) (span_service_requests_total{interval="1s"})`)["web"] == total
	})
	assert.Equal(t, map[string]float64{"web": total, "users": total}, p.ask(`sum by (service) (span_service_requests_total{interval="1s"})`))

	errors := p.ask(`sum by (service) (span_service_errors_total{interval="1s"}) / sum by (service) (span_service_requests_total{interval="1s"})`)
	var p99 map[string]float64
	until(t, "over, ten seconds", time.Minute, func() bool {
		p99 = p.ask(`max by (service) (max_over_time(span_service_duration{interval="10s",quantile="0.99"}[1m]))`)
		return p.ask(`sum by (service) (span_service_requests_total{interval="10s"})`)["web"] == total
	})
	mean := p.ask(`sum by (service) (span_service_seconds_total{interval="1s"}) / sum by (service) (span_service_requests_total{interval="1s"})`)
	waits := p.ask(`sum by (service) (span_dependency_requests_total{interval="1s",target="users"})`)
	for _, service := range []string{"web", "users"} {
		assert.InEpsilon(t, wantRate, rate[service], 0.12, "%s: rate", service)
		assert.InDelta(t, 0.1, errors[service], 1e-9, "%s: share of errors", service)
	}
	assert.InEpsilon(t, 0.198, p99["web"], 0.015, "p99 of 100 ms to 199 ms, by the bucket a millisecond more or less")
	assert.InEpsilon(t, 0.010, p99["users"], 0.011)
	meanWeb := 0.0
	for n := range perSecond * seconds {
		meanWeb += float64(100+n*37%100) / 1000 / total
	}
	assert.InDelta(t, meanWeb, mean["web"], 1e-9, "sums are exact")
	assert.Equal(t, map[string]float64{"web": total}, waits)
	traces := p.exemplars(`span_operation_requests_total{service="web",error="true"}`)
	require.NotEmpty(t, traces, "exemplars")
	for trace := range traces {
		id, err := strconv.Atoi(trace)
		require.NoError(t, err)
		assert.Equal(t, 9, (id-1000)%10, "trace %s has failed", trace)
	}
}
