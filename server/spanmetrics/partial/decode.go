package partial

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/ssf"
)

// What is wrong with bytes that Merge refuses.
var (
	// ErrMessage says that they are no Aggregate message.
	ErrMessage = errors.New("partial: not an aggregate")
	// ErrBuckets says that its sketches are cut into other buckets than ours.
	ErrBuckets = errors.New("partial: sketches of other buckets")
)

// decoder reads messages, each in place of the one before, in the arrays of that and of its elements. Texts and estimators are pieces of the
// bytes it was given.
type decoder struct {
	aggregate Aggregate
	spare     []*Overflow
}

// reader takes one field after the other off the front of a message.
type reader struct {
	rest []byte
	bad  bool // it is no message

	key     byte // of the field at hand: its number and wire type
	value   uint64
	content []byte
}

// next reads a field, if there is one. Of a field that only a later version knows the key is 0.
func (r *reader) next() bool {
	b := r.rest
	if len(b) == 0 {
		return false
	}
	// Nearly always the key and what follows it are one byte each.
	if len(b) >= 2 && b[0] < 0x80 && b[0] >= 1<<3 && b[1] < 0x80 {
		switch b[0] & 7 {
		case wireVarint:
			r.key, r.value, r.rest = b[0], uint64(b[1]), b[2:]
			return true
		case wireBytes:
			end := 2 + int(b[1])
			if end > len(b) {
				r.bad = true
				return false
			}
			r.key, r.content, r.rest = b[0], b[2:end], b[end:]
			return true
		}
	}
	r.bad = !r.slowNext()
	return !r.bad
}

func (r *reader) slowNext() bool {
	key, n := binary.Uvarint(r.rest)
	if n <= 0 || key>>3 == 0 {
		return false
	}
	b := r.rest[n:]
	if r.key = 0; key < 0x80 {
		r.key = byte(key)
	}
	switch key & 7 {
	case wireVarint:
		if r.value, n = binary.Uvarint(b); n <= 0 {
			return false
		}
	case wireFixed64:
		if n = 8; len(b) < n {
			return false
		}
		r.value = binary.LittleEndian.Uint64(b)
	case wireBytes:
		length, wide := binary.Uvarint(b)
		if wide <= 0 || length > uint64(len(b)-wide) {
			return false
		}
		n = wide + int(length)
		r.content = b[wide:n]
	case wireFixed32:
		if n = 4; len(b) < n {
			return false
		}
	default:
		return false
	}
	r.rest = b[n:]
	return true
}

func (r *reader) text() string {
	return unsafe.String(unsafe.SliceData(r.content), len(r.content))
}

// decode reads a message whole, estimators included, for which it uses scratch.
func (d *decoder) decode(b []byte, scratch *hll.Sketch) error {
	a := &d.aggregate
	for i := range a.Services {
		d.release(a.Services[i].Overflow)
		a.Services[i].Overflow = nil
	}
	d.release(a.Overflow)
	*a = Aggregate{Services: a.Services[:0]}
	ok := true
	r := reader{rest: b}
	for ok && r.next() {
		switch r.key {
		case 1<<3 | wireVarint:
			a.SubBuckets = uint32(r.value)
		case 2<<3 | wireBytes:
			var m *Service
			a.Services, m = extend(a.Services)
			*m = Service{Tags: m.Tags[:0], Operations: m.Operations[:0], Kinds: m.Kinds[:0], Dependencies: m.Dependencies[:0]}
			ok = d.service(r.content, m, scratch)
		case 3<<3 | wireBytes:
			d.release(a.Overflow)
			a.Overflow = d.newOverflow()
			ok = a.Overflow.decode(r.content, scratch)
		case 4<<3 | wireBytes:
			a.OverflowedServices = r.content
			ok = isEstimator(r.content, scratch)
		}
	}
	if !ok || r.bad {
		return ErrMessage
	}
	if a.SubBuckets != loghist.SubBuckets {
		return ErrBuckets
	}
	return nil
}

func (d *decoder) release(m *Overflow) {
	if m != nil {
		d.spare = append(d.spare, m)
	}
}

func (d *decoder) newOverflow() *Overflow {
	n := len(d.spare)
	if n == 0 {
		return new(Overflow)
	}
	m := d.spare[n-1]
	d.spare = d.spare[:n-1]
	operations, kinds := m.OperationDuration, m.KindDuration
	operations.Clear()
	kinds.Clear()
	*m = Overflow{OperationDuration: operations, KindDuration: kinds}
	return m
}

func (d *decoder) service(b []byte, m *Service, scratch *hll.Sketch) bool {
	ok := true
	r := reader{rest: b}
	for ok && r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			m.Name = r.text()
		case 2<<3 | wireBytes:
			var t *ssf.Tag
			m.Tags, t = extend(m.Tags)
			ok = decodeTag(r.content, t)
		case 3<<3 | wireBytes:
			var o *Operation
			m.Operations, o = extend(m.Operations)
			ok = o.decode(r.content)
		case 4<<3 | wireBytes:
			var k *Kind
			m.Kinds, k = extend(m.Kinds)
			ok = k.decode(r.content)
		case 5<<3 | wireBytes:
			var c *Dependency
			m.Dependencies, c = extend(m.Dependencies)
			ok = c.decode(r.content)
		case 6<<3 | wireBytes:
			d.release(m.Overflow)
			m.Overflow = d.newOverflow()
			ok = m.Overflow.decode(r.content, scratch)
		}
	}
	return ok && !r.bad
}

func decodeTag(b []byte, t *ssf.Tag) bool {
	*t = ssf.Tag{}
	r := reader{rest: b}
	for r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			t.Key = r.text()
		case 2<<3 | wireBytes:
			t.Value = r.text()
		}
	}
	return !r.bad
}

func (m *Operation) decode(b []byte) bool {
	m.Duration.Clear()
	*m = Operation{Duration: m.Duration}
	ok := true
	r := reader{rest: b}
	for ok && r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			m.Name = r.text()
		case 2<<3 | wireVarint:
			m.Failed = r.value != 0
		case 3<<3 | wireBytes:
			ok = m.Duration.Decode(r.content) == nil
		case 4<<3 | wireFixed64:
			m.SlowestTrace = r.value
		case 5<<3 | wireVarint:
			m.Slowest = r.value
		case 6<<3 | wireFixed64:
			m.LatestTrace = r.value
		case 7<<3 | wireVarint:
			m.Latest = r.value
		case 8<<3 | wireVarint:
			m.LatestTook = r.value
		}
	}
	return ok && !r.bad
}

func (m *Kind) decode(b []byte) bool {
	m.Duration.Clear()
	*m = Kind{Duration: m.Duration}
	ok := true
	r := reader{rest: b}
	for ok && r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			m.Kind = r.text()
		case 2<<3 | wireBytes:
			ok = m.Duration.Decode(r.content) == nil
		case 3<<3 | wireVarint:
			m.Ok = r.value
		case 4<<3 | wireVarint:
			m.Failed = r.value
		}
	}
	return ok && !r.bad
}

func (m *Dependency) decode(b []byte) bool {
	*m = Dependency{}
	r := reader{rest: b}
	for r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			m.Name = r.text()
		case 2<<3 | wireVarint:
			m.Failed = r.value != 0
		case 3<<3 | wireBytes:
			m.TargetKind = r.text()
		case 4<<3 | wireBytes:
			m.Target = r.text()
		case 5<<3 | wireVarint:
			m.Weight = r.value
		case 6<<3 | wireVarint:
			m.Sum = r.value
		}
	}
	return !r.bad
}

// decode reads an overflow into an empty one.
func (m *Overflow) decode(b []byte, scratch *hll.Sketch) bool {
	ok := true
	r := reader{rest: b}
	for ok && r.next() {
		switch r.key {
		case 1<<3 | wireBytes:
			ok = m.OperationDuration.Decode(r.content) == nil
		case 2<<3 | wireBytes:
			m.Operations, ok = r.content, isEstimator(r.content, scratch)
		case 3<<3 | wireBytes:
			ok = m.KindDuration.Decode(r.content) == nil
		case 4<<3 | wireVarint:
			m.Ok = r.value
		case 5<<3 | wireVarint:
			m.Failed = r.value
		case 6<<3 | wireBytes:
			m.Kinds, ok = r.content, isEstimator(r.content, scratch)
		case 7<<3 | wireVarint:
			m.DependencyWeight = r.value
		case 8<<3 | wireVarint:
			m.DependencySum = r.value
		case 9<<3 | wireBytes:
			m.Dependencies, ok = r.content, isEstimator(r.content, scratch)
		}
	}
	return ok && !r.bad
}

func isEstimator(b []byte, scratch *hll.Sketch) bool {
	return len(b) == 0 || scratch.Decode(b) == nil
}
