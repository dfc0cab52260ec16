package dogstatsd

import (
	"bytes"
	"math"

	"github.com/veneurd/veneur/internal/invariants"
)

// MaxAhead is how many seconds a timestamp may lie in the future: as much as the Datadog backend takes.
const MaxAhead = 600

// Parser cuts packets into lines. It belongs to one reader, is not safe for concurrent use, and must not be copied once it was used. Its
// zero value is ready.
//
// It keeps memory in proportion to the largest packet it has seen, 8 bytes a packed value at most, and never by a length that a
// packet announces.
type Parser struct {
	// GaugeDeltas gives gauges the rule of statsd: a sign makes the value a change of the value before. It is set before the first
	// Reset.
	GaugeDeltas bool

	rest   []byte
	now    int64
	one    [1]float64 // the value of the current sample
	values []float64  // its values, when it has a pack of them
	text   []byte     // texts of the current line in which escapes were undone
	line   Line

	// asReset says that the line is still as resetLine leaves it, but for the fields that each message sets. Setting all of them on every
	// line costs as much as reading the name. Who changes one of the others clears it.
	asReset bool
}

// Reset starts with a new packet: a datagram, or a block of whole lines of a stream. The packet is read, never changed, and must stay
// as it is until its lines are done with. Now is the time of arrival in unix seconds, against which timestamps are checked.
func (p *Parser) Reset(packet []byte, now int64) {
	p.rest = packet
	p.now = now
	if invariants.Enabled {
		p.mangle()
	}
}

// Next returns the next line of the packet, or nil when there is none left. Empty messages are passed over. The line is valid
// until the next call of Next or Reset.
func (p *Parser) Next() *Line {
	if invariants.Enabled {
		p.mangle()
	}
	for len(p.rest) > 0 {
		msg := p.rest
		if i := bytes.IndexByte(msg, '\n'); i >= 0 {
			msg, p.rest = msg[:i], msg[i+1:]
		} else {
			p.rest = nil
		}
		if n := len(msg); n > 0 && msg[n-1] == '\r' {
			msg = msg[:n-1]
		}
		if len(msg) == 0 {
			continue
		}
		if !p.asReset {
			p.resetLine()
		}
		l := &p.line
		l.Kind = MetricLine
		l.Raw = msg
		if msg[0] != '_' {
			l.Reason = p.parseMetric(msg)
		} else {
			l.Reason = p.parseMarked(msg)
		}
		if l.Reason != ReasonNone {
			l.Kind = RefusedLine
		}
		return l
	}
	return nil
}

// resetLine makes zero, or 1, what most lines do not speak of.
func (p *Parser) resetLine() {
	l := &p.line
	l.Ignored = 0
	l.Origin = Origin{}
	l.Sample.Values = p.one[:]
	l.Sample.Text = nil
	l.Sample.Rate = 1
	l.Sample.Time = 0
	l.Sample.Delta = false
	p.asReset = true
}

// parseMarked reads a message that starts with an underscore: an event, a check, or just a metric.
func (p *Parser) parseMarked(msg []byte) Reason {
	p.asReset = false
	switch {
	case bytes.HasPrefix(msg, eventPrefix):
		p.line.Kind = EventLine
		return p.parseEvent(msg)
	case bytes.HasPrefix(msg, checkPrefix):
		p.line.Kind = CheckLine
		return p.parseCheck(msg)
	default:
		return p.parseMetric(msg)
	}
}

// mangle ends the lease of the line before: whoever kept a piece of it reads rubbish.
func (p *Parser) mangle() {
	values := p.line.Sample.Values
	for i := range values {
		values[i] = math.NaN()
	}
	invariants.Mangle(p.text)
	p.line = Line{}
	p.asReset = false
}

// unescape returns s with each backslash-n made a newline. It copies s, into memory of the line, only where it must.
func (p *Parser) unescape(s []byte) []byte {
	i := bytes.Index(s, escapedNewline)
	if i < 0 {
		return s
	}
	start := len(p.text)
	for i >= 0 {
		p.text = append(append(p.text, s[:i]...), '\n')
		s = s[i+len(escapedNewline):]
		i = bytes.Index(s, escapedNewline)
	}
	p.text = append(p.text, s...)
	return p.text[start:len(p.text):len(p.text)]
}

var escapedNewline = []byte(`\n`)
