package tracetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// witness is a test whose failures are looked at.
type witness struct {
	testing.TB
	failures []string
}

type stopped struct{}

func (w *witness) Helper()        {}
func (w *witness) Cleanup(func()) {}
func (w *witness) Errorf(format string, args ...any) {
	w.failures = append(w.failures, fmt.Sprintf(format, args...))
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Errorf(format, args...)
	panic(stopped{})
}

func TestExpectations(t *testing.T) {
	w := &witness{TB: t}
	client, recorder := tracetest.New(w, trace.WithService("api"))
	defer client.Close(context.Background())
	root, ctx := client.StartSpanFromContext(t.Context(), "request")
	root.SetIndicator(true)
	root.SetTag("status", "200")
	child, _ := trace.StartSpanFromContext(ctx, "query")
	child.Error(errors.New("broken"))
	child.Add(ssf.Count("rows", 3, nil), ssf.Count("rows", 1, nil, ssf.SampleRate(0.5)))
	child.Finish()
	root.Finish()
	for _, name := range []string{"twice", "twice"} {
		client.StartTrace(name).Finish()
	}
	require.NoError(t, client.Report(ssf.Gauge("rows", 1, nil)))

	for _, tt := range []struct {
		name  string
		check func()
		fails string
	}{
		{"span", func() { recorder.Span("request") }, ""},
		{"no span", func() { recorder.Span("other") }, `0 spans are called "other", want 1 of:` + "\n\t\""},
		{"two spans", func() { recorder.Span("twice") }, `2 spans are called "twice"`},
		{"spans", func() { recorder.HasSpans("twice", "query", "request", "twice") }, ""},
		{"too few spans", func() { recorder.HasSpans("twice", "query", "request") }, `want the spans ["twice" "query" "request"], got:`},
		{"too many spans", func() { recorder.HasSpans("twice", "query", "request", "twice", "a") }, "want the spans"},
		{"tag", func() { recorder.Span("request").HasTag("status", "200") }, ""},
		{"other tag", func() { recorder.Span("request").HasTag("status", "500") }, `span "request" has no tag status:500:`},
		{"no tag", func() { recorder.Span("request").HasNoTag("a") }, ""},
		{"a tag after all", func() { recorder.Span("request").HasNoTag("status") }, "has a tag status"},
		{"child", func() { recorder.Span("query").ChildOf("request") }, ""},
		{"no child", func() { recorder.Span("request").ChildOf("query") }, `is no child of "query"`},
		{"root", func() { recorder.Span("request").IsRoot() }, ""},
		{"no root", func() { recorder.Span("query").IsRoot() }, "has a parent"},
		{"failed", func() { recorder.Span("query").Failed() }, ""},
		{"did not fail", func() { recorder.Span("request").Failed() }, "did not fail"},
		{"succeeded", func() { recorder.Span("request").Succeeded() }, ""},
		{"did not succeed", func() { recorder.Span("query").Succeeded() }, "failed"},
		{"indicator", func() { recorder.Span("request").IsIndicator() }, ""},
		{"no indicator", func() { recorder.Span("query").IsIndicator() }, "is no indicator"},
		{"service", func() { recorder.Span("request").OfService("api") }, ""},
		{"other service", func() { recorder.Span("request").OfService("web") }, `is of service "api", not "web"`},
		{"sample", func() { recorder.Span("query").HasSample("rows") }, ""},
		{"no sample", func() { recorder.Span("request").HasSample("rows") }, `has no sample "rows"`},
		{"count", func() { recorder.HasCount("rows", 5) }, ""},
		{"other count", func() { recorder.HasCount("rows", 4) }, `counter "rows" is 5, want 4`},
		{"a row", func() { recorder.Span("request").IsRoot().Succeeded().HasTag("a", "b").Failed() }, "has no tag a:b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.failures = nil
			func() {
				defer func() {
					if r := recover(); r != nil && r != (stopped{}) {
						panic(r)
					}
				}()
				tt.check()
			}()
			if tt.fails == "" {
				require.Empty(t, w.failures)
				return
			}
			require.Contains(t, strings.Join(w.failures, "\n"), tt.fails)
		})
	}
	require.Len(t, recorder.Samples("rows"), 3)
	recorder.Reset()
	require.Empty(t, recorder.Spans())
}

func TestCollector(t *testing.T) {
	for _, network := range []string{"udp", "unixgram", "unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			collector := tracetest.Listen(t, network)
			address := collector.Address()
			require.True(t, strings.HasPrefix(address, network+"://"), address)
			client, err := trace.NewClient(address)
			require.NoError(t, err)
			client.StartTrace("one").Finish()
			collector.Wait(1)

			collector.Pause()
			client.StartTrace("two").Finish()
			require.NoError(t, client.Flush(t.Context()))
			collector.Resume()
			collector.Wait(2)

			collector.Stop()
			collector.Start()
			require.Equal(t, address, collector.Address())
			deadline := time.Now().Add(10 * time.Second)
			for len(collector.Spans()) < 3 && time.Now().Before(deadline) { // the first may be lost with the old connection
				client.StartTrace("three").Finish()
				require.NoError(t, client.Flush(t.Context()))
			}
			collector.Span("one").IsRoot()
			collector.Span("two").IsRoot()
			require.NoError(t, client.Close(t.Context()))
		})
	}
}
