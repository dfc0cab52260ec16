package dogstatsd

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/veneurd/veneur/protocol/metric"
)

// parseMetric reads name:value[:value…]|type[|field]… into the line's Sample. It keeps to indexes of msg: slices made on the way would
// be spilled at each call.
func (p *Parser) parseMetric(msg []byte) Reason {
	s := &p.line.Sample
	colon := indexNameEnd(msg)
	if colon == len(msg) {
		return ReasonNoType
	}
	if msg[colon] == '|' {
		return ReasonNoValue
	}
	if colon == 0 {
		return ReasonName
	}
	// Nearly all values are one whole number. Reading it finds the end of the value as well; what it does not suit is read again.
	s.Values = p.one[:]
	bar := colon + 1
	var whole int64
	for bar < len(msg) && msg[bar]-'0' <= 9 {
		whole = whole*10 + int64(msg[bar]-'0')
		bar++
	}
	if digits := bar - colon - 1; bar < len(msg) && msg[bar] == '|' && 0 < digits && digits <= 18 {
		p.one[0] = float64(whole)
	} else if bar = bytes.IndexByte(msg[colon+1:], '|'); bar < 0 {
		return ReasonNoType
	} else {
		bar += colon + 1
		p.parsePack(msg[colon+1 : bar])
	}
	end := bar + 2
	if end > len(msg) || msg[bar+1] == '|' {
		return ReasonNoType
	}
	kind, ok := kindOf(msg[bar+1])
	if msg[bar+1] == 'm' && end < len(msg) && msg[end] == 's' {
		kind, ok = metric.Timer, true
		end++
	}
	if !ok || end < len(msg) && msg[end] != '|' {
		return ReasonType
	}

	s.Kind = kind
	s.Name = msg[:colon]
	s.Tags = nil
	s.Rate = 1
	s.Time = 0
	s.Delta = false
	if s.Text != nil {
		s.Text = nil
	}
	if kind == metric.Set {
		if bar == colon+1 {
			return ReasonValue
		}
		s.Text = msg[colon+1 : bar]
		s.Values = nil
	} else if len(s.Values) == 0 {
		return ReasonValue
	} else if p.GaugeDeltas && kind == metric.Gauge {
		if reason := setDelta(s, msg[colon+1:bar]); reason != ReasonNone {
			return reason
		}
	}
	if end < len(msg) {
		return p.parseMetricFields(msg[end:])
	}
	return ReasonNone
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

// setDelta makes s a delta when its values have signs.
func setDelta(s *metric.Sample, pack []byte) Reason {
	signed := 0
	start := true
	for _, c := range pack {
		if start && (c == '+' || c == '-') {
			signed++
		}
		start = c == ':'
	}
	if signed > 0 && signed < len(s.Values) {
		// The order of absolute values and deltas in one pack would matter, and no known sender mixes them.
		return ReasonGaugeDelta
	}
	s.Delta = signed > 0
	return ReasonNone
}

// indexNameEnd returns the index of the first colon or pipe in msg, or its length when there is neither. It looks at 8 bytes at
// once: names are too short for two calls of IndexByte, and too long for a loop over bytes.
func indexNameEnd(msg []byte) int {
	const (
		ones   = 0x0101010101010101
		highs  = 0x8080808080808080
		colons = ':' * ones
		pipes  = '|' * ones
	)
	i := 0
	for ; i+8 <= len(msg); i += 8 {
		word := binary.LittleEndian.Uint64(msg[i:])
		a, b := word^colons, word^pipes
		// The lowest high bit left marks the first byte that is zero.
		if found := ((a-ones)&^a | (b-ones)&^b) & highs; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(msg); i++ {
		if msg[i] == ':' || msg[i] == '|' {
			break
		}
	}
	return i
}

// parsePack reads numbers joined by colons into the values of the sample. Empty items are passed over. There are no values when
// anything is not a number.
func (p *Parser) parsePack(text []byte) {
	values := p.values[:0]
	for len(text) > 0 {
		if text[0] == ':' {
			text = text[1:]
			continue
		}
		v, n, ok := parseNumber(text)
		if !ok || n < len(text) && text[n] != ':' {
			values = values[:0]
			break
		}
		values = append(values, v)
		text = text[n:]
	}
	p.values = values
	p.line.Sample.Values = values
}

// parseMetricFields reads the fields after the type, each behind its pipe.
func (p *Parser) parseMetricFields(fields []byte) Reason {
	l := &p.line
	s := &l.Sample
	for len(fields) > 0 {
		field := fields[1:]
		if i := bytes.IndexByte(field, '|'); i >= 0 {
			field, fields = field[:i], field[i:]
		} else {
			fields = nil
		}
		if len(field) == 0 {
			l.Ignored++
			continue
		}
		reason := ReasonNone
		switch field[0] {
		case '#':
			s.Tags = field[1:]
		case '@':
			reason = parseRate(s, field[1:])
		case 'T':
			reason = p.parseTimestamp(s, field[1:])
		default:
			l.readOrigin(field)
		}
		if reason != ReasonNone {
			return reason
		}
	}
	return ReasonNone
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
