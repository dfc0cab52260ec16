package jsondoc

import (
	"math"
	"unsafe"

	"github.com/veneurd/veneur/internal/jsonappend/pbread"
	"github.com/veneurd/veneur/ssf"
)

// AppendWireSpan appends the document of a span that is still a packet: what AppendSpan appends for what ssf.Decoder makes of it, and the
// decoder's error, an ssf.Reason, for what that refuses. The packet is not copied and no span is made of it: tags are sorted where they lie,
// and a sample is read when it is its turn to be written. The packet may change again when AppendWireSpan has returned.
func (e *Encoder) AppendWireSpan(dst, packet []byte) ([]byte, error) {
	start, counts := len(dst), e.Counts
	if e.wire.read(packet) {
		if dst, ok := e.appendSpan(dst, &e.wire.span, &e.wire); ok {
			return dst, nil
		}
	}
	// The packet is malformed, or has a form that no usual encoder writes. The decoder knows all of them, and the reasons.
	e.Counts = counts
	span, err := e.decoder.Decode(packet)
	if err != nil {
		return dst[:start], err
	}
	dst, err = e.AppendSpan(dst[:start], span)
	e.decoder.Release()
	return dst, err
}

// wireSpan is what is known of a packet after one look at it: the span's own fields, its tags, and where its samples lie.
type wireSpan struct {
	packet  []byte
	span    ssf.SSFSpan // without samples; texts lie in the packet
	samples []extent
	sample  ssf.SSFSample // the one that is written
	left    int           // how many more samples and tags the packet may bring
}

// extent is where a sample lies. A packet is shorter than 4 GiB.
type extent struct{ start, end uint32 }

const (
	// maxElements is the decoder's bound on the samples and tags of one packet.
	maxElements = 1 << 18
	// maxKeptSamples bounds what one huge packet leaves behind.
	maxKeptSamples = 1 << 14
)

// read looks at the packet. It gives false for whatever is not plain: the decoder is for that.
func (w *wireSpan) read(packet []byte) bool {
	if cap(w.samples) > maxKeptSamples || cap(w.span.Tags) > maxKeptTags || cap(w.sample.Tags) > maxKeptTags {
		*w = wireSpan{}
	}
	w.packet, w.left, w.samples = packet, maxElements, w.samples[:0]
	w.span = ssf.SSFSpan{Tags: w.span.Tags[:0]}
	s, b := &w.span, packet
	if len(b) > math.MaxInt32 {
		return false
	}
	for i := 0; i < len(b); {
		var v uint64
		key := b[i]
		i++
		switch key {
		case 1<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Version = int32(v)
		case 2<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.TraceId = int64(v)
		case 3<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Id = int64(v)
		case 4<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.ParentId = int64(v)
		case 5<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.StartTimestamp = int64(v)
		case 6<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.EndTimestamp = int64(v)
		case 7<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Error = v != 0
		case 8<<3 | pbread.WireBytes:
			s.Service, i = text(b, i)
		case 10<<3 | pbread.WireBytes:
			var start int
			start, i = pbread.Extent(b, i)
			w.samples = append(w.samples, extent{uint32(start), uint32(i)})
			w.left--
		case 11<<3 | pbread.WireBytes:
			s.Tags, i = w.tags(b, i, key, s.Tags)
		case 12<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Indicator = v != 0
		case 13<<3 | pbread.WireBytes:
			s.Name, i = text(b, i)
		case 14<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.RootStartTimestamp = int64(v)
		default:
			return false
		}
		if uint(i) > uint(len(b)) {
			return false
		}
	}
	return w.left >= 0
}

// sampleAt reads the n-th sample.
func (w *wireSpan) sampleAt(n int) (*ssf.SSFSample, bool) {
	s, b := &w.sample, w.packet[w.samples[n].start:w.samples[n].end]
	*s = ssf.SSFSample{Tags: s.Tags[:0]}
	for i := 0; i < len(b); {
		var v uint64
		key := b[i]
		i++
		switch key {
		case 1<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Metric = ssf.SSFSample_Metric(v)
		case 2<<3 | pbread.WireBytes:
			s.Name, i = text(b, i)
		case 3<<3 | pbread.WireFixed32:
			s.Value, i = float(b, i)
		case 4<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Timestamp = int64(v)
		case 5<<3 | pbread.WireBytes:
			s.Message, i = text(b, i)
		case 6<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Status = ssf.SSFSample_Status(v)
		case 7<<3 | pbread.WireFixed32:
			s.SampleRate, i = float(b, i)
		case 8<<3 | pbread.WireBytes:
			s.Tags, i = w.tags(b, i, key, s.Tags)
		case 9<<3 | pbread.WireBytes:
			s.Unit, i = text(b, i)
		case 10<<3 | pbread.WireVarint:
			v, i = pbread.Varint(b, i)
			s.Scope = ssf.SSFSample_Scope(v)
		default:
			return nil, false
		}
		if uint(i) > uint(len(b)) {
			return nil, false
		}
	}
	return s, w.left >= 0
}

// tags reads the tag whose length stands at b[i], and those behind it for as long as they have the same key: they come in runs. A tag must
// be its key and its value, in this order and both written, as every encoder of a map writes it.
func (w *wireSpan) tags(b []byte, i int, key byte, tags []ssf.Tag) (_ []ssf.Tag, after int) {
	for {
		start, end := pbread.Extent(b, i)
		if uint(end) > uint(len(b)) {
			return tags, pbread.Bad
		}
		k, v, ok := shortTag(b[start:end])
		if !ok {
			if k, v, ok = longTag(b[start:end]); !ok {
				return tags, pbread.Bad
			}
		}
		tags = append(tags, ssf.Tag{Key: k, Value: v})
		w.left--
		if i = end; i == len(b) || b[i] != key {
			return tags, i
		}
		i++
	}
}

// shortTag is for the lengths of one byte that nearly all tags have.
func shortTag(b []byte) (key, value string, ok bool) {
	if len(b) < 4 || len(b) > 0x7f || b[0] != 1<<3|pbread.WireBytes {
		return "", "", false
	}
	k := int(b[1])
	v := k + 4
	if v > len(b) || b[v-2] != 2<<3|pbread.WireBytes || int(b[v-1]) != len(b)-v {
		return "", "", false
	}
	return lend(b[2 : v-2]), lend(b[v:]), true
}

func longTag(b []byte) (key, value string, ok bool) {
	if len(b) == 0 || b[0] != 1<<3|pbread.WireBytes {
		return "", "", false
	}
	start, end := pbread.Extent(b, 1)
	if uint(end) >= uint(len(b)) || b[end] != 2<<3|pbread.WireBytes {
		return "", "", false
	}
	key = lend(b[start:end])
	start, end = pbread.Extent(b, end+1)
	if end != len(b) {
		return "", "", false
	}
	return key, lend(b[start:end]), true
}

// text reads the text at b[i] and gives the position after it, which is negative or past the end of b if there is none.
func text(b []byte, i int) (string, int) {
	start, end := pbread.Extent(b, i)
	if uint(end) > uint(len(b)) {
		return "", pbread.Bad
	}
	return lend(b[start:end]), end
}

func float(b []byte, i int) (float32, int) {
	v, i := pbread.Fixed32(b, i)
	return math.Float32frombits(v), i
}

// lend gives bytes as a string without a copy.
func lend(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
