package prometheus

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"sync"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// page is the state of a board after an interval. It never changes, so scrapes need no lock, and what is slow to write holds up nobody. Each
// form of it is encoded once, when first asked for, however many ask.
type page struct {
	percentiles []float64
	exemplars   bool // there may be some, which the old text format has no place for
	families    []pageFamily
	bodies      [numForms]body
}

type pageFamily struct {
	name, help string
	typ        dto.MetricType
	samples    []sample
}

type sample struct {
	labels  []*dto.LabelPair
	created *timestamppb.Timestamp
	value   value
}

// body is the page in one form.
type body struct {
	once  sync.Once
	bytes []byte
	err   error
}

// form is an encoding of the page: a format, and the same compressed.
type form int

const (
	textForm form = iota
	textGzipForm
	protoForm
	protoGzipForm
	openForm
	openGzipForm
	numForms
)

func (f form) format() expfmt.Format {
	switch f {
	case protoForm, protoGzipForm:
		return expfmt.FmtProtoDelim
	case openForm, openGzipForm:
		return expfmt.FmtOpenMetrics_1_0_0
	}
	return expfmt.FmtText
}

func (f form) compressed() bool { return f == textGzipForm || f == protoGzipForm || f == openGzipForm }

// page copies what the board holds.
func (b *board) page() *page {
	p := &page{percentiles: b.percentiles, exemplars: b.exemplars, families: make([]pageFamily, 0, len(b.families))}
	samples := make([]sample, 0, b.lines)
	for _, f := range b.sorted() {
		first := len(samples)
		for _, k := range f.sorted() {
			samples = append(samples, sample{k.labels, k.created, k.value})
		}
		p.families = append(p.families, pageFamily{f.name, f.help, f.typ, samples[first:len(samples):len(samples)]})
	}
	return p
}

// encoded returns the page in one form, which is shared and must not be changed.
func (p *page) encoded(f form) ([]byte, error) {
	b := &p.bodies[f]
	b.once.Do(func() {
		var buf bytes.Buffer
		b.err = p.encode(&buf, f)
		b.bytes = buf.Bytes()
	})
	return b.bytes, b.err
}

func (p *page) encode(w io.Writer, f form) error {
	if f.compressed() {
		z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
		if err != nil {
			return err
		}
		if err := p.encodeFamilies(z, f.format()); err != nil {
			return err
		}
		return z.Close()
	}
	return p.encodeFamilies(w, f.format())
}

func (p *page) encodeFamilies(w io.Writer, format expfmt.Format) error {
	// Every name is one that needs no escaping; said so, no family is looked through for others.
	enc := expfmt.NewEncoder(w, format+"; escaping=allow-utf-8")
	for i := range p.families {
		if err := enc.Encode(p.families[i].message(p.percentiles)); err != nil {
			return err
		}
	}
	if end, ok := enc.(expfmt.Closer); ok {
		return end.Close() // OpenMetrics has a last line
	}
	return nil
}

// message returns the family as the encoders take it. It points into the page.
func (f *pageFamily) message(percentiles []float64) *dto.MetricFamily {
	n := len(f.samples)
	metrics := make([]dto.Metric, n)
	m := &dto.MetricFamily{Name: &f.name, Help: &f.help, Type: &f.typ, Metric: make([]*dto.Metric, n)}
	for i := range metrics {
		metrics[i].Label = f.samples[i].labels
		m.Metric[i] = &metrics[i]
	}
	switch f.typ {
	case dto.MetricType_COUNTER:
		counters := make([]dto.Counter, n)
		for i := range counters {
			counters[i].Value, counters[i].CreatedTimestamp = &f.samples[i].value.number, f.samples[i].created
			counters[i].Exemplar = f.samples[i].value.exemplar
			metrics[i].Counter = &counters[i]
		}
	case dto.MetricType_GAUGE:
		gauges := make([]dto.Gauge, n)
		for i := range gauges {
			gauges[i].Value = &f.samples[i].value.number
			metrics[i].Gauge = &gauges[i]
		}
	case dto.MetricType_SUMMARY:
		summaries := make([]dto.Summary, n)
		for i := range summaries {
			f.samples[i].value.summary.fill(&summaries[i], percentiles)
			summaries[i].CreatedTimestamp = f.samples[i].created
			metrics[i].Summary = &summaries[i]
		}
	case dto.MetricType_HISTOGRAM:
		histograms := make([]dto.Histogram, n)
		for i := range histograms {
			f.samples[i].value.histogram.fill(&histograms[i])
			histograms[i].CreatedTimestamp = f.samples[i].created
			metrics[i].Histogram = &histograms[i]
		}
	}
	return m
}

// fill writes the summary into its message. A summary counts in whole numbers, and a sample rate of 0.3 gives others: they are rounded here
// and nowhere before.
func (s *summary) fill(m *dto.Summary, percentiles []float64) {
	count := wholeCount(s.count)
	m.SampleCount, m.SampleSum = &count, &s.sum
	quantiles := make([]dto.Quantile, len(percentiles))
	m.Quantile = make([]*dto.Quantile, len(percentiles))
	for i := range quantiles {
		quantiles[i].Quantile, quantiles[i].Value = &percentiles[i], &s.quantiles[i]
		m.Quantile[i] = &quantiles[i]
	}
}

// wholeCount rounds a count.
func wholeCount(v float64) uint64 {
	if v >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(math.Round(v))
}
