package ssf

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/veneurd/veneur/internal/invariants"
)

const (
	// maxKept bounds, in bytes, the chunk and the arrays that a Decoder keeps from one packet to the next: some thousand samples.
	maxKept = 1 << 20
	// maxElements bounds the samples and tags of one packet. Without it the two bytes of an empty sample would cost 150 bytes of
	// memory, and one frame of 16 MiB more than a gigabyte.
	maxElements = 1 << 18
)

// Decoder turns packets into spans, all of them into one and the same span. A packet is copied once, into a chunk of which all
// strings of the span are pieces; chunk, samples and tags are used again, so that a stream of like packets costs no allocation.
// The zero value is ready. A Decoder must not be copied, nor used by two goroutines at once.
type Decoder struct {
	span  SSFSpan
	chunk []byte
	held  int // bytes of the arrays made since everything was last let go
	left  int // how many more samples and tags the packet may bring
}

// Decode reads one packet. The packet may be overwritten as soon as Decode has returned. The span, with its samples, tags and
// every string in them, is lent: it is valid until the next Decode or Release. Until then the caller may change it, and append to
// its lists; what it puts in place of a list becomes the decoder's. Whoever keeps a span keeps its Clone.
//
// Fields that the schema does not know are skipped. Decode looks at the form only: whether the text is UTF-8 and the values make
// sense is for ValidateSpan and ValidateSample to say. An error is one of the Reason constants, and then there is no span.
func (d *Decoder) Decode(packet []byte) (*SSFSpan, error) {
	d.Release()
	if len(packet) == 0 {
		return &d.span, nil // two calls to do nothing would take a third of the time
	}
	d.left = maxElements
	d.chunk = append(d.chunk, packet...)
	if err := d.decodeSpan(unsafe.String(unsafe.SliceData(d.chunk), len(d.chunk))); err != nil {
		return nil, err
	}
	return &d.span, nil
}

// Release ends the lease of the last span early, and lets the memory go that an unusually large packet took. A reader that may
// wait long for its next packet calls it.
func (d *Decoder) Release() {
	invariants.Mangle(d.chunk)
	// Arrays are counted when they are made, not by the size of the packet: small packets can each grow the tags of another sample.
	if invariants.Enabled || d.held > maxKept || cap(d.chunk) > maxKept {
		*d = Decoder{}
		return
	}
	d.chunk = d.chunk[:0]
	d.span = SSFSpan{Metrics: d.span.Metrics[:0], Tags: d.span.Tags[:0]}
}

// addSample makes room for one more sample, which is empty but for the array of its tags.
func (d *Decoder) addSample(samples []SSFSample) ([]SSFSample, error) {
	if d.left--; d.left < 0 {
		return samples, ReasonElements
	}
	if n := len(samples); n < cap(samples) {
		samples = samples[:n+1]
		samples[n] = SSFSample{Tags: samples[n].Tags[:0]}
		return samples, nil
	}
	old := cap(samples)
	samples = append(samples, SSFSample{})
	d.held += (cap(samples) - old) * int(unsafe.Sizeof(SSFSample{}))
	return samples, nil
}

const (
	knownInSpan   = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<11 | 1<<12 | 1<<13 | 1<<14
	knownInSample = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10
	knownInTag    = 1<<1 | 1<<2
)

// decodeSpan fills d.span, which is empty, from b.
//
// Nearly every span has its fields in the order of their numbers, in the shortest form, and those are read on the spot. From the first other field on
// anySpan reads them, whatever their form and order, and says what is refused. Which of the two reads a field makes no difference but to the time.
//
// The string gets shorter with each field: offsets into it are constants then, which one comparison of its length covers.
func (d *Decoder) decodeSpan(b string) (err error) {
	s := &d.span
	b = usualNumbers(b, s)
	if text, rest, ok := usualText(b, 8<<3|wireBytes); ok {
		s.Service, b = text, rest
	}
	for {
		sample, rest, ok := usualSample(b)
		if !ok {
			break
		}
		if s.Metrics, err = d.addSample(s.Metrics); err != nil {
			return err
		}
		if err = d.decodeSample(sample, &s.Metrics[len(s.Metrics)-1]); err != nil {
			return err
		}
		b = rest
	}
	if b != "" && b[0] == 11<<3|wireBytes {
		n, rest := usualTags(b, 11<<3|wireBytes, s.Tags, d.left)
		d.left -= n - len(s.Tags)
		if s.Tags, b = s.Tags[:n], rest; b != "" && b[0] == 11<<3|wireBytes {
			if s.Tags, b, err = d.decodeTags(b, s.Tags); err != nil {
				return err
			}
		}
	}
	if len(b) > 2 && b[0] == 12<<3|wireVarint && b[1] < 0x80 {
		s.Indicator, b = b[1] != 0, b[2:]
	}
	if text, rest, ok := usualText(b, 13<<3|wireBytes); ok {
		s.Name, b = text, rest
	}
	if b == "" {
		return nil
	}
	return d.anySpan(b)
}

// anySpan reads fields of any form and order into d.span.
//
// Keys and lengths of less than 128, as nearly all are, are read in place: a call for each takes longer than what it does.
func (d *Decoder) anySpan(b string) error {
	s := &d.span
	for i := 0; i < len(b); {
		var v uint64
		key := uint64(b[i])
		if i++; key >= 0x80 {
			if key, i = varint(b, i-1); i < 0 {
				return faultAt(i)
			}
		}
		switch key {
		case 1<<3 | wireVarint:
			v, i = varint(b, i)
			s.Version = int32(v)
		case 2<<3 | wireVarint:
			v, i = varint(b, i)
			s.TraceId = int64(v)
		case 3<<3 | wireVarint:
			v, i = varint(b, i)
			s.Id = int64(v)
		case 4<<3 | wireVarint:
			v, i = varint(b, i)
			s.ParentId = int64(v)
		case 5<<3 | wireVarint:
			v, i = varint(b, i)
			s.StartTimestamp = int64(v)
		case 6<<3 | wireVarint:
			v, i = varint(b, i)
			s.EndTimestamp = int64(v)
		case 7<<3 | wireVarint:
			v, i = varint(b, i)
			s.Error = v != 0
		case 8<<3 | wireBytes:
			s.Service, i = textAt(b, i)
		case 10<<3 | wireBytes:
			start, end := extent(b, i)
			if i = end; uint(i) > uint(len(b)) {
				break
			}
			var err error
			if s.Metrics, err = d.addSample(s.Metrics); err != nil {
				return err
			}
			if err = d.decodeSample(b[start:end], &s.Metrics[len(s.Metrics)-1]); err != nil {
				return err
			}
		case 11<<3 | wireBytes:
			var err error
			if s.Tags, i, err = d.tagsAt(b, i, byte(key), s.Tags); err != nil {
				return err
			}
		case 12<<3 | wireVarint:
			v, i = varint(b, i)
			s.Indicator = v != 0
		case 13<<3 | wireBytes:
			s.Name, i = textAt(b, i)
		case 14<<3 | wireVarint:
			v, i = varint(b, i)
			s.RootStartTimestamp = int64(v)
		default:
			var err error
			if i, err = skipUnknown(b, i, key, knownInSpan); err != nil {
				return err
			}
		}
		if uint(i) > uint(len(b)) {
			return faultAt(i)
		}
	}
	return nil
}

// decodeSample fills s, which is empty, from b, as decodeSpan does it.
func (d *Decoder) decodeSample(b string, s *SSFSample) (err error) {
	if len(b) > 2 && b[0] == 1<<3|wireVarint && b[1] < 0x80 {
		s.Metric, b = SSFSample_Metric(b[1]), b[2:]
	}
	if text, rest, ok := usualText(b, 2<<3|wireBytes); ok {
		s.Name, b = text, rest
	}
	if len(b) > 5 && b[0] == 3<<3|wireFixed32 {
		s.Value, b = math.Float32frombits(load32(b, 1)), b[5:]
	}
	if b != "" && b[0] == 4<<3|wireVarint {
		v, i := varint(b, 1)
		if i < 0 {
			return faultAt(i)
		}
		s.Timestamp, b = int64(v), b[i:]
	}
	if text, rest, ok := usualText(b, 5<<3|wireBytes); ok {
		s.Message, b = text, rest
	}
	if len(b) > 2 && b[0] == 6<<3|wireVarint && b[1] < 0x80 {
		s.Status, b = SSFSample_Status(b[1]), b[2:]
	}
	if len(b) > 5 && b[0] == 7<<3|wireFixed32 {
		s.SampleRate, b = math.Float32frombits(load32(b, 1)), b[5:]
	}
	if b != "" && b[0] == 8<<3|wireBytes {
		n, rest := usualTags(b, 8<<3|wireBytes, s.Tags, d.left)
		d.left -= n - len(s.Tags)
		if s.Tags, b = s.Tags[:n], rest; b != "" && b[0] == 8<<3|wireBytes {
			if s.Tags, b, err = d.decodeTags(b, s.Tags); err != nil {
				return err
			}
		}
	}
	if text, rest, ok := usualText(b, 9<<3|wireBytes); ok {
		s.Unit, b = text, rest
	}
	if b == "" {
		return nil
	}
	return d.anySample(b, s)
}

// anySample reads fields of any form and order into s.
func (d *Decoder) anySample(b string, s *SSFSample) error {
	for i := 0; i < len(b); {
		var v uint64
		key := uint64(b[i])
		if i++; key >= 0x80 {
			if key, i = varint(b, i-1); i < 0 {
				return faultAt(i)
			}
		}
		switch key {
		case 1<<3 | wireVarint:
			v, i = varint(b, i)
			s.Metric = SSFSample_Metric(v)
		case 2<<3 | wireBytes:
			s.Name, i = textAt(b, i)
		case 3<<3 | wireFixed32:
			s.Value, i = floatAt(b, i)
		case 4<<3 | wireVarint:
			v, i = varint(b, i)
			s.Timestamp = int64(v)
		case 5<<3 | wireBytes:
			s.Message, i = textAt(b, i)
		case 6<<3 | wireVarint:
			v, i = varint(b, i)
			s.Status = SSFSample_Status(v)
		case 7<<3 | wireFixed32:
			s.SampleRate, i = floatAt(b, i)
		case 8<<3 | wireBytes:
			var err error
			if s.Tags, i, err = d.tagsAt(b, i, byte(key), s.Tags); err != nil {
				return err
			}
		case 9<<3 | wireBytes:
			s.Unit, i = textAt(b, i)
		case 10<<3 | wireVarint:
			v, i = varint(b, i)
			s.Scope = SSFSample_Scope(v)
		default:
			var err error
			if i, err = skipUnknown(b, i, key, knownInSample); err != nil {
				return err
			}
		}
		if uint(i) > uint(len(b)) {
			return faultAt(i)
		}
	}
	return nil
}

// decodeTags reads the tag that b begins with, and those after it for as long as they have the same key, and gives what comes after them.
func (d *Decoder) decodeTags(b string, tags []Tag) ([]Tag, string, error) {
	tags, i, err := d.tagsAt(b, 1, b[0], tags)
	switch {
	case err != nil:
		return tags, "", err
	case uint(i) > uint(len(b)):
		return tags, "", faultAt(i)
	}
	return tags, b[i:], nil
}

// tagsAt reads the tag whose length stands at b[i], of whatever form, and those after it for as long as they have the same key: tags come in runs. It
// gives the position after them, which is negative or past the end of b if there is none.
func (d *Decoder) tagsAt(b string, i int, key byte, tags []Tag) ([]Tag, int, error) {
	for {
		start, end := extent(b, i)
		if uint(end) > uint(len(b)) {
			return tags, end, nil
		}
		if d.left--; d.left < 0 {
			return tags, i, ReasonElements
		}
		n := len(tags)
		if n < cap(tags) {
			tags = tags[:n+1]
		} else {
			tags = append(tags, Tag{})
			d.held += (cap(tags) - n) * int(unsafe.Sizeof(Tag{}))
		}
		if err := decodeTag(b[start:end], &tags[n]); err != nil {
			return tags, i, err
		}
		if i = end; i == len(b) || b[i] != key {
			return tags, i, nil
		}
		n, rest := usualTags(b[i:], key, tags, d.left)
		d.left -= n - len(tags)
		tags, i = tags[:n], len(b)-len(rest)
		if rest == "" || rest[0] != key {
			return tags, i, nil
		}
		i++
	}
}

// usualText gives the text of the field that b begins with, and what comes after it, if the field is of this key and its length is one byte.
func usualText(b string, key byte) (text, rest string, ok bool) {
	if len(b) > 2 && b[0] == key && b[1] < 0x80 {
		n := int(b[1])
		if b = b[2:]; n <= len(b) {
			return b[:n], b[n:], true
		}
	}
	return "", b, false
}

// usualSample gives the sample that b begins with, and what comes after it, if its length is one byte or two.
func usualSample(b string) (sample, rest string, ok bool) {
	if len(b) < 4 || b[0] != 10<<3|wireBytes {
		return "", b, false
	}
	n, rest := int(b[1]), b[2:]
	if n >= 0x80 {
		if b[2] >= 0x80 {
			return "", b, false
		}
		n, rest = n&0x7f|int(b[2])<<7, b[3:]
	}
	if n > len(rest) {
		return "", b, false
	}
	return rest[:n], rest[n:], true
}

// usualNumbers reads the fields 1 to 7 at the beginning of b, up to one that may reach past the end of b, and gives what comes after them. Times and
// ids, nearly all there is, take nine bytes: their top bits are turned over, so that of eight bytes that go on none is left to be masked.
func usualNumbers(b string, s *SSFSpan) string {
	for len(b) > 11 && b[0] < 8<<3 {
		var v uint64
		rest := b[10:]
		if w := load64(b, 1) ^ moreBits; w&moreBits == 0 {
			v = pack7(w) | uint64(b[9])<<56
			if b[9] >= 0x80 {
				if b[10] >= 0x80 {
					return b
				}
				v, rest = v&math.MaxInt64|uint64(b[10])<<63, b[11:]
			}
		} else {
			last := bits.TrailingZeros64(w & moreBits)
			v, rest = pack7((w^moreBits)&(1<<(last&63)-1)&^moreBits), b[2+last>>3:]
		}
		switch b[0] {
		case 1<<3 | wireVarint:
			s.Version = int32(v)
		case 2<<3 | wireVarint:
			s.TraceId = int64(v)
		case 3<<3 | wireVarint:
			s.Id = int64(v)
		case 4<<3 | wireVarint:
			s.ParentId = int64(v)
		case 5<<3 | wireVarint:
			s.StartTimestamp = int64(v)
		case 6<<3 | wireVarint:
			s.EndTimestamp = int64(v)
		case 7<<3 | wireVarint:
			s.Error = v != 0
		default:
			return b
		}
		b = rest
	}
	return b
}

// usualTags fills tags up to its capacity, but with no more than left, from the run of fields of the given key that b begins with, and gives its new
// length and what comes after them. It ends, before its time, at a tag that is not like nearly every one: a key and a value, in this order, together
// shorter than 128 bytes. Such a tag is the field's key, its length, the key of the tag's key, that one's length, the tag's key, the key of its
// value, that one's length, the value.
//
// It calls nothing, so that all it needs stays in registers.
func usualTags(b string, key byte, tags []Tag, left int) (n int, rest string) {
	n = len(tags)
	tags = tags[:min(cap(tags), n+left)]
	want := uint32(key) | (1<<3|wireBytes)<<16
	for n < len(tags) && len(b) > 5 {
		head := load32(b, 0)
		size, k := int(head>>8&0x7f), int(head>>24)
		text := b[4:]
		if head&0x00ff80ff != want || k > len(text)-2 {
			break
		}
		tail := text[k:]
		v := int(tail[1])
		if tail[0] != 2<<3|wireBytes || k+v+4 != size || v > len(tail)-2 {
			break
		}
		t := &tags[n]
		t.Key, t.Value = text[:k], tail[2:][:v]
		n++
		// The next tag is found by the length of this one: the processor can begin with it while it checks this one.
		if size >= len(b)-2 {
			return n, ""
		}
		b = b[size+2:]
	}
	return n, b
}

// decodeTag fills t, whose content is stale, from b.
func decodeTag(b string, t *Tag) error {
	*t = Tag{}
	for i := 0; i < len(b); {
		key := uint64(b[i])
		if i++; key >= 0x80 {
			if key, i = varint(b, i-1); i < 0 {
				return faultAt(i)
			}
		}
		var err error
		switch key {
		case 1<<3 | wireBytes:
			t.Key, i = textAt(b, i)
		case 2<<3 | wireBytes:
			t.Value, i = textAt(b, i)
		default:
			i, err = skipUnknown(b, i, key, knownInTag)
		}
		if err != nil {
			return err
		}
		if uint(i) > uint(len(b)) {
			return faultAt(i)
		}
	}
	return nil
}

// textAt reads the string at b[i] and gives the position after it, which is negative or past the end of b if there is none.
func textAt(b string, i int) (string, int) {
	start, end := extent(b, i)
	if uint(end) > uint(len(b)) {
		return "", end
	}
	return b[start:end], end
}

// floatAt reads the number at b[i] and gives the position after it, which is past the end of b if there is none.
func floatAt(b string, i int) (float32, int) {
	if len(b)-i < 4 {
		return 0, i + 4
	}
	return math.Float32frombits(load32(b, i)), i + 4
}
