package main

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/server/servertest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// serve runs the service, and returns where it is and how it ends. One that does not start fails the test.
func serve(ctx context.Context, t *testing.T, daemon string) (base string, done chan error) {
	t.Helper()
	address, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-http", "127.0.0.1:0", "-veneur", daemon}, func(a string) { address <- a })
	}()
	select {
	case a := <-address:
		return "http://" + a, done
	case err := <-done:
		require.FailNow(t, "the service ended", "%v", err)
		return "", nil
	}
}

// The service talks to a real daemon, which writes down what it got.
func TestService(t *testing.T) {
	dir := t.TempDir()
	metrics, spans := filepath.Join(dir, "metrics"), filepath.Join(dir, "spans")
	d := servertest.Start(t, `
interval: 1h
aggregates: [count, max]
indicator_span_timer_name: request
ssf_listen_addresses: ["unix://${DIR}/ssf"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+metrics+`}}]
span_sinks: [{kind: localfile, name: out, config: {path: `+spans+`}}]`)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	base, done := serve(ctx, t, "unix://"+d.Addr("SSF", "unix://"))
	for path, status := range map[string]int{"/charges/1?amount=10": 200, "/charges/2?amount=2000": 500, "/charges/1?amount=x": 400} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, status, answer.StatusCode)
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
	require.NoError(t, <-done)
	d.Await(6, "ingest.spans") // five spans, and the counters, which are in more packets on a slow machine: they are read to the end
	d.Eventually("the service's connection to end", func() bool { return d.Value("ingest.connections") == 0 })
	require.NoError(t, d.Stop())

	requests := map[string]servertest.Record{}
	var inner []servertest.Record
	for _, r := range servertest.Records(t, spans) {
		require.Equal(t, "charges", r.Service)
		if r.Name == "charge" {
			inner = append(inner, r)
			continue
		}
		require.Equal(t, "GET /charges/{id}", r.Name)
		require.True(t, r.Indicator)
		requests[r.ID] = r
	}
	require.Len(t, requests, 3)
	require.Len(t, inner, 2)
	for _, r := range inner {
		require.Equal(t, requests[r.ParentID].Error, r.Error)
	}
	totals := servertest.Totals(servertest.Records(t, metrics))
	for name, want := range map[string]float64{
		"charges.requests": 3, "charges.users": 2, "charges.amount.count": 2, "charges.amount.max": 2000, "request.count": 3,
	} {
		require.Equal(t, want, totals[name], name)
	}
	require.Positive(t, totals["veneur.trace_client.recorded_total"])
}

// A service runs, and ends well, whether or not there is a daemon.
func TestWithoutDaemon(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	base, done := serve(ctx, t, "unix://"+filepath.Join(t.TempDir(), "nobody"))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/charges/1?amount=10", nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	stop()
	require.NoError(t, <-done)
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"-veneur", "nowhere"}, {"-http", "nowhere"}, {"-unknown"}} {
		require.Error(t, run(t.Context(), args, func(string) {}))
	}
}
