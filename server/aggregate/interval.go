package aggregate

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/tdigest"
)

// Interval is what the samples of one interval say, one state a series. States stand in the order in which their series were first seen in
// it, lane by lane.
//
// It is read-only but for MergeScopes, and valid until it is given to Release. Series, Timed, Events and Checks may be kept beyond that.
type Interval struct {
	Counters   List[CounterState]
	Gauges     List[GaugeState]
	Histograms List[HistogramState]
	Sets       List[SetState]
	Timed      List[metric.Point] // samples with a time of their own; of a lane in the order of arrival
	Events     List[metric.Event]
	Checks     List[metric.Check]

	ForAll bool // no series names a sink; when it is false, some may
	scoped bool // some state is marked so
}

// CounterState is the total of a counter.
type CounterState struct {
	Series *metric.Series
	Value  float64 // finite
	rest   float64 // what rounding took off Value: see sum
	id     uint32
	// Contested says that a point made of the state may get the whole name, type aside, of another series' point, if their tags are
	// equal too.
	Contested bool
	scoped    bool // its name has series of several scopes
}

// GaugeState is the last value of a gauge.
type GaugeState struct {
	Series    *metric.Series
	Value     float64 // finite
	Stamp     int64   // when it was received, on the clock of Table.Add's stamps
	id        uint32
	Contested bool // see CounterState
	scoped    bool
	relative  bool
}

// HistogramState is the digest of a histogram.
type HistogramState struct {
	Series    *metric.Series
	Digest    *tdigest.Digest // not empty
	id        uint32
	Contested bool // see CounterState
	scoped    bool
}

// SetState is the sketch of a set.
type SetState struct {
	Series    *metric.Series
	Sketch    *hll.Sketch // not empty
	id        uint32
	Contested bool // see CounterState
	scoped    bool
}
