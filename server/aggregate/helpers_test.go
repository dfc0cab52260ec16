package aggregate

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

// daemon is an interner with its tables and collector.
type daemon struct {
	tb        testing.TB
	in        *Interner
	tables    []*Table
	c         *Collector
	telemetry *telemetry.Registry
	parser    dogstatsd.Parser
	batch     dogstatsd.Batch
	outcomes  [dogstatsd.BatchLen]Outcome
	stamp     int64
}

func newDaemon(tb testing.TB, lanes int, change ...func(*Config)) *daemon {
	tb.Helper()
	config := DefaultConfig()
	for _, f := range change {
		f(&config)
	}
	require.NoError(tb, config.Validate())
	log := logrus.New()
	log.SetOutput(io.Discard)
	d := &daemon{tb: tb, telemetry: telemetry.New()}
	d.in = NewInterner(Settings{Config: config, Telemetry: d.telemetry, Log: log})
	for range lanes {
		d.tables = append(d.tables, d.in.NewTable())
	}
	d.c = NewCollector(d.in, d.tables)
	return d
}

// add parses lines and adds them to lane 0 as one receive call. It returns the last outcome.
func (d *daemon) add(lines string) Outcome { return d.addTo(0, lines) }

func (d *daemon) addTo(lane int, lines string) Outcome {
	d.stamp += 1e6 // longer than one call has lines
	return d.addAt(lane, d.stamp, lines)
}

// addAt takes the way of ingest.
func (d *daemon) addAt(lane int, stamp int64, lines string) (last Outcome) {
	d.tb.Helper()
	d.parser.Reset([]byte(lines), 1_700_000_000)
	for {
		line := d.parser.Fill(&d.batch)
		require.Nil(d.tb, line)
		full := d.batch.Full()
		if outcomes := d.addBatch(d.tables[lane], stamp, uint16(lane)); len(outcomes) > 0 {
			last = outcomes[len(outcomes)-1]
			stamp += int64(len(outcomes))
		}
		if !full {
			return last
		}
	}
}

// addBatch adds what is in the batch and empties it.
func (d *daemon) addBatch(table *Table, stamp int64, listener uint16) []Outcome {
	samples := d.batch.Samples()
	outcomes := d.outcomes[:len(samples)]
	table.AddBatch(samples, outcomes, stamp, listener)
	d.batch.Reset()
	return outcomes
}

func (d *daemon) collect() *Interval {
	for _, t := range d.tables {
		t.Flip()
	}
	return d.c.Collect()
}

// end ends an interval nobody looks at.
func (d *daemon) end() {
	d.c.Release(d.collect())
	d.expire()
}

func (d *daemon) expire() { d.c.Expire(func(_ int, f func()) { f() }) }

// flush ends an interval and returns what it said, by series; a histogram gives a few of its aggregates.
func (d *daemon) flush() map[string]float64 {
	iv := d.collect()
	d.c.MergeScopes(iv)
	got := values(iv)
	d.c.Release(iv)
	d.expire()
	return got
}

func values(iv *Interval) map[string]float64 {
	got := map[string]float64{}
	put := func(s *metric.Series, suffix string, v float64) {
		key := label(s, suffix)
		if _, ok := got[key]; ok {
			panic(key + " stands there twice")
		}
		got[key] = v
	}
	for s := range iv.Counters.All() {
		put(s.Series, "", s.Value)
	}
	for s := range iv.Gauges.All() {
		put(s.Series, "", s.Value)
	}
	for h := range iv.Histograms.All() {
		s, d := h.Series, h.Digest
		put(s, ".count", d.Count())
		put(s, ".sum", d.Sum())
		put(s, ".min", d.Min())
		put(s, ".max", d.Max())
	}
	for s := range iv.Sets.All() {
		put(s.Series, ".size", float64(s.Sketch.Estimate()))
	}
	return got
}

// label writes a series as in "name.suffix|c|local|#a,b".
func label(s *metric.Series, suffix string) string {
	b := s.Name + suffix + "|" + map[metric.Kind]string{metric.Counter: "c", metric.Gauge: "g", metric.Histogram: "h", metric.Set: "s"}[s.Kind.Class()]
	if s.Scope != metric.Mixed {
		b += "|" + s.Scope.String()
	}
	if s.SinkOnly != "" {
		b += "|only " + s.SinkOnly
	}
	if len(s.Tags) > 0 {
		b += "|#" + strings.Join(s.Tags, ",")
	}
	return b
}

func names(iv *Interval) []string {
	var all []string
	for s := range iv.Counters.All() {
		all = append(all, label(s.Series, ""))
	}
	for s := range iv.Gauges.All() {
		all = append(all, label(s.Series, ""))
	}
	for s := range iv.Histograms.All() {
		all = append(all, label(s.Series, ""))
	}
	for s := range iv.Sets.All() {
		all = append(all, label(s.Series, ""))
	}
	slices.Sort(all)
	return all
}

const most = math.MaxFloat64

// items returns what a list holds.
func items[T any](l *List[T]) (all []T) {
	for page := range l.Pages() {
		all = append(all, page...)
	}
	return all
}
