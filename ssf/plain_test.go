package ssf_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// plain reads a packet byte by byte and field by field, without a way of its own for anything: what it makes of a packet the decoder has to make of
// it, to the reason of a refusal.
type plain struct {
	b    []byte
	left *int // how many more samples and tags there may be
}

func plainSpan(packet []byte) (*ssf.SSFSpan, error) {
	left := 1 << 18
	p := plain{packet, &left}
	s := &ssf.SSFSpan{}
	err := p.each([]uint64{0, 0, 0, 0, 0, 0, 0, 0, 2, 9, 2, 2, 0, 2, 0}, func(field, v uint64, text plain) error {
		switch field {
		case 1:
			s.Version = int32(v)
		case 2:
			s.TraceId = int64(v)
		case 3:
			s.Id = int64(v)
		case 4:
			s.ParentId = int64(v)
		case 5:
			s.StartTimestamp = int64(v)
		case 6:
			s.EndTimestamp = int64(v)
		case 7:
			s.Error = v != 0
		case 8:
			s.Service = string(text.b)
		case 10:
			s.Metrics = append(s.Metrics, ssf.SSFSample{})
			return text.sample(&s.Metrics[len(s.Metrics)-1])
		case 11:
			return text.tag(&s.Tags)
		case 12:
			s.Indicator = v != 0
		case 13:
			s.Name = string(text.b)
		case 14:
			s.RootStartTimestamp = int64(v)
		}
		return nil
	})
	return s, err
}

func (p *plain) sample(s *ssf.SSFSample) error {
	if *p.left--; *p.left < 0 {
		return ssf.ReasonElements
	}
	return p.each([]uint64{9, 0, 2, 5, 0, 2, 0, 5, 2, 2, 0}, func(field, v uint64, text plain) error {
		switch field {
		case 1:
			s.Metric = ssf.SSFSample_Metric(v)
		case 2:
			s.Name = string(text.b)
		case 3:
			s.Value = math.Float32frombits(uint32(v))
		case 4:
			s.Timestamp = int64(v)
		case 5:
			s.Message = string(text.b)
		case 6:
			s.Status = ssf.SSFSample_Status(v)
		case 7:
			s.SampleRate = math.Float32frombits(uint32(v))
		case 8:
			return text.tag(&s.Tags)
		case 9:
			s.Unit = string(text.b)
		case 10:
			s.Scope = ssf.SSFSample_Scope(v)
		}
		return nil
	})
}

func (p *plain) tag(tags *[]ssf.Tag) error {
	if *p.left--; *p.left < 0 {
		return ssf.ReasonElements
	}
	*tags = append(*tags, ssf.Tag{})
	t := &(*tags)[len(*tags)-1]
	return p.each([]uint64{9, 2, 2}, func(field, _ uint64, text plain) error {
		if field == 1 {
			t.Key = string(text.b)
		} else {
			t.Value = string(text.b)
		}
		return nil
	})
}

// each calls take for every field that is known, which are those with a wire type, 9 meaning none.
func (p *plain) each(types []uint64, take func(field, v uint64, text plain) error) error {
	for len(p.b) > 0 {
		key, err := p.varint()
		if err != nil {
			return err
		}
		field, wire := key>>3, key&7
		switch known := field > 0 && field < uint64(len(types)) && types[field] != 9; {
		case field == 0 || field > 1<<29-1:
			return ssf.ReasonField
		case known && types[field] != wire:
			return ssf.ReasonWireType
		case wire == 3:
			if err := p.group(field, 1); err != nil {
				return err
			}
		default:
			v, text, err := p.value(wire)
			if err == nil && known {
				err = take(field, v, text)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plain) group(field uint64, depth int) error {
	if depth > 100 {
		return ssf.ReasonDepth
	}
	for {
		key, err := p.varint()
		if err != nil {
			return err
		}
		switch inner := key >> 3; {
		case inner == 0 || inner > 1<<29-1:
			return ssf.ReasonField
		case key&7 == 4 && inner == field:
			return nil
		case key&7 == 3:
			err = p.group(inner, depth+1)
		default:
			_, _, err = p.value(key & 7)
		}
		if err != nil {
			return err
		}
	}
}

func (p *plain) value(wire uint64) (v uint64, text plain, err error) {
	switch wire {
	case 0:
		v, err = p.varint()
		return v, text, err
	case 1:
		text, err = p.take(8)
	case 2:
		if v, err = p.varint(); err == nil && v > math.MaxInt32 {
			err = ssf.ReasonLength
		}
		if err == nil {
			text, err = p.take(v)
		}
	case 4:
		err = ssf.ReasonGroup
	case 5:
		if text, err = p.take(4); err == nil {
			v = uint64(binary.LittleEndian.Uint32(text.b))
		}
	default:
		err = ssf.ReasonWireType
	}
	return v, text, err
}

func (p *plain) take(n uint64) (plain, error) {
	if n > uint64(len(p.b)) {
		return plain{}, ssf.ReasonTruncated
	}
	taken := plain{p.b[:n], p.left}
	p.b = p.b[n:]
	return taken, nil
}

func (p *plain) varint() (v uint64, err error) {
	for n := 0; n < 10; n++ {
		if len(p.b) == 0 {
			return 0, ssf.ReasonTruncated
		}
		c := p.b[0]
		p.b = p.b[1:]
		if v |= uint64(c&0x7f) << (7 * n); c < 0x80 {
			return v, nil
		}
	}
	return 0, ssf.ReasonVarint
}

// requirePlain requires that d makes of the packet what plain does, and says whether it is one that is taken.
func requirePlain(t *testing.T, d *ssf.Decoder, packet []byte) bool {
	t.Helper()
	want, wantErr := plainSpan(packet)
	got, err := d.Decode(packet)
	if wantErr != nil {
		require.Equal(t, wantErr, err, "%x", packet)
		require.Nil(t, got)
		return false
	}
	require.NoError(t, err, "%x", packet)
	// Bytes and bits, since a value may be NaN; the bytes leave out a negative zero.
	require.Equal(t, ssf.AppendSpan(nil, want), ssf.AppendSpan(nil, got), "%x", packet)
	require.Equal(t, floatBits(want), floatBits(got), "%x", packet)
	return true
}

func floatBits(s *ssf.SSFSpan) (list []uint32) {
	for i := range s.Metrics {
		list = append(list, math.Float32bits(s.Metrics[i].Value), math.Float32bits(s.Metrics[i].SampleRate))
	}
	return list
}

// However near a packet is to what nearly all look like, the decoder's ways for those make no difference.
func TestUsualFormsMakeNoDifference(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var usual [][]byte
	for _, shape := range ssftest.Shapes() {
		usual = append(usual, ssf.AppendSpan(nil, shape.Span))
	}
	var d ssf.Decoder
	var taken, refused int
	for range 30_000 {
		var packet []byte
		switch r.IntN(3) {
		case 0:
			packet = append(packet, usual[r.IntN(len(usual))]...)
		case 1:
			packet = ssf.AppendSpan(nil, randomSpan(r))
		default:
			packet = oddSpan(r)
		}
		for range r.IntN(3) {
			packet = mutated(r, packet)
		}
		if requirePlain(t, &d, packet) {
			taken++
		} else {
			refused++
		}
	}
	require.Greater(t, taken, 3_000)
	require.Greater(t, refused, 3_000)
}

// mutated changes the packet in one place.
func mutated(r *rand.Rand, packet []byte) []byte {
	at := r.IntN(len(packet) + 1)
	before, after := packet[:at:at], packet[at:]
	switch r.IntN(6) {
	case 0: // cut short
		return before
	case 1: // a piece left out
		return append(before, after[r.IntN(len(after)+1):]...)
	case 2: // a piece that comes again
		return append(append(before, packet[r.IntN(at+1):at]...), after...)
	case 3: // a number longer than need be
		if at > 0 {
			return append(append(before[:at-1:at-1], packet[at-1]|0x80, 0), after...)
		}
	case 4: // another byte
		if at > 0 {
			return append(append(before[:at-1:at-1], byte(r.Uint32())), after...)
		}
	}
	// A byte that means something here.
	const meaning = "\x00\x01\x7f\x80\xff\x08\x0a\x10\x12\x1d\x20\x28\x30\x38\x3d\x42\x4a\x50\x52\x5a\x60\x6a\x70\x78\x7b\x7c"
	return append(append(before, meaning[r.IntN(len(meaning))]), after...)
}

// oddSpan makes a packet whose lengths are right, of fields in about the usual order and some of them of unusual forms.
func oddSpan(r *rand.Rand) (b []byte) {
	for field := uint64(1); field <= 15; field++ {
		for range usualCount(r, field == 10 || field == 11) {
			switch field {
			case 8, 13:
				b = oddText(r, b, field, []byte(randomText(r)))
			case 10:
				b = oddText(r, b, field, oddSample(r))
			case 11:
				b = oddText(r, b, field, oddTag(r))
			default:
				b = oddVarint(r, oddVarint(r, b, field<<3), uint64(randomInt(r)))
			}
		}
		if r.IntN(20) == 0 {
			field = max(field, 4) - 4
		}
	}
	return b
}

func oddSample(r *rand.Rand) (b []byte) {
	for field := uint64(1); field <= 11; field++ {
		for range usualCount(r, field == 8) {
			switch field {
			case 2, 5, 9:
				b = oddText(r, b, field, []byte(randomText(r)))
			case 3, 7:
				b = binary.LittleEndian.AppendUint32(oddVarint(r, b, field<<3|5), math.Float32bits(randomFloat(r)))
			case 8:
				b = oddText(r, b, field, oddTag(r))
			default:
				b = oddVarint(r, oddVarint(r, b, field<<3), uint64(randomInt(r)))
			}
		}
		if r.IntN(20) == 0 {
			field = max(field, 4) - 4
		}
	}
	return b
}

func oddTag(r *rand.Rand) (b []byte) {
	for field := uint64(1); field <= 2; field++ {
		n := 1
		if r.IntN(20) == 0 {
			n = r.IntN(3)
		}
		for range n {
			b = oddText(r, b, field, []byte(randomText(r)))
		}
		if r.IntN(40) == 0 {
			field = 0
		}
	}
	if r.IntN(20) == 0 {
		b = oddVarint(r, oddVarint(r, b, 3<<3), 1)
	}
	return b
}

// usualCount is how often a field comes.
func usualCount(r *rand.Rand, repeated bool) int {
	if repeated {
		return r.IntN(5)
	}
	return [...]int{0, 0, 1, 1, 1, 1, 1, 1, 1, 2}[r.IntN(10)]
}

func oddText(r *rand.Rand, b []byte, field uint64, text []byte) []byte {
	return append(oddVarint(r, oddVarint(r, b, field<<3|2), uint64(len(text))), text...)
}

// oddVarint is now and then longer than need be.
func oddVarint(r *rand.Rand, b []byte, v uint64) []byte {
	b = binary.AppendUvarint(b, v)
	if r.IntN(40) == 0 {
		b[len(b)-1] |= 0x80
		for range r.IntN(9) {
			b = append(b, 0x80)
		}
		b = append(b, 0)
	}
	return b
}
