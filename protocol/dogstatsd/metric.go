package dogstatsd

import (
	"bytes"
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// parseMetric reads name:value[:value…]|type[|field]… into the line's Sample.
func (p *Parser) parseMetric(msg []byte) Reason {
	l := &p.line
	s := &l.Sample
	bar := bytes.IndexByte(msg, '|')
	if bar < 0 {
		return ReasonNoType
	}
	colon := bytes.IndexByte(msg[:bar], ':')
	if colon <= 0 {
		if colon == 0 {
			return ReasonName
		}
		return ReasonNoValue
	}
	name, value, fields := msg[:colon], msg[colon+1:bar], msg[bar+1:]

	width := 1
	if len(fields) == 0 {
		return ReasonNoType
	}
	switch fields[0] {
	case 'c':
		s.Kind = metric.Counter
	case 'g':
		s.Kind = metric.Gauge
	case 'm':
		if len(fields) < 2 || fields[1] != 's' {
			return ReasonType
		}
		s.Kind = metric.Timer
		width = 2
	case 'h':
		s.Kind = metric.Histogram
	case 'd':
		s.Kind = metric.Distribution
	case 's':
		s.Kind = metric.Set
	case '|':
		return ReasonNoType
	default:
		return ReasonType
	}
	fields = fields[width:]
	if len(fields) > 0 && fields[0] != '|' {
		return ReasonType
	}

	s.Name = name
	s.Tags = nil
	s.Rate = 1
	s.Time = 0
	s.Delta = false
	if s.Kind == metric.Set {
		if len(value) == 0 {
			return ReasonValue
		}
		s.Text = value
		s.Values = nil
	} else {
		s.Text = nil
		if r := p.parseValues(value); r != ReasonNone {
			return r
		}
	}
	if len(fields) > 0 {
		return p.parseMetricFields(fields)
	}
	return ReasonNone
}

// parseValues reads the numbers of a pack. Empty items are passed over; none left is an error.
func (p *Parser) parseValues(pack []byte) Reason {
	s := &p.line.Sample
	p.values = p.values[:0]
	signed := 0
	for len(pack) > 0 {
		c := pack[0]
		if c == ':' {
			pack = pack[1:]
			continue
		}
		v, n, ok := parseNumber(pack)
		if !ok {
			return ReasonValue
		}
		if c == '+' || c == '-' {
			signed++
		}
		p.values = append(p.values, v)
		pack = pack[n:]
	}
	s.Values = p.values
	if len(p.values) == 0 {
		return ReasonValue
	}
	if p.GaugeDeltas && s.Kind == metric.Gauge && signed > 0 {
		// The order of absolute values and deltas inside one pack would matter, and no known sender mixes them.
		if signed < len(p.values) {
			return ReasonGaugeDelta
		}
		s.Delta = true
	}
	return ReasonNone
}

// parseMetricFields reads the fields after the type, each behind its pipe.
func (p *Parser) parseMetricFields(fields []byte) Reason {
	l := &p.line
	s := &l.Sample
	for len(fields) > 0 {
		var field []byte
		field, fields = cutField(fields)
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
