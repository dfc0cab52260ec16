package flush

import (
	"math"
	"strings"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/sketch/tdigest"
)

// aggregate functions of a histogram, by the suffix of the series they give. One that has no value (the harmonic mean of a histogram
// with a zero in it) says so, and the point is left out.
var aggregates = map[string]func(*tdigest.Digest) (float64, bool){
	"min":    func(d *tdigest.Digest) (float64, bool) { return d.Min(), true },
	"max":    func(d *tdigest.Digest) (float64, bool) { return d.Max(), true },
	"median": func(d *tdigest.Digest) (float64, bool) { return d.Quantile(0.5), true },
	"avg":    func(d *tdigest.Digest) (float64, bool) { return d.Mean(), true },
	"count":  func(d *tdigest.Digest) (float64, bool) { return d.Count(), true },
	"sum":    func(d *tdigest.Digest) (float64, bool) { return d.Sum(), true },
	"hmean":  (*tdigest.Digest).HMean,
}

// column is one point that every histogram gives.
type column struct {
	suffix string // ".min"
	typ    metric.PointType
	value  func(*tdigest.Digest) (float64, bool)
}

// renderer makes points of series. It belongs to the flusher.
type renderer struct {
	columns []column
	step    func()
	stock   *stock[metric.Point] // nil leaves the arrays to the collector

	// Histogram name -> its names with suffixes, so that they are built once. None is of round 0.
	names     map[string]*derivedNames
	round     uint64 // the interval at hand
	used      int    // how many of them were, in it
	mostNames int    // how many there were since the map was made
}

func newRenderer(c Config, step func()) *renderer {
	r := &renderer{step: step, stock: new(stock[metric.Point]), names: map[string]*derivedNames{}, round: 1}
	for _, name := range c.Aggregates {
		typ := metric.GaugePoint
		if name == "count" {
			typ = metric.CounterPoint
		}
		r.columns = append(r.columns, column{"." + name, typ, aggregates[name]})
	}
	for _, q := range c.Percentiles {
		r.columns = append(r.columns, column{"." + percentileSuffix(q), metric.GaugePoint, func(d *tdigest.Digest) (float64, bool) {
			return d.Quantile(q), true
		}})
	}
	return r
}

// begin starts an interval: names not used in the one before are let go.
func (r *renderer) begin() {
	if r.stock != nil {
		r.stock.begin()
	}
	looked := 0
	step := func() {
		if looked++; looked%stepPoints == 0 {
			r.step()
		}
	}
	switch {
	case r.used < r.mostNames/4:
		// A map keeps the memory of all that it ever held.
		left := make(map[string]*derivedNames, r.used)
		for name, names := range r.names {
			if names.round == r.round {
				left[name] = names
			}
			step()
		}
		r.names, r.mostNames = left, len(left)
	case r.used < len(r.names):
		for name, names := range r.names {
			if names.round != r.round {
				delete(r.names, name)
			}
			step()
		}
	}
	r.round++
	r.used = 0
}

func (r *renderer) histogramNames(name string) []string {
	names := r.names[name]
	if names == nil {
		names = &derivedNames{list: make([]string, len(r.columns))}
		for i := range r.columns {
			names.list[i] = name + r.columns[i].suffix
		}
		r.names[name] = names
		r.mostNames = max(r.mostNames, len(r.names))
	}
	if names.round != r.round {
		names.round = r.round
		r.used++
	}
	return names.list
}

// derivedNames are those of a histogram's points.
type derivedNames struct {
	list  []string // one a column
	round uint64   // the interval in which they were last used
}

// rendered is the points of an interval, those left out because a point of another type had their name and tags, and those that gave way.
type rendered struct {
	list    pieces[metric.Point]
	left    aggregate.List[metric.Point]
	gaveWay aggregate.List[metric.Point] // gauges whose value gave way to that of another series
}

// lease returns one of arrays for points, or nil.
func (r *renderer) lease() *lease[metric.Point] {
	if r.stock == nil {
		return nil
	}
	return newLease(r.stock)
}

// render makes the points of an interval, with a lease that the caller holds. Where emit is set, it says which columns of a histogram are wanted.
func (r *renderer) render(iv *aggregate.Interval, emit func(s *metric.Series, column int) bool) rendered {
	meet := meeting{}
	meet.list.lease = r.lease()
	meet.list.room = iv.Counters.Len() + iv.Gauges.Len() + iv.Sets.Len() + len(r.columns)*iv.Histograms.Len() + iv.Timed.Len()
	for s := range iv.Counters.Paced(stepPoints, r.step) {
		meet.add(s.Series, s.Series.Name, s.Value, metric.CounterPoint, s.Contested)
	}
	for s := range iv.Gauges.Paced(stepPoints, r.step) {
		meet.add(s.Series, s.Series.Name, s.Value, metric.GaugePoint, s.Contested)
	}
	for s := range iv.Sets.Paced(stepSketches, r.step) {
		meet.add(s.Series, s.Series.Name, float64(s.Sketch.Estimate()), metric.GaugePoint, s.Contested)
	}
	for s := range iv.Histograms.Paced(stepSketches, r.step) {
		r.histogram(&meet, s, emit)
	}
	for p := range iv.Timed.Paced(stepPoints, r.step) {
		meet.list.add(*p)
	}
	return meet.rendered
}

// histogram makes the points of one histogram.
func (r *renderer) histogram(meet *meeting, s *aggregate.HistogramState, emit func(s *metric.Series, column int) bool) {
	names := r.histogramNames(s.Series.Name)
	for j := range r.columns {
		if emit != nil && !emit(s.Series, j) {
			continue
		}
		if value, ok := r.columns[j].value(s.Digest); ok {
			meet.add(s.Series, names[j], value, r.columns[j].typ, s.Contested)
		}
	}
}

// meeting collects points and settles what happens where two have one name and one tag set. Only series that the interner marked can
// meet, so the others cost nothing.
type meeting struct {
	rendered
	seen map[string]int // index in list of each contested point
}

func (m *meeting) add(series *metric.Series, name string, value float64, typ metric.PointType, contested bool) {
	if contested {
		m.settle(metric.Point{Series: series, Name: name, Value: value, Type: typ})
		return
	}
	p := m.list.next()
	p.Series, p.Name, p.Value, p.Type = series, name, value, typ
}

func (m *meeting) settle(p metric.Point) {
	key := p.Name + "\x00" + p.Series.SinkOnly + "\x00" + strings.Join(p.Series.Tags, "\x00")
	i, met := m.seen[key]
	if !met {
		if m.seen == nil {
			m.seen = map[string]int{}
		}
		m.seen[key] = m.list.len()
		m.list.add(p)
		return
	}
	switch first := m.list.at(i); {
	case first.Type != p.Type:
		m.left.Push(p)
	default:
		if p.Type == metric.GaugePoint {
			m.gaveWay.Push(*first)
		}
		first.Value = fold(p.Type, first.Value, p.Value)
	}
}

// fold is the value of two points of one name, tag set and type, of which b is the later: counters add up, of gauges the last stands.
func fold(typ metric.PointType, a, b float64) float64 {
	if typ == metric.GaugePoint {
		return b
	}
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a+b))
}
