package prometheus

import (
	"math"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/veneurd/veneur/internal/pace"
)

// How much of a family is made into messages at once.
const (
	maxPiece       = 256  // series
	maxPieceLabels = 2048 // labels, unless one series has more
)

// messages makes what the encoders take of samples, a piece of a family at a time, in memory that serves every piece. What it returns is valid
// until the next piece.
type messages struct {
	percentiles []float64
	pacer       pace.Pacer

	family     dto.MetricFamily
	metrics    []dto.Metric
	list       []*dto.Metric
	counters   []dto.Counter
	gauges     []dto.Gauge
	summaries  []dto.Summary
	histograms []dto.Histogram
	created    []timestamppb.Timestamp

	labels    []dto.LabelPair
	labelList []*dto.LabelPair
	texts     []string // name and value of each

	counts       []uint64
	quantiles    []dto.Quantile
	quantileList []*dto.Quantile
}

// piece returns the family that begins with the sample from as far as a piece goes, to the sample to at most, and where it ends.
func (m *messages) piece(p *page, from, to int) (*dto.MetricFamily, int) {
	m.pacer.Step()
	f := p.samples.at(from).family
	labels, end := 0, from
	for end < to && end-from < maxPiece {
		n := countLabels(p.samples.at(end).labels)
		if end > from && labels+n > maxPieceLabels {
			break
		}
		labels += n
		end++
	}
	n := end - from
	// All at once, since what is made points into them.
	m.metrics, m.list = sized(m.metrics, n), sized(m.list, n)
	m.labels, m.labelList, m.texts = sized(m.labels, labels), sized(m.labelList, labels), sized(m.texts, 2*labels)
	m.created = sized(m.created, n)
	switch f.typ {
	case dto.MetricType_COUNTER:
		m.counters = sized(m.counters, n)
	case dto.MetricType_GAUGE:
		m.gauges = sized(m.gauges, n)
	case dto.MetricType_SUMMARY:
		m.summaries, m.counts = sized(m.summaries, n), sized(m.counts, n)
		m.quantiles, m.quantileList = sized(m.quantiles, n*len(m.percentiles)), sized(m.quantileList, n*len(m.percentiles))
	case dto.MetricType_HISTOGRAM:
		m.histograms = sized(m.histograms, n)
	}
	next := 0
	for i := range n {
		s := p.samples.at(from + i)
		metric := &m.metrics[i]
		m.list[i] = metric
		first := next
		for name, value := range eachLabel(s.labels) {
			text := m.texts[2*next : 2*next+2]
			text[0], text[1] = name, value
			l := &m.labels[next]
			l.Name, l.Value = &text[0], &text[1]
			m.labelList[next] = l
			next++
		}
		metric.Label = m.labelList[first:next:next]
		metric.Counter, metric.Gauge, metric.Summary, metric.Histogram = nil, nil, nil, nil
		m.created[i].Seconds, m.created[i].Nanos = s.created/1e9, int32(s.created%1e9)
		m.value(i, f.typ, s)
	}
	m.family.Name, m.family.Help, m.family.Type, m.family.Metric = &f.name, &f.help, &f.typ, m.list
	return &m.family, end
}

// value gives the metric at i its value.
func (m *messages) value(i int, typ dto.MetricType, s *sample) {
	metric, created := &m.metrics[i], &m.created[i]
	switch typ {
	case dto.MetricType_COUNTER:
		c := &m.counters[i]
		c.Value, c.CreatedTimestamp, c.Exemplar = &s.value.number, created, nil
		if x, ok := s.value.detail.(*exemplar); ok {
			c.Exemplar = x.message()
		}
		metric.Counter = c
	case dto.MetricType_GAUGE:
		m.gauges[i].Value = &s.value.number
		metric.Gauge = &m.gauges[i]
	case dto.MetricType_SUMMARY:
		m.summary(i, s.value.detail.(*summary))
		m.summaries[i].CreatedTimestamp = created
		metric.Summary = &m.summaries[i]
	case dto.MetricType_HISTOGRAM:
		h := &m.histograms[i]
		s.value.detail.(*histogram).fill(h)
		h.CreatedTimestamp = created
		metric.Histogram = h
	}
}

// summary writes a summary into its message. A summary counts in whole numbers, and a sample rate of 0.3 gives others: they are rounded here
// and nowhere before.
func (m *messages) summary(i int, s *summary) {
	m.counts[i] = wholeCount(s.count)
	first := i * len(m.percentiles)
	for j := range m.percentiles {
		q := &m.quantiles[first+j]
		q.Quantile, q.Value = &m.percentiles[j], &s.quantiles[j]
		m.quantileList[first+j] = q
	}
	to := &m.summaries[i]
	to.SampleCount, to.SampleSum = &m.counts[i], &s.sum
	to.Quantile = m.quantileList[first : first+len(m.percentiles) : first+len(m.percentiles)]
}

// message returns the exemplar as the encoders take it.
func (x *exemplar) message() *dto.Exemplar {
	name, trace := "trace_id", strconv.FormatInt(x.trace, 10)
	m := &dto.Exemplar{Label: []*dto.LabelPair{{Name: &name, Value: &trace}}, Value: &x.value}
	if x.time > 0 {
		m.Timestamp = &timestamppb.Timestamp{Seconds: x.time}
	}
	return m
}

// wholeCount rounds a count.
func wholeCount(v float64) uint64 {
	if v >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(math.Round(v))
}

// sized returns a slice of n, with what it held before as long as it is large enough.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
