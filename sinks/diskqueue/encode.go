package diskqueue

import (
	"encoding/binary"
	"math"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// A payload begins with its version and with what it holds. Numbers are varints, signed ones zigzag; floats are their bits, little-endian; text
// is its length and its bytes. A series is written where it is first used and after that is its number.
const (
	codecVersion = 1
	holdsBatch   = 'b'
	holdsSpans   = 's'
)

// Encoder makes payloads. It keeps memory between calls and belongs to one goroutine.
type Encoder struct {
	b      []byte
	series map[*metric.Series]uint64
}

// Batch returns b as a payload, valid until the next call. Everything is kept, bit by bit.
func (e *Encoder) Batch(b *sinks.Batch) []byte {
	if e.series == nil {
		e.series = map[*metric.Series]uint64{}
	}
	clear(e.series)
	e.begin(holdsBatch)
	e.int(b.End.UnixNano())
	e.int(int64(b.Interval))
	e.bool(b.More)
	e.count(len(b.Points))
	for i := range b.Points {
		e.point(&b.Points[i])
	}
	e.count(len(b.Distributions))
	for i := range b.Distributions {
		e.seriesOf(b.Distributions[i].Series)
		e.digest(b.Distributions[i].Digest)
	}
	e.count(len(b.Events))
	for i := range b.Events {
		e.event(&b.Events[i])
	}
	e.count(len(b.Checks))
	for i := range b.Checks {
		e.check(&b.Checks[i])
	}
	return e.b
}

// Spans returns spans as a payload, valid until the next call; each is as on the wire.
func (e *Encoder) Spans(spans []*ssf.SSFSpan) []byte {
	e.begin(holdsSpans)
	e.count(len(spans))
	for _, s := range spans {
		// The length is known only afterwards; four bytes hold any that a packet can have.
		at := len(e.b)
		e.b = append(e.b, 0, 0, 0, 0)
		e.b = ssf.AppendSpan(e.b, s)
		binary.LittleEndian.PutUint32(e.b[at:], uint32(len(e.b)-at-4))
	}
	return e.b
}

func (e *Encoder) begin(holds byte) {
	if cap(e.b) > maxKeptBuffer {
		e.b = nil
	}
	e.b = append(e.b[:0], codecVersion, holds)
}

func (e *Encoder) int(v int64) { e.b = binary.AppendVarint(e.b, v) }

func (e *Encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func (e *Encoder) count(n int) { e.uint(uint64(n)) }

func (e *Encoder) float(v float64) { e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v)) }

func (e *Encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

func (e *Encoder) text(s string) {
	e.count(len(s))
	e.b = append(e.b, s...)
}

func (e *Encoder) tags(tags []string) {
	e.count(len(tags))
	for _, tag := range tags {
		e.text(tag)
	}
}

func (e *Encoder) seriesOf(s *metric.Series) {
	n, known := e.series[s]
	if !known {
		n = uint64(len(e.series))
		e.series[s] = n
	}
	e.uint(n)
	if known {
		return
	}
	e.text(s.Name)
	e.tags(s.Tags)
	e.b = append(e.b, byte(s.Kind), byte(s.Scope))
	e.text(s.SinkOnly)
}

func (e *Encoder) point(p *metric.Point) {
	e.seriesOf(p.Series)
	e.bool(p.Name != p.Series.Name)
	if p.Name != p.Series.Name {
		e.text(p.Name)
	}
	e.float(p.Value)
	e.b = append(e.b, byte(p.Type))
	e.int(p.Time)
}

func (e *Encoder) event(v *metric.Event) {
	e.text(v.Title)
	e.text(v.Text)
	e.int(v.Time)
	e.text(v.Host)
	e.text(v.AggregationKey)
	e.text(v.Priority)
	e.text(v.AlertType)
	e.text(v.SourceType)
	e.tags(v.Tags)
	e.text(v.SinkOnly)
}

func (e *Encoder) check(c *metric.Check) {
	e.text(c.Name)
	e.b = append(e.b, byte(c.Status), byte(c.Scope))
	e.text(c.Message)
	e.int(c.Time)
	e.text(c.Host)
	e.tags(c.Tags)
	e.text(c.SinkOnly)
}
