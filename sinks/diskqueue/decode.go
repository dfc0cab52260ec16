package diskqueue

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// ErrPayload says that a payload is not one that this version has written.
var ErrPayload = errors.New("diskqueue: a payload of another version, or a damaged one")

// DecodeBatch returns the batch that Encoder.Batch was given. It keeps nothing of payload: all text of the batch is pieces of one copy, so that who
// keeps any of it keeps all. Memory is taken as items are read, never by what is announced. End is in UTC.
func DecodeBatch(payload []byte) (*sinks.Batch, error) {
	d := decoder{text: string(payload)}
	d.begin(holdsBatch)
	b := &sinks.Batch{End: time.Unix(0, d.int()).UTC(), Interval: time.Duration(d.int()), More: d.bool()}
	b.Points = list(&d, minPoint, d.point)
	b.Distributions = list(&d, minDigest, d.digestPoint)
	b.Events = list(&d, minEvent, d.event)
	b.Checks = list(&d, minCheck, d.check)
	return b, d.end()
}

// DecodeSpans returns the spans that Encoder.Spans was given, each with memory of its own.
func DecodeSpans(payload []byte) ([]*ssf.SSFSpan, error) {
	d := decoder{text: string(payload)}
	d.begin(holdsSpans)
	var wire ssf.Decoder
	at := len(payload)
	spans := list(&d, minSpan, func() *ssf.SSFSpan {
		size := d.fixed32()
		packet := payload[at-len(d.text):]
		d.bytes(uint64(size))
		if d.failed {
			return nil
		}
		s, err := wire.Decode(packet[:size:size])
		if err != nil {
			d.failed = true
			return nil
		}
		return s.Clone()
	})
	wire.Release()
	return spans, d.end()
}

// The least that one of each takes, which bounds how many there can be in what is left.
const (
	minPoint  = 1 + 1 + 8 + 1 + 1
	minDigest = 1 + 5*8 + 1
	minEvent  = 10
	minCheck  = 8
	minSpan   = 4
	minSeries = 5
)

// decoder reads from the front of text. After a fault it is failed and everything it returns is zero.
type decoder struct {
	text   string
	failed bool
	series []*metric.Series
	spare  []metric.Series // series are made some at a time
}

func (d *decoder) begin(holds byte) {
	if d.byte() != codecVersion || d.byte() != holds {
		d.failed = true
	}
}

func (d *decoder) end() error {
	if d.failed || d.text != "" {
		return ErrPayload
	}
	return nil
}

// bytes cuts n bytes off.
func (d *decoder) bytes(n uint64) string {
	if d.failed || n > uint64(len(d.text)) {
		d.failed = true
		return ""
	}
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

func (d *decoder) byte() byte {
	s := d.bytes(1)
	if s == "" {
		return 0
	}
	return s[0]
}

func (d *decoder) bool() bool { return d.byte() != 0 }

func (d *decoder) uint() uint64 {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		b := d.byte()
		if shift == 63 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.failed = true
	return 0
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) fixed32() uint32 {
	s := d.bytes(4)
	if s == "" {
		return 0
	}
	return binary.LittleEndian.Uint32([]byte(s))
}

func (d *decoder) float() float64 {
	s := d.bytes(8)
	if s == "" {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(s)))
}

func (d *decoder) string() string { return d.bytes(d.uint()) }

// list reads a count and as many elements of at least that many bytes each; nil for none.
func list[T any](d *decoder, least int, one func() T) []T {
	n := d.uint()
	if n == 0 || n > uint64(len(d.text)/least) {
		d.failed = d.failed || n > 0
		return nil
	}
	all := make([]T, 0, n)
	for range n {
		v := one()
		if d.failed {
			return nil
		}
		all = append(all, v)
	}
	return all
}

func (d *decoder) tags() []string { return list(d, 1, d.string) }

func (d *decoder) seriesOf() *metric.Series {
	n := d.uint()
	switch {
	case d.failed || n > uint64(len(d.series)):
		d.failed = true
		return nil
	case n < uint64(len(d.series)):
		return d.series[n]
	}
	if len(d.spare) == 0 {
		d.spare = make([]metric.Series, max(1, min(64, len(d.text)/minSeries)))
	}
	s := &d.spare[0]
	d.spare = d.spare[1:]
	s.Name, s.Tags = d.string(), d.tags()
	s.Kind, s.Scope = metric.Kind(d.byte()), metric.Scope(d.byte())
	s.SinkOnly = d.string()
	d.series = append(d.series, s)
	return s
}

func (d *decoder) point() (p metric.Point) {
	if p.Series = d.seriesOf(); p.Series == nil {
		return p
	}
	p.Name = p.Series.Name
	if d.bool() {
		p.Name = d.string()
	}
	p.Value, p.Type, p.Time = d.float(), metric.PointType(d.byte()), d.int()
	return p
}

func (d *decoder) digestPoint() metric.DigestPoint {
	return metric.DigestPoint{Series: d.seriesOf(), Digest: d.digest()}
}

func (d *decoder) event() metric.Event {
	return metric.Event{
		Title: d.string(), Text: d.string(), Time: d.int(), Host: d.string(), AggregationKey: d.string(), Priority: d.string(),
		AlertType: d.string(), SourceType: d.string(), Tags: d.tags(), SinkOnly: d.string(),
	}
}

func (d *decoder) check() metric.Check {
	return metric.Check{
		Name: d.string(), Status: metric.Status(d.byte()), Scope: metric.Scope(d.byte()), Message: d.string(), Time: d.int(),
		Host: d.string(), Tags: d.tags(), SinkOnly: d.string(),
	}
}
