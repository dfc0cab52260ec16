package ingest

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/ssf"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// exactAllocs says that this build allocates only what the program asks for.
const exactAllocs = !raceEnabled && !invariants.Enabled

// patience is how long a test waits for what should take no time at all, on a machine that does much else.
const patience = time.Minute

// rig is an Ingest at work, on real sockets.
type rig struct {
	t         testing.TB
	in        *Ingest
	reg       *telemetry.Registry
	spans     *spanRecorder
	collector *aggregate.Collector
	cancel    context.CancelFunc
	done      chan error
	log       *syncBuffer
}

// statsd, ssfAt and grpcAt are configurations with one listener.
func statsd(address string) Config {
	return configured(func(c *Config) { c.StatsdListenAddresses = []Listener{NewListener(address)} })
}

func ssfAt(address string) Config {
	return configured(func(c *Config) { c.SSFListenAddresses = []Listener{NewListener(address)} })
}

func grpcAt(address string) Config {
	return configured(func(c *Config) { c.GRPCListenAddresses = []Listener{NewListener(address)} })
}

func configured(change func(*Config)) Config {
	c := DefaultConfig()
	change(&c)
	return c
}

// build makes an Ingest without starting it.
func build(t testing.TB, c Config) *rig {
	t.Helper()
	limits := aggregate.DefaultConfig()
	limits.MaxEvents, limits.MaxEventBytes, limits.MaxTimedPoints = 1<<20, 1<<30, 1<<30 // only tests of these meet them
	return buildWithin(t, c, limits)
}

func buildWithin(t testing.TB, c Config, limits aggregate.Config) *rig {
	t.Helper()
	require.NoError(t, c.Validate())
	r := &rig{t: t, reg: telemetry.New(), spans: &spanRecorder{}, log: &syncBuffer{}, done: make(chan error, 1)}
	logger := logrus.New()
	logger.SetOutput(r.log)
	limits.ExtendTags = []string{"added:yes"}
	interner := aggregate.NewInterner(aggregate.Settings{Config: limits, Telemetry: r.reg, Log: logger})
	var err error
	r.in, err = New(Settings{Config: c, ExtendTags: limits.ExtendTags, Interner: interner, Spans: r.spans, Telemetry: r.reg, Log: logger})
	require.NoError(t, err)
	var tables []*aggregate.Table
	for _, lane := range r.in.Lanes() {
		tables = append(tables, lane.Table())
	}
	r.collector = aggregate.NewCollector(interner, tables)
	return r
}

// start binds and runs an Ingest until the test ends. change may alter what no configuration reaches.
func start(t *testing.T, c Config, change ...func(*binding)) *rig {
	t.Helper()
	r := build(t, c)
	for _, b := range r.in.bindings {
		for _, f := range change {
			f(b)
		}
	}
	r.run()
	return r
}

// run binds and runs what build made until the test ends.
func (r *rig) run() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	ready := make(chan struct{})
	group := lifecycle.New(logrus.New())
	group.Stage("listeners", patience, r.in.Runners()...)
	group.OnReady(func() { close(ready) })
	go func() { r.done <- group.Run(ctx) }()
	r.t.Cleanup(func() { r.stop() })
	select {
	case <-ready:
	case err := <-r.done:
		r.done <- err
		require.NoError(r.t, err, "start")
	}
}

// stop ends the Ingest as a signal would, and returns when it has ended.
func (r *rig) stop() {
	r.t.Helper()
	r.cancel()
	select {
	case err := <-r.done:
		r.done <- err
		require.NoError(r.t, err)
	case <-time.After(patience):
		require.Fail(r.t, "did not stop")
	}
}

// addr returns what to dial for the n-th listener.
func (r *rig) addr(n int) (network, address string) {
	a := r.in.Addrs()[n].Addr
	return a.Network(), a.String()
}

// dial connects to the n-th listener.
func (r *rig) dial(n int) net.Conn {
	r.t.Helper()
	network, address := r.addr(n)
	conn, err := net.Dial(network, address)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// send dials the n-th listener and writes each text by one call.
func (r *rig) send(n int, texts ...string) net.Conn {
	r.t.Helper()
	conn := r.dial(n)
	for _, text := range texts {
		write(r.t, conn, text)
	}
	return conn
}

func write(t testing.TB, w io.Writer, text string) {
	t.Helper()
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
}

// wait waits until a self metric has at least the value.
func (r *rig) wait(value float64, name string, tags ...string) {
	r.t.Helper()
	if !reached(func() bool { return r.reg.Value(name, tags...) >= value }) {
		require.Failf(r.t, "waited in vain", "%s %v is %v, not %v", name, tags, r.reg.Value(name, tags...), value)
	}
}

func eventually(t testing.TB, f func() bool, message string, args ...any) {
	t.Helper()
	if !reached(f) {
		require.Failf(t, "waited in vain", message, args...)
	}
}

// reached asks again and again, ever more seldom, so that a busy machine is not kept busy by the asking.
func reached(f func() bool) bool {
	deadline := time.After(patience)
	for pause := 100 * time.Microsecond; !f(); pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-deadline:
			return f()
		}
	}
	return true
}

func (r *rig) requireValue(value float64, name string, tags ...string) {
	r.t.Helper()
	require.Equal(r.t, value, r.reg.Value(name, tags...), "%s %v", name, tags)
}

// requireLaws asserts that what arrived is accounted for.
func (r *rig) requireLaws() {
	r.t.Helper()
	v := r.reg.Value
	require.Equal(r.t, v("ingest.lines"),
		v("ingest.metric_lines")+v("ingest.events")+v("ingest.checks")+v("ingest.refused", "protocol:dogstatsd"), "lines")
	require.Equal(r.t, v("ingest.samples"), v("ingest.outcomes", "origin:dogstatsd"), "samples")
	require.Equal(r.t, v("ingest.span_samples"), v("ingest.outcomes", "origin:ssf"), "span samples")
	require.Equal(r.t, v("ingest.derived_samples"), v("ingest.outcomes", "origin:derived"), "derived samples")
}

// spanRecorder is a SpanSink.
type spanRecorder struct {
	mu  sync.Mutex
	got []*ssf.SSFSpan
}

func (*spanRecorder) Wants() bool { return true }

func (s *spanRecorder) OfferSpan(span *ssf.SSFSpan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, span)
}

func (s *spanRecorder) spans() []*ssf.SSFSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

// syncBuffer keeps a log.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// interval is what the lanes held.
type interval struct {
	values map[string]float64 // counters and gauges by name and tags: "a{k:v}"
	counts map[string]float64 // histograms' weighted counts, and sizes of sets
	events []metric.Event
	checks []metric.Check
}

// flush collects what the lanes hold.
func (r *rig) flush() interval {
	for _, lane := range r.in.Lanes() {
		lane.Flip()
	}
	iv := r.collector.Collect()
	defer r.collector.Release(iv)
	got := interval{values: map[string]float64{}, counts: map[string]float64{}}
	for c := range iv.Counters.All() {
		got.values[key(c.Series)] = c.Value
	}
	for g := range iv.Gauges.All() {
		got.values[key(g.Series)] = g.Value
	}
	for h := range iv.Histograms.All() {
		got.counts[key(h.Series)] = h.Digest.Count()
	}
	for s := range iv.Sets.All() {
		got.counts[key(s.Series)] = float64(s.Sketch.Estimate())
	}
	for page := range iv.Events.Pages() {
		got.events = append(got.events, page...)
	}
	for page := range iv.Checks.Pages() {
		got.checks = append(got.checks, page...)
	}
	return got
}

// key writes a series without the tag that all of them are given.
func key(s *metric.Series) string {
	var tags []string
	for _, tag := range s.Tags {
		if tag != "added:yes" {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return s.Name
	}
	return s.Name + "{" + strings.Join(tags, ",") + "}"
}
