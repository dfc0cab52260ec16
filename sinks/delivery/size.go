package delivery

import (
	"unsafe"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// What items hold in memory, beside their texts and what their lists hold. A point is counted with its series, as if no other had the same;
// so what is said is too much rather than too little.
const (
	pointBytes  = int(unsafe.Sizeof(metric.Point{}) + unsafe.Sizeof(metric.Series{}))
	digestBytes = int(unsafe.Sizeof(metric.DigestPoint{}) + unsafe.Sizeof(metric.Series{}))
	eventBytes  = int(unsafe.Sizeof(metric.Event{}))
	checkBytes  = int(unsafe.Sizeof(metric.Check{}))
	tagBytes    = int(unsafe.Sizeof(""))

	spanBytes    = int(unsafe.Sizeof(ssf.SSFSpan{}) + unsafe.Sizeof(&ssf.SSFSpan{}))
	sampleBytes  = int(unsafe.Sizeof(ssf.SSFSample{}))
	spanTagBytes = int(unsafe.Sizeof(ssf.Tag{}))
)

func pointSize(p *metric.Point) int {
	return pointBytes + len(p.Name) + tagsSize(p.Series.Tags)
}

func digestSize(d *metric.DigestPoint) int {
	return digestBytes + d.Digest.Size() + len(d.Series.Name) + tagsSize(d.Series.Tags)
}

func eventSize(e *metric.Event) int {
	return eventBytes + len(e.Title) + len(e.Text) + len(e.Host) + len(e.AggregationKey) + len(e.SourceType) + tagsSize(e.Tags)
}

func checkSize(c *metric.Check) int {
	return checkBytes + len(c.Name) + len(c.Message) + len(c.Host) + tagsSize(c.Tags)
}

func tagsSize(tags []string) int {
	n := len(tags) * tagBytes
	for _, tag := range tags {
		n += len(tag)
	}
	return n
}

// spanSize is of a span as Clone makes it. It is many times the size on the wire when its samples or tags are empty: those have two bytes
// there.
func spanSize(s *ssf.SSFSpan) int {
	n := spanBytes + len(s.Service) + len(s.Name) + spanTagsSize(s.Tags) + len(s.Metrics)*sampleBytes
	for i := range s.Metrics {
		m := &s.Metrics[i]
		n += len(m.Name) + len(m.Message) + len(m.Unit) + spanTagsSize(m.Tags)
	}
	return n
}

func spanTagsSize(tags []ssf.Tag) int {
	n := len(tags) * spanTagBytes
	for i := range tags {
		n += len(tags[i].Key) + len(tags[i].Value)
	}
	return n
}
