package partial

import (
	"encoding/binary"

	"github.com/veneurd/veneur/server/sketch/hll"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/ssf"
)

// Keys of fields on the wire: the field's number, shifted, and its wire type.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// AppendTo appends the set as an Aggregate message. It costs no allocation once b is large enough.
func (s *Set) AppendTo(b []byte) []byte {
	b = appendNumber(b, 1, loghist.SubBuckets)
	for i := range s.services {
		b = append(b, 2<<3|wireBytes, 0)
		mark := len(b) - 1
		b = s.services[i].appendTo(b)
		if e := s.excess[i]; e != nil {
			b = e.appendTo(append(b, 6<<3|wireBytes))
		}
		b = loghist.CloseLength(b, mark)
	}
	if s.overall != nil {
		b = s.overall.appendTo(append(b, 3<<3|wireBytes))
		b = appendEstimator(b, 4, &s.nameless)
	}
	return b
}

func (m *Service) appendTo(b []byte) []byte {
	b = appendString(b, 1, m.Name)
	for i := range m.Tags {
		b = appendTag(b, &m.Tags[i])
	}
	for i := range m.Operations {
		b = append(b, 3<<3|wireBytes, 0)
		mark := len(b) - 1
		b = loghist.CloseLength(m.Operations[i].appendTo(b), mark)
	}
	for i := range m.Kinds {
		b = append(b, 4<<3|wireBytes, 0)
		mark := len(b) - 1
		b = loghist.CloseLength(m.Kinds[i].appendTo(b), mark)
	}
	for i := range m.Dependencies {
		b = append(b, 5<<3|wireBytes, 0)
		mark := len(b) - 1
		b = loghist.CloseLength(m.Dependencies[i].appendTo(b), mark)
	}
	return b
}

func appendTag(b []byte, t *ssf.Tag) []byte {
	b = append(b, 2<<3|wireBytes, 0)
	mark := len(b) - 1
	b = appendString(b, 1, t.Key)
	b = appendString(b, 2, t.Value)
	return loghist.CloseLength(b, mark)
}

func (m *Operation) appendTo(b []byte) []byte {
	b = appendString(b, 1, m.Name)
	b = appendBool(b, 2, m.Failed)
	b = appendSketch(b, 3, &m.Duration)
	b = appendFixed(b, 4, m.SlowestTrace)
	b = appendNumber(b, 5, m.Slowest)
	b = appendFixed(b, 6, m.LatestTrace)
	b = appendNumber(b, 7, m.Latest)
	return appendNumber(b, 8, m.LatestTook)
}

func (m *Kind) appendTo(b []byte) []byte {
	b = appendString(b, 1, m.Kind)
	b = appendSketch(b, 2, &m.Duration)
	b = appendNumber(b, 3, m.Ok)
	return appendNumber(b, 4, m.Failed)
}

func (m *Dependency) appendTo(b []byte) []byte {
	b = appendString(b, 1, m.Name)
	b = appendBool(b, 2, m.Failed)
	b = appendString(b, 3, m.TargetKind)
	b = appendString(b, 4, m.Target)
	b = appendNumber(b, 5, m.Weight)
	return appendNumber(b, 6, m.Sum)
}

// appendTo appends the excess as an Overflow message with its length.
func (e *Excess) appendTo(b []byte) []byte {
	b = append(b, 0)
	mark := len(b) - 1
	m := &e.Sums
	b = appendSketch(b, 1, &m.OperationDuration)
	b = appendEstimator(b, 2, &e.keys[Operations])
	b = appendSketch(b, 3, &m.KindDuration)
	b = appendNumber(b, 4, m.Ok)
	b = appendNumber(b, 5, m.Failed)
	b = appendEstimator(b, 6, &e.keys[Kinds])
	b = appendNumber(b, 7, m.DependencyWeight)
	b = appendNumber(b, 8, m.DependencySum)
	b = appendEstimator(b, 9, &e.keys[Dependencies])
	return loghist.CloseLength(b, mark)
}

func appendSketch(b []byte, field byte, m *loghist.Sketch) []byte {
	b = append(b, field<<3|wireBytes, 0)
	mark := len(b) - 1
	return loghist.CloseLength(m.AppendTo(b), mark)
}

func appendEstimator(b []byte, field byte, keys *hll.Sketch) []byte {
	b = append(b, field<<3|wireBytes, 0)
	mark := len(b) - 1
	return loghist.CloseLength(keys.AppendBinary(b), mark)
}

func appendNumber(b []byte, field byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(append(b, field<<3|wireVarint), v)
}

func appendFixed(b []byte, field byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint64(append(b, field<<3|wireFixed64), v)
}

func appendBool(b []byte, field byte, v bool) []byte {
	if !v {
		return b
	}
	return append(b, field<<3|wireVarint, 1)
}

func appendString(b []byte, field byte, v string) []byte {
	if v == "" {
		return b
	}
	return append(binary.AppendUvarint(append(b, field<<3|wireBytes), uint64(len(v))), v...)
}
