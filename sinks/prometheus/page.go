package prometheus

import dto "github.com/prometheus/client_model/go"

// page is the state of a board after an interval. It never changes, so scrapes need no lock, and what is slow to write holds up nobody. Each
// form of it is encoded once, when first asked for, however many ask.
type page struct {
	percentiles []float64
	open        bool           // there may be exemplars, which the old text format has no place for and OpenMetrics does
	samples     blocks[sample] // by family and labels
	round       uint32         // the interval that it shows
	bodies      [numForms]body
}

// sample is a series and the value that it had.
type sample struct {
	*series
	value value
}

// page copies what the board holds.
func (b *board) page() *page {
	// OpenMetrics has no native histograms of floats, and who can read those asks for protobuf, which has exemplars too.
	open := b.exemplars && b.digests != dto.MetricType_HISTOGRAM
	p := &page{percentiles: b.percentiles, open: open, round: b.moment.round - 1}
	for f := range b.families.all() {
		for k := range f.series.all() {
			p.samples.add(sample{k, k.value})
			b.step(p.samples.n)
		}
	}
	return p
}

// familyEnd returns where the family ends that begins at from.
func (p *page) familyEnd(from int) int {
	f := p.samples.at(from).family
	to := from + 1
	for to < p.samples.n && p.samples.at(to).family == f {
		to++
	}
	return to
}
