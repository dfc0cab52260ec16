package blackhole_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/blackhole"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContract(t *testing.T) {
	sinktest.Run(t, sinktest.Case{
		Kind:   blackhole.Kind(),
		Output: func(_ testing.TB, e *sinktest.Env) []byte { return e.Stdout.Bytes() },
	})
}

func TestTakesEverythingForNothing(t *testing.T) {
	configured, err := blackhole.Kind().Configure(func(any) error { return nil })
	assert.NoError(t, err)
	metrics, err := configured.Metrics(sinks.Settings{})
	assert.NoError(t, err)
	spans, err := configured.Spans(sinks.Settings{})
	assert.NoError(t, err)
	b, s, ctx := sinktest.Batch(), sinktest.Spans(), t.Context()
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		_ = metrics.Send(ctx, b)
		_ = spans.SendSpans(ctx, s)
	}))
}
