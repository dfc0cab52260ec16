package trace_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// A whole daemon writes down what it got from a client, over every transport.
func TestDaemonGetsEverything(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			dir := t.TempDir()
			metrics, spans := filepath.Join(dir, "metrics"), filepath.Join(dir, "spans")
			d := servertest.Start(t, fmt.Sprintf(`
interval: 1h
percentiles: [0.5]
aggregates: [count, max]
indicator_span_timer_name: indicator
ssf_listen_addresses: ["udp://127.0.0.1:0", "tcp://127.0.0.1:0", "unix://${DIR}/s", "unixgram://${DIR}/d"]
metric_sinks: [{kind: localfile, name: out, config: {path: %s}}]
span_sinks: [{kind: localfile, name: out, config: {path: %s}}]`, metrics, spans))
			c := newClient(t, network+"://"+d.Addr("SSF", network+"://"), trace.WithService("api"))

			requests, depth := c.Counter("requests", map[string]string{"a": "b"}), c.Gauge("depth", nil)
			histogram, users := c.Histogram("sizes", nil), c.Set("users", nil)
			var ids []int64
			for i := range 20 {
				root, ctx := c.StartSpanFromContext(context.Background(), "request")
				root.SetIndicator(true)
				root.SetTag("route", "/v1")
				child, _ := trace.StartSpanFromContext(ctx, "query")
				child.Error(errors.New("no row"))
				child.Add(ssf.Count("rows", 2, nil))
				child.Finish()
				root.Finish()
				ids = append(ids, root.ID())
				requests.Add(1_000_000 + int64(i))
				depth.Set(float64(i))
				histogram.Observe(float64(i))
				users.Add(fmt.Sprint(i % 7))
			}
			require.NoError(t, c.Report(ssf.Gauge("reported", 5, nil)))
			require.NoError(t, closeWithin(c, patience))
			stats := requireLaw(t, c)
			require.Zero(t, stats.Lost())
			d.Await(float64(stats.Sent), "ingest.spans")
			require.NoError(t, d.Stop())

			byID := map[string]servertest.Record{}
			for _, r := range servertest.Records(t, spans) {
				byID[r.ID] = r
			}
			require.Len(t, byID, 40)
			for _, r := range byID {
				require.Equal(t, "api", r.Service)
				require.GreaterOrEqual(t, r.EndNS, r.StartNS)
				if r.Name == "request" {
					require.True(t, r.Indicator && !r.Error)
					require.JSONEq(t, `{"route":"/v1"}`, string(r.Tags))
					continue
				}
				require.True(t, r.Error)
				require.JSONEq(t, `{"error.msg":"no row","error.type":"*errors.errorString"}`, string(r.Tags))
				require.Equal(t, "request", byID[r.ParentID].Name)
				require.Equal(t, byID[r.ParentID].TraceID, r.TraceID)
			}
			for _, id := range ids {
				require.Contains(t, byID, fmt.Sprint(id))
			}
			totals := servertest.Totals(servertest.Records(t, metrics))
			for name, want := range map[string]float64{
				"requests|a:b": 20_000_190, "depth": 19, "sizes.count": 20, "sizes.max": 19, "users": 7,
				"rows": 40, "reported": 5, "indicator.count": 20,
			} {
				require.Equal(t, want, totals[name], name)
			}
		})
	}
}
