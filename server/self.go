package server

import (
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
)

// selfLane is the lane of the daemon's own metrics. It has a table to itself, so that they stand outside the accounts of what others sent. It
// needs no lock: the flusher's goroutine fills it, right before the end of an interval, and nobody else touches it.
type selfLane struct {
	table *aggregate.Table
	start time.Time
}

func newSelfLane(table *aggregate.Table) *selfLane {
	return &selfLane{table: table, start: time.Now()}
}

// Flip starts a new generation of the table. Of what is in it no account is kept.
func (l *selfLane) Flip() int {
	l.table.Flip()
	return 0
}

// Held returns 0.
func (l *selfLane) Held() int { return 0 }

// WithLock calls f.
func (l *selfLane) WithLock(f func()) { f() }

// add takes one reading of the registry. What the series limits refuse is missing here and still on /metrics.
func (l *selfLane) add(name string, kind telemetry.Kind, value float64, tags []string) {
	sample := metric.Sample{
		Kind:   metric.Counter,
		Name:   []byte(name),
		Tags:   []byte(strings.Join(tags, ",")),
		Values: []float64{value},
		Rate:   1,
	}
	if kind == telemetry.Gauge {
		sample.Kind = metric.Gauge
	}
	l.table.Add(&sample, int64(time.Since(l.start)), aggregate.SelfListener)
}
