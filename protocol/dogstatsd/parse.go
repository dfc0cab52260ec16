package dogstatsd

import (
	"bytes"
	"math"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/protocol/metric"
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

	buf    []byte
	pos    int // in buf, where the next line starts
	now    int64
	one    [1]float64 // the value of the current sample, if it has one
	values []float64  // its values, if it has a pack of them
	text   []byte     // texts of the current line in which escapes were undone
	line   Line

	// asReset says that the line is still as resetLine leaves it, but for the fields that each message sets. Setting all of them on every
	// line costs as much as reading the name. Who changes one of the others clears it.
	asReset bool
}

// Reset starts with a new packet: a datagram, or a block of whole lines of a stream. The packet is read, never changed, and must stay
// as it is until its lines are done with. Now is the time of arrival in unix seconds, against which timestamps are checked.
func (p *Parser) Reset(packet []byte, now int64) {
	p.buf, p.pos = packet, 0
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
	if !p.atLine() {
		return nil
	}
	if p.buf[p.pos] == '_' {
		return p.parseMarked()
	}
	start := p.pos
	end, reason := p.parseMetric(&p.line.Sample, &p.one[0])
	return p.finish(MetricLine, start, end, reason)
}

// atLine passes over empty messages, makes the line as most are, and says whether there is another message.
func (p *Parser) atLine() bool {
	if !p.asReset {
		p.resetLine()
	}
	for p.pos < len(p.buf) {
		if c := p.buf[p.pos]; c != '\n' && c != '\r' || !p.atEnd(p.pos) {
			return true
		}
		if p.buf[p.pos] == '\r' {
			p.pos++
		}
		p.pos++
	}
	p.buf, p.pos = nil, 0
	return false
}

// finish completes the line.
func (p *Parser) finish(kind LineKind, start, end int, reason Reason) *Line {
	l := &p.line
	l.Kind, l.Reason = kind, reason
	if reason != ReasonNone {
		l.Kind = RefusedLine
	}
	l.Raw = p.buf[start:end]
	return l
}

// resetLine makes zero, or 1, what most lines do not speak of.
func (p *Parser) resetLine() {
	l := &p.line
	l.Ignored = 0
	l.Origin = Origin{}
	resetSample(&l.Sample, p.one[:])
	p.asReset = true
}

func resetSample(s *metric.Sample, one []float64) {
	s.Values = one
	s.Text = nil
	s.Rate = 1
	s.Time = 0
	s.Delta = false
}

// parseMarked reads a message that starts with an underscore: an event, a check, or just a metric.
func (p *Parser) parseMarked() *Line {
	p.asReset = false
	start := p.pos
	rest := p.buf[start:]
	switch {
	case bytes.HasPrefix(rest, eventPrefix):
		end, _ := p.refuse(start, ReasonNone) // but for its length nothing is known of it yet
		return p.finish(EventLine, start, end, p.parseEvent(p.buf[start:end]))
	case bytes.HasPrefix(rest, checkPrefix):
		end, _ := p.refuse(start, ReasonNone)
		return p.finish(CheckLine, start, end, p.parseCheck(p.buf[start:end]))
	default:
		end, reason := p.parseMetric(&p.line.Sample, &p.one[0])
		return p.finish(MetricLine, start, end, reason)
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
