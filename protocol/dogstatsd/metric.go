package dogstatsd

import (
	"bytes"
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// parseMetric reads the line at p.pos, name:value[:value…]|type[|field]…, into s, whose value goes into one if it is alone, and moves p.pos to
// the next line. It returns the index behind the message, which the line end does not belong to.
//
// This is the hot path. It finds the line's end by reading the line, keeps to indexes of the packet, and leaves everything that most lines
// do without to other functions.
func (p *Parser) parseMetric(s *metric.Sample, one *float64) (end int, reason Reason) {
	buf, start := p.buf, p.pos
	colon := nameEnd(buf, start)
	if colon >= len(buf) || buf[colon] != ':' || colon == start {
		return p.refuseName(colon)
	}

	// Nearly all values are one whole number. Reading it finds the end of the value as well.
	bar := colon + 1
	var whole int64
	for bar < len(buf) && buf[bar]-'0' <= 9 {
		whole = whole*10 + int64(buf[bar]-'0')
		bar++
	}
	digits := bar - colon - 1
	isWhole := 0 < digits && digits <= 18

	// Behind it, most lines have a type of one letter, and tags or nothing.
	if end = bar + 2; isWhole && end <= len(buf) && buf[bar] == '|' {
		if kind := kinds[buf[end-1]] - 1; kind < metric.Set {
			s.Kind = kind
			s.Name, s.Tags = buf[start:colon], nil
			*one = float64(whole)
			if end <= len(buf)-2 && buf[end] == '|' && buf[end+1] == '#' {
				first := end + 2
				i := fieldEnd(buf, first)
				end = p.cutCR(i)
				s.Tags = buf[first:end]
				if i < len(buf) && buf[i] == '|' {
					return p.parseFields(s, i)
				}
				p.pos = i + 1
				return end, ReasonNone
			}
			if end == len(buf) || buf[end] == '\n' {
				p.pos = end + 1
				return end, ReasonNone
			}
			if buf[end] == '|' {
				return p.parseFields(s, end)
			}
		}
	}
	isWhole = isWhole && bar < len(buf) && buf[bar] == '|'
	return p.parseOther(s, one, colon, bar, whole, isWhole)
}

// parseOther goes on with a metric of which the fast way has read the name and, if the value is a whole number, that.
func (p *Parser) parseOther(s *metric.Sample, one *float64, colon, bar int, whole int64, isWhole bool) (end int, _ Reason) {
	buf := p.buf
	if !isWhole {
		bar = fieldEnd(buf, bar)
	}
	if bar >= len(buf) || buf[bar] != '|' {
		return p.refuse(bar, ReasonNoType)
	}
	i := bar + 1
	if p.atEnd(i) || buf[i] == '|' {
		return p.refuse(i, ReasonNoType)
	}
	kind := kinds[buf[i]] - 1
	i++
	if buf[i-1] == 'm' && i < len(buf) && buf[i] == 's' {
		kind = metric.Timer
		i++
	}
	if kind > metric.Set || !p.atEnd(i) && buf[i] != '|' {
		return p.refuse(i-1, ReasonType)
	}

	s.Kind = kind
	s.Name = buf[p.pos:colon]
	s.Tags = nil
	if isWhole && kind != metric.Set {
		*one = float64(whole)
	} else if reason := p.parseValue(s, one, buf[colon+1:bar]); reason != ReasonNone {
		return p.refuse(i, reason)
	}
	return p.parseFields(s, i)
}

// parseFields reads the rest of a metric from i on, which is where the next field, or nothing but the line end, starts.
func (p *Parser) parseFields(s *metric.Sample, i int) (end int, _ Reason) {
	buf := p.buf
	end = i
	for i < len(buf) && buf[i] == '|' {
		first := i + 1
		i = fieldEnd(buf, first)
		end = p.cutCR(i)
		if first < end && buf[first] == '#' {
			s.Tags = buf[first+1 : end]
		} else if reason := p.parseField(s, buf[first:end]); reason != ReasonNone {
			return p.refuse(i, reason)
		}
	}
	if s.Rate != 1 && !weightable(s) {
		return p.refuse(i, ReasonRate)
	}
	if i < len(buf) && buf[i] == '\r' {
		i++
	}
	p.pos = i + 1
	return end, ReasonNone
}

// weightable says whether every value can be divided by the rate. It is asked once a line, of the rate that stands: asked of each rate of a line
// of ten thousand rates and as many values, it would hold up the lane for as long as somebody cares to send such lines.
func weightable(s *metric.Sample) bool {
	for _, v := range s.Values {
		if math.IsInf(v/s.Rate, 0) {
			return false
		}
	}
	return true
}

// atEnd says whether the line ends at i.
func (p *Parser) atEnd(i int) bool {
	return i >= len(p.buf) || p.buf[i] == '\n' || p.buf[i] == '\r' && (i+1 >= len(p.buf) || p.buf[i+1] == '\n')
}

// cutCR returns the end of a field, behind which stands at i a pipe or the line end: a carriage return belongs to a line end.
func (p *Parser) cutCR(i int) int {
	if p.buf[i-1] == '\r' && (i >= len(p.buf) || p.buf[i] == '\n') {
		return i - 1
	}
	return i
}

// refuse passes over a line which is no good, and whose end is at i or behind it.
func (p *Parser) refuse(i int, reason Reason) (end int, _ Reason) {
	end = i
	if n := bytes.IndexByte(p.buf[i:], '\n'); n >= 0 {
		end += n
	} else {
		end = len(p.buf)
	}
	start := p.pos
	p.pos = end + 1
	if end > start && p.buf[end-1] == '\r' {
		end--
	}
	return end, reason
}

// refuseName refuses a line of which i ends the name, or what should be one.
func (p *Parser) refuseName(i int) (end int, _ Reason) {
	switch {
	case i >= len(p.buf) || p.buf[i] == '\n':
		return p.refuse(i, ReasonNoType)
	case p.buf[i] == '|':
		return p.refuse(i, ReasonNoValue)
	default:
		return p.refuse(i, ReasonName)
	}
}

// kinds has, of types of one letter, the kind plus one.
var kinds = [256]metric.Kind{
	'c': metric.Counter + 1,
	'g': metric.Gauge + 1,
	'h': metric.Histogram + 1,
	'd': metric.Distribution + 1,
	's': metric.Set + 1,
}

// parseValue reads the value of the sample, whose kind is known: the member of a set, or numbers joined by colons. Empty items are passed
// over; none left is an error.
func (p *Parser) parseValue(s *metric.Sample, one *float64, text []byte) Reason {
	if s.Kind == metric.Set {
		p.asReset = false
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
	switch len(p.values) {
	case 0:
		return ReasonValue
	case 1:
		*one = p.values[0]
	default:
		p.asReset = false
		s.Values = p.values
	}
	if p.GaugeDeltas && s.Kind == metric.Gauge && signed > 0 {
		p.asReset = false
		if signed < len(s.Values) {
			// The order of absolute values and deltas in one pack would matter, and no known sender mixes them.
			return ReasonGaugeDelta
		}
		s.Delta = true
	}
	return ReasonNone
}

// parseField reads a field other than the tags.
func (p *Parser) parseField(s *metric.Sample, field []byte) Reason {
	p.asReset = false
	switch {
	case len(field) > 0 && field[0] == '@':
		return parseRate(s, field[1:])
	case len(field) > 0 && field[0] == 'T':
		return p.parseTimestamp(s, field[1:])
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

// parseRate reads a rate. Whether the values can be weighted by it is tested when all fields are read.
func parseRate(s *metric.Sample, text []byte) Reason {
	r, n, ok := parseNumber(text)
	if !ok || n < len(text) || r <= 0 || r > 1 || math.IsInf(1/r, 0) {
		return ReasonRate
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
