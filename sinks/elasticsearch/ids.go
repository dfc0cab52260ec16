package elasticsearch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// ids makes the _id of documents, equal for what is equal: what is sent again then meets itself and is answered by 409. The id of a span
// is its 24 bytes of trace, span and start themselves; all others are the first 128 bits of a SHA-256 over the parts, each behind its
// length. Both are written in base64 for URLs, without padding.
type ids struct {
	host  string
	short bool   // intervals are shorter than the seconds that tell them apart
	text  []byte // what is hashed
}

const hashBytes = 16

// appendSpan appends the id of a span.
func (*ids) appendSpan(dst []byte, s *ssf.SSFSpan) []byte {
	var b [24]byte
	binary.BigEndian.PutUint64(b[:], uint64(s.TraceId))
	binary.BigEndian.PutUint64(b[8:], uint64(s.Id))
	binary.BigEndian.PutUint64(b[16:], uint64(s.StartTimestamp))
	return base64.RawURLEncoding.AppendEncode(dst, b[:])
}

// appendSample appends the id of the i-th sample of a span.
func (d *ids) appendSample(dst []byte, s *ssf.SSFSpan, i int) []byte {
	d.begin('s')
	d.number(s.TraceId)
	d.number(s.Id)
	d.number(s.StartTimestamp)
	d.number(int64(i))
	d.string(s.Metrics[i].Name)
	return d.end(dst)
}

// appendPoint appends the id of a point, or nothing where two points may be alike in all that could tell them apart: a counter with a time of
// its own may come twice in an interval, and intervals of less than a second end within the same one.
func (d *ids) appendPoint(dst []byte, p *metric.Point, end time.Time) []byte {
	if d.short || p.Time != 0 && p.Type == metric.CounterPoint {
		return dst
	}
	d.begin('p')
	d.string(p.Name)
	d.number(int64(p.Type))
	d.list(p.Series.Tags)
	d.string(d.host)
	d.number(end.Unix())
	if p.Time != 0 {
		d.number(p.Time) // gauges of one time are told apart by their interval and value
		d.number(int64(math.Float64bits(p.Value)))
	}
	return d.end(dst)
}

// appendDigest appends the id of a distribution, or nothing, as appendPoint.
func (d *ids) appendDigest(dst []byte, p *metric.DigestPoint, end time.Time) []byte {
	if d.short {
		return dst
	}
	d.begin('d')
	d.string(p.Series.Name)
	d.list(p.Series.Tags)
	d.string(d.host)
	d.number(end.Unix())
	return d.end(dst)
}

// appendEvent appends the id of an event: all of it.
func (d *ids) appendEvent(dst []byte, e *metric.Event) []byte {
	d.begin('e')
	d.number(e.Time)
	for _, text := range [...]string{e.Title, e.Text, e.Host, e.AggregationKey, e.Priority, e.AlertType, e.SourceType, d.host} {
		d.string(text)
	}
	d.list(e.Tags)
	return d.end(dst)
}

// appendCheck appends the id of a service check: all of it.
func (d *ids) appendCheck(dst []byte, c *metric.Check) []byte {
	d.begin('c')
	d.number(c.Time)
	d.number(int64(c.Status))
	for _, text := range [...]string{c.Name, c.Message, c.Host, d.host} {
		d.string(text)
	}
	d.list(c.Tags)
	return d.end(dst)
}

func (d *ids) begin(of byte) { d.text = append(d.text[:0], of) }

func (d *ids) string(s string) {
	d.text = binary.AppendUvarint(d.text, uint64(len(s)))
	d.text = append(d.text, s...)
}

func (d *ids) number(n int64) { d.text = binary.BigEndian.AppendUint64(d.text, uint64(n)) }

func (d *ids) list(texts []string) {
	d.text = binary.AppendUvarint(d.text, uint64(len(texts)))
	for _, s := range texts {
		d.string(s)
	}
}

func (d *ids) end(dst []byte) []byte {
	sum := sha256.Sum256(d.text)
	return base64.RawURLEncoding.AppendEncode(dst, sum[:hashBytes])
}
