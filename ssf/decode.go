package ssf

import (
	"math"
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
// Numbers and texts of less than 128, as nearly all are, are read in place: a call for each takes longer than what it does.
func (d *Decoder) decodeSpan(b string) error {
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
			if s.Tags, i, err = d.decodeTags(b, i, byte(key), s.Tags); err != nil {
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

// decodeSample fills s, which is empty, from b.
func (d *Decoder) decodeSample(b string, s *SSFSample) error {
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
			if s.Tags, i, err = d.decodeTags(b, i, byte(key), s.Tags); err != nil {
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

// decodeTags reads the tag whose length stands at b[i], and those after it for as long as they have the same key: they come in
// runs, and this is where the time goes.
func (d *Decoder) decodeTags(b string, i int, key byte, tags []Tag) ([]Tag, int, error) {
	for {
		n := len(tags)
		more, next, over := shortTags(b, i, key, tags[n:n+min(cap(tags)-n, d.left)])
		n += more
		d.left -= more
		if i = next; over {
			return tags[:n], i, nil
		}
		start, end := extent(b, i)
		if uint(end) > uint(len(b)) {
			return tags[:n], end, nil
		}
		if d.left--; d.left < 0 {
			return tags[:n], i, ReasonElements
		}
		if tags = tags[:n]; n < cap(tags) {
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
		i++
	}
}

// shortTags fills tags from the run of fields of the given key, of the first of which the length stands at b[i]. It says how many it has filled,
// where it is, and whether the run is over. If not, there is no room, or it is at a tag that is not like nearly every one: a key and a value,
// in this order, together shorter than 128 bytes. Such a tag is its length, the field of its key, that one's length, the key, the field of its
// value, that one's length, and the value.
//
// It calls nothing, so that all it needs stays in registers.
func shortTags(b string, i int, key byte, tags []Tag) (n, next int, over bool) {
	for n < len(tags) && i < len(b)-4 {
		head := load32(b, i)
		end := i + 1 + int(head&0xff)
		value := i + 5 + int(head>>16&0xff)
		if head&0xff80 != (1<<3|wireBytes)<<8 || value > end || end > len(b) {
			break
		}
		if load16(b, value-2) != 2<<3|wireBytes|uint16(end-value)<<8 {
			break
		}
		t := &tags[n]
		t.Key, t.Value = b[i+3:value-2], b[value:end]
		n++
		if i = end; i == len(b) || b[i] != key {
			return n, i, true
		}
		i++
	}
	return n, i, false
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
