package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

const (
	interval = 10 * time.Second
	drain    = 5 * time.Second
)

// rig is one delivery with what surrounds it.
type rig struct {
	t   *testing.T
	rec *sinktest.Recorder
	reg *telemetry.Registry
	log *logtest.Hook
	set delivery.Settings
	*delivery.Delivery
}

// newRig wraps sink, or a new Recorder when that is nil.
func newRig(t *testing.T, sink sinks.MetricSink, change func(*delivery.Config)) *rig {
	t.Helper()
	r := newSettings(t)
	if sink == nil {
		sink = r.rec
	}
	cfg := delivery.DefaultConfig()
	if change != nil {
		change(&cfg)
	}
	require.NoError(t, cfg.Validate())
	r.Delivery = delivery.New(sink, cfg, r.set)
	return r
}

func newSettings(t *testing.T) *rig {
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	reg := telemetry.New()
	return &rig{
		t: t, rec: &sinktest.Recorder{}, reg: reg, log: hook,
		set: delivery.Settings{Name: "out", Interval: interval, Log: log, Telemetry: reg, DrainTimeout: drain},
	}
}

// run runs what has a Run, in the background; the function it returns asks it to stop and waits until it has, and says for how long.
func run(t *testing.T, r interface{ Run(context.Context) error }) (stop func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() time.Duration {
		start := time.Now()
		cancel()
		require.NoError(t, <-done)
		return time.Since(start)
	}
}

// batch returns one interval of n counters, all of value.
func batch(n int, value float64) *sinks.Batch {
	b := &sinks.Batch{End: time.Now().Truncate(time.Second), Interval: interval}
	for range n {
		b.Points = append(b.Points, sinktest.Point(metric.CounterPoint, "x", value))
	}
	return b
}

// values returns the values of the points that the recorder took, runs of one value once.
func (r *rig) values() []float64 {
	var values []float64
	for _, p := range r.rec.Points() {
		if len(values) == 0 || values[len(values)-1] != p.Value {
			values = append(values, p.Value)
		}
	}
	return values
}

// lawful asserts the law, and that the telemetry says the same as the ledger.
func (r *rig) lawful() delivery.Ledger {
	r.t.Helper()
	l := r.Ledger()
	require.Equal(r.t, l.Offered, l.Sum(), "%+v", l)
	return l
}

// settled is lawful for a delivery that has nothing left to do.
func (r *rig) settled(want delivery.Ledger) {
	r.t.Helper()
	want.Offered = want.Sum()
	require.Equal(r.t, want, r.lawful())
}

// logged says whether a message was logged, and with which fields.
func (r *rig) logged(message string) (logrus.Fields, bool) {
	for _, e := range r.log.AllEntries() {
		if e.Message == message {
			return e.Data, true
		}
	}
	return nil, false
}
