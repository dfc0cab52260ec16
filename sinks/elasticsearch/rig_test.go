package elasticsearch

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/ssf"
)

// rig is sinks that send to a fake.
type rig struct {
	t          testing.TB
	fake       *fake
	configured *sinks.Configured
	registry   *telemetry.Registry
	log        *logtest.Hook
	logger     *logrus.Logger
}

// newRig configures the kind with the given settings beside the fake's address.
func newRig(t testing.TB, f *fake, settings string) *rig {
	t.Helper()
	r := &rig{t: t, fake: f, registry: telemetry.New()}
	r.logger, r.log = logtest.NewNullLogger()
	r.configured = configure(t, fmt.Sprintf("urls: [%q]\nproxy: none\n%s", f.server.URL, settings))
	return r
}

func configure(t testing.TB, yaml string) *sinks.Configured {
	t.Helper()
	doc, err := config.Parse("test.yaml", []byte(yaml))
	require.NoError(t, err)
	configured, err := Kind().Configure(doc.Decode)
	require.NoError(t, err)
	return configured
}

func (r *rig) settings() sinks.Settings {
	return sinks.Settings{Name: "es", Hostname: "web-1", Interval: 10 * time.Second, Log: r.logger, Telemetry: r.registry, Stdout: io.Discard}
}

func (r *rig) spanSink() sinks.SpanSink {
	r.t.Helper()
	s, err := r.configured.Spans(r.settings())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = s.(sinks.Closer).Close() })
	return s
}

func (r *rig) metricSink() sinks.MetricSink {
	r.t.Helper()
	s, err := r.configured.Metrics(r.settings())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = s.(sinks.Closer).Close() })
	return s
}

// send sends spans once.
func (r *rig) send(spans ...*ssf.SSFSpan) error {
	r.t.Helper()
	return r.spanSink().SendSpans(r.context(), spans)
}

// sendPoints sends points once.
func (r *rig) sendPoints(points ...metric.Point) error {
	r.t.Helper()
	return r.metricSink().Send(r.context(), batch(points...))
}

func (r *rig) context() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// deliver sends spans as the daemon does, until each of them is settled, and returns the account.
func (r *rig) deliver(change func(*delivery.SpanConfig), spans ...*ssf.SSFSpan) delivery.Ledger {
	r.t.Helper()
	c := delivery.DefaultSpanConfig()
	c.Linger = 0
	c.RetryInitial, c.RetryMax = time.Millisecond, 4*time.Millisecond
	c.QueueItems = max(c.QueueItems, len(spans))
	if change != nil {
		change(&c)
	}
	require.NoError(r.t, c.Validate())
	d := delivery.NewSpans(r.spanSink(), c, delivery.Settings{
		Name: "es", Interval: 10 * time.Second, Log: r.logger, Telemetry: r.registry, DrainTimeout: 20 * time.Second,
	})
	for _, s := range spans {
		d.OfferSpan(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // what was offered is drained
	require.NoError(r.t, d.Run(ctx))
	l := d.Ledger()
	require.Zero(r.t, l.Waiting)
	require.Equal(r.t, l.Offered, l.Sum())
	return l
}

// outcomes returns the counter of documents.
func (r *rig) outcomes(signal, outcome string) int {
	return int(r.registry.Value("sink.elasticsearch.documents", "signal:"+signal, "outcome:"+outcome))
}

// droppedFor returns the counter of dropped documents.
func (r *rig) droppedFor(signal, reason string) int {
	return int(r.registry.Value("sink.elasticsearch.dropped", "signal:"+signal, "reason:"+reason))
}

var begin = time.Date(2024, 1, 2, 3, 4, 5, 600, time.UTC)

// span returns a span with tags "key", "value", ….
func span(id int64, tags ...string) *ssf.SSFSpan {
	s := &ssf.SSFSpan{
		TraceId: 7, Id: id, ParentId: 7, StartTimestamp: begin.UnixNano() + id, EndTimestamp: begin.UnixNano() + id + 1000,
		Service: "web", Name: "get",
	}
	for i := 0; i < len(tags); i += 2 {
		s.Tags = append(s.Tags, ssf.Tag{Key: tags[i], Value: tags[i+1]})
	}
	return s
}

// spans returns n of them.
func spans(n int) []*ssf.SSFSpan {
	list := make([]*ssf.SSFSpan, n)
	for i := range list {
		list[i] = span(int64(i + 1))
	}
	return list
}

func gauge(name string, value float64, tags ...string) metric.Point {
	return metric.Point{Series: &metric.Series{Name: name, Tags: tags}, Name: name, Value: value, Type: metric.GaugePoint}
}

func batch(points ...metric.Point) *sinks.Batch {
	return &sinks.Batch{End: begin.Truncate(time.Second), Interval: 10 * time.Second, Points: points}
}
