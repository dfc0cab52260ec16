package ssf

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// AppendSpan appends the span as a packet to b. It costs no allocation beyond the growth of b. Fields stand in the order of their
// numbers, samples and tags in that of their lists, so equal spans give equal bytes; these are what gogofast gives for tags as
// a map with that order: a tag's key and value are both written, even when empty. (The generated Marshal leaves empty ones out,
// which means the same.)
func AppendSpan(b []byte, s *SSFSpan) []byte {
	// A span that only carries samples has none of these, and little else: one look at all of them takes the empty span from 7.7 to 5.2 ns,
	// most of which was the branches.
	if int64(s.Version)|s.TraceId|s.Id|s.ParentId|s.StartTimestamp|s.EndTimestamp != 0 {
		b = appendInt(b, 1<<3|wireVarint, int64(s.Version))
		b = appendInt(b, 2<<3|wireVarint, s.TraceId)
		b = appendInt(b, 3<<3|wireVarint, s.Id)
		b = appendInt(b, 4<<3|wireVarint, s.ParentId)
		b = appendInt(b, 5<<3|wireVarint, s.StartTimestamp)
		b = appendInt(b, 6<<3|wireVarint, s.EndTimestamp)
	}
	if s.Error {
		b = append(b, 7<<3|wireVarint, 1)
	}
	if len(s.Service)|len(s.Metrics)|len(s.Tags) != 0 {
		b = appendText(b, 8<<3|wireBytes, s.Service)
		for i := range s.Metrics {
			// Nearly every sample takes two bytes for its length or one. Two are left free, and the sample is moved when that was wrong.
			b = append(b, 10<<3|wireBytes, 0, 0)
			start := len(b)
			b = AppendSample(b, &s.Metrics[i])
			b = putLength(b, start)
		}
		for i := range s.Tags {
			b = appendTag(b, 11<<3|wireBytes, &s.Tags[i])
		}
	}
	if s.Indicator {
		b = append(b, 12<<3|wireVarint, 1)
	}
	b = appendText(b, 13<<3|wireBytes, s.Name)
	return appendInt(b, 14<<3|wireVarint, s.RootStartTimestamp)
}

// AppendSample appends the sample alone to b, as the message that a span's metrics field holds, without that field's key and
// length.
func AppendSample(b []byte, s *SSFSample) []byte {
	b = appendInt(b, 1<<3|wireVarint, int64(s.Metric))
	b = appendText(b, 2<<3|wireBytes, s.Name)
	b = appendFloat(b, 3<<3|wireFixed32, s.Value)
	b = appendInt(b, 4<<3|wireVarint, s.Timestamp)
	b = appendText(b, 5<<3|wireBytes, s.Message)
	b = appendInt(b, 6<<3|wireVarint, int64(s.Status))
	b = appendFloat(b, 7<<3|wireFixed32, s.SampleRate)
	for i := range s.Tags {
		b = appendTag(b, 8<<3|wireBytes, &s.Tags[i])
	}
	b = appendText(b, 9<<3|wireBytes, s.Unit)
	return appendInt(b, 10<<3|wireVarint, int64(s.Scope))
}

// putLength writes the length of b[start:] into the two bytes before it, or makes room for a length of another size.
func putLength(b []byte, start int) []byte {
	n := len(b) - start
	if n>>7 != 0 && n>>14 == 0 {
		b[start-2], b[start-1] = byte(n)|0x80, byte(n>>7)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(length[:], uint64(n))
	if size > 2 {
		b = append(b, length[:size-2]...)
	}
	copy(b[start-2+size:], b[start:start+n])
	copy(b[start-2:], length[:size])
	return b[:start-2+size+n]
}

func appendTag(b []byte, key byte, t *Tag) []byte {
	k, v := uint64(len(t.Key)), uint64(len(t.Value))
	if k < 60 && v < 60 {
		b = append(b, key, byte(k+v+4), 1<<3|wireBytes, byte(k))
		b = append(b, t.Key...)
		b = append(b, 2<<3|wireBytes, byte(v))
		return append(b, t.Value...)
	}
	b = append(b, key)
	b = binary.AppendUvarint(b, 2+varintSize(k)+k+varintSize(v)+v)
	b = binary.AppendUvarint(append(b, 1<<3|wireBytes), k)
	b = append(b, t.Key...)
	b = binary.AppendUvarint(append(b, 2<<3|wireBytes), v)
	return append(b, t.Value...)
}

// varintSize is how many bytes v takes.
func varintSize(v uint64) uint64 { return uint64(bits.Len64(v|1)+6) / 7 }

func appendInt(b []byte, key byte, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendLong(b, key, uint64(v))
}

// appendLong writes up to eight bytes at once, as varint reads them.
func appendLong(b []byte, key byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, key, byte(v))
	}
	at, n := len(b)+1, int(varintSize(v))
	b = append(b, key, 0, 0, 0, 0, 0, 0, 0, 0, byte(v>>56)|0x80, 1)
	more := uint64(0x8080808080808080)
	if n <= 8 {
		more &= 1<<(8*n-8) - 1
	} else if n == 9 {
		b[at+8] &= 0x7f
	}
	binary.LittleEndian.PutUint64(b[at:], spread7(v)|more)
	return b[:at+n]
}

// spread7 gives each byte seven of the low 56 bits.
func spread7(w uint64) uint64 {
	w = w&0x000000000fffffff | w<<4&0x0fffffff00000000
	w = w&0x00003fff00003fff | w<<2&0x3fff00003fff0000
	return w&0x007f007f007f007f | w<<1&0x7f007f007f007f00
}

func appendText(b []byte, key byte, s string) []byte {
	if s == "" {
		return b
	}
	if len(s) < 0x80 {
		b = append(b, key, byte(len(s)))
	} else {
		b = binary.AppendUvarint(append(b, key), uint64(len(s)))
	}
	return append(b, s...)
}

// appendFloat leaves a negative zero out as well, as gogofast does.
func appendFloat(b []byte, key byte, v float32) []byte {
	if v == 0 {
		return b
	}
	return binary.LittleEndian.AppendUint32(append(b, key), math.Float32bits(v))
}
