package dogstatsd

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/veneurd/veneur/protocol/metric"
)

// parseMetric reads name:value[:value…]|type[|field]… into the line's Sample. This is the hot path: it keeps to indexes of msg, and leaves
// everything that most lines do without to other functions.
func (p *Parser) parseMetric(msg []byte) Reason {
	colon := skipName(msg)
	for colon < len(msg) && msg[colon] != ':' && msg[colon] != '|' {
		colon++
	}
	if colon == len(msg) {
		return ReasonNoType
	}
	if msg[colon] == '|' {
		return ReasonNoValue
	}
	if colon == 0 {
		return ReasonName
	}

	// Nearly all values are one whole number. Reading it finds the end of the value as well.
	bar := colon + 1
	var whole int64
	for bar < len(msg) && msg[bar]-'0' <= 9 {
		whole = whole*10 + int64(msg[bar]-'0')
		bar++
	}
	digits := bar - colon - 1
	isWhole := bar < len(msg) && msg[bar] == '|' && 0 < digits && digits <= 18
	if !isWhole {
		n := bytes.IndexByte(msg[bar:], '|')
		if n < 0 {
			return ReasonNoType
		}
		bar += n
	}

	i := bar + 2
	if i > len(msg) || msg[bar+1] == '|' {
		return ReasonNoType
	}
	kind, ok := kindOf(msg[bar+1])
	if msg[bar+1] == 'm' && i < len(msg) && msg[i] == 's' {
		kind, ok = metric.Timer, true
		i++
	}
	if !ok || i < len(msg) && msg[i] != '|' {
		return ReasonType
	}

	s := &p.line.Sample
	s.Kind = kind
	s.Name = msg[:colon]
	s.Tags = nil
	if isWhole && kind != metric.Set {
		p.one[0] = float64(whole)
	} else if reason := p.parseValue(msg[colon+1 : bar]); reason != ReasonNone {
		return reason
	}

	for i < len(msg) {
		i++
		end := len(msg)
		if n := bytes.IndexByte(msg[i:], '|'); n >= 0 {
			end = i + n
		}
		if i < end && msg[i] == '#' {
			s.Tags = msg[i+1 : end]
		} else if reason := p.parseField(msg[i:end]); reason != ReasonNone {
			return reason
		}
		i = end
	}
	return ReasonNone
}

// skipName returns the index of the first colon or pipe in msg, unless that is among the last 7 bytes: then it may return an index
// before it. It looks at 8 bytes at once: names are too short for two calls of IndexByte, and too long for a loop over bytes.
func skipName(msg []byte) int {
	i := 0
	for ; i+8 <= len(msg); i += 8 {
		if found := nameEnds(binary.LittleEndian.Uint64(msg[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// nameEnds marks the bytes of word that are a colon or a pipe by their highest bit. Only the lowest mark is sure to be right.
func nameEnds(word uint64) uint64 {
	const ones = 0x0101010101010101
	a, b := word^(':'*ones), word^('|'*ones)
	return ((a-ones)&^a | (b-ones)&^b) & (0x80 * ones)
}

// kindOf returns the kind whose type is the one letter c.
func kindOf(c byte) (kind metric.Kind, ok bool) {
	switch c {
	case 'c':
		return metric.Counter, true
	case 'g':
		return metric.Gauge, true
	case 'h':
		return metric.Histogram, true
	case 'd':
		return metric.Distribution, true
	case 's':
		return metric.Set, true
	default:
		return 0, false
	}
}

// parseValue reads the value of the sample, whose kind is known: the member of a set, or numbers joined by colons. Empty items are passed
// over; none left is an error.
func (p *Parser) parseValue(text []byte) Reason {
	p.asReset = false
	s := &p.line.Sample
	if s.Kind == metric.Set {
		s.Values = nil
		s.Text = text
		if len(text) == 0 {
			return ReasonValue
		}
		return ReasonNone
	}
	p.values = p.values[:0]
	signed := 0
	for len(text) > 0 {
		if text[0] == ':' {
			text = text[1:]
			continue
		}
		v, n, ok := parseNumber(text)
		if !ok || n < len(text) && text[n] != ':' {
			return ReasonValue
		}
		if text[0] == '+' || text[0] == '-' {
			signed++
		}
		p.values = append(p.values, v)
		text = text[n:]
	}
	s.Values = p.values
	if len(s.Values) == 0 {
		return ReasonValue
	}
	if p.GaugeDeltas && s.Kind == metric.Gauge && signed > 0 {
		if signed < len(s.Values) {
			// The order of absolute values and deltas in one pack would matter, and no known sender mixes them.
			return ReasonGaugeDelta
		}
		s.Delta = true
	}
	return ReasonNone
}

// parseField reads a field other than the tags.
func (p *Parser) parseField(field []byte) Reason {
	p.asReset = false
	switch {
	case len(field) > 0 && field[0] == '@':
		return parseRate(&p.line.Sample, field[1:])
	case len(field) > 0 && field[0] == 'T':
		return p.parseTimestamp(&p.line.Sample, field[1:])
	default:
		p.line.readOrigin(field)
		return ReasonNone
	}
}

// cutField cuts the first field off fields, which start with its pipe.
func cutField(fields []byte) (field, rest []byte) {
	field = fields[1:]
	if i := bytes.IndexByte(field, '|'); i >= 0 {
		return field[:i], field[i:]
	}
	return field, nil
}

// parseRate reads a rate and tests that every value can be weighted by it.
func parseRate(s *metric.Sample, text []byte) Reason {
	r, n, ok := parseNumber(text)
	if !ok || n < len(text) || r <= 0 || r > 1 || math.IsInf(1/r, 0) {
		return ReasonRate
	}
	for _, v := range s.Values {
		if math.IsInf(v/r, 0) {
			return ReasonRate
		}
	}
	s.Rate = r
	return ReasonNone
}

// parseTimestamp reads the time of a sample that is to be passed through.
func (p *Parser) parseTimestamp(s *metric.Sample, text []byte) Reason {
	if s.Kind != metric.Counter && s.Kind != metric.Gauge {
		return ReasonTimestampType
	}
	if s.Delta {
		return ReasonGaugeDelta
	}
	t, ok := parseWhole(text)
	if !ok || t == 0 || t > p.now+MaxAhead {
		return ReasonTimestamp
	}
	s.Time = t
	return ReasonNone
}
