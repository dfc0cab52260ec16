package localfile

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// encoder appends one line.
type encoder interface {
	point(dst []byte, p *metric.Point, b *sinks.Batch) []byte
	event(dst []byte, e *metric.Event) []byte
	check(dst []byte, c *metric.Check) []byte
	span(dst []byte, s *ssf.SSFSpan) []byte
}

func pointTime(p *metric.Point, b *sinks.Batch) int64 {
	if p.Time != 0 {
		return p.Time
	}
	return b.End.Unix()
}
