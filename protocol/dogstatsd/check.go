package dogstatsd

import (
	"bytes"
	"unicode/utf8"

	"github.com/veneurd/veneur/protocol/metric"
)

var checkPrefix = []byte("_sc|")

// parseCheck reads _sc|name|status[|field]… into the line's Check. Fields may stand behind the message too: the documentation
// wants it last, but losing a check that says CRITICAL is worse than reading on.
func (p *Parser) parseCheck(msg []byte) Reason {
	l := &p.line
	c := &l.Check
	*c = Check{}

	name, rest := cutField(msg[len(checkPrefix)-1:])
	if len(name) == 0 {
		return ReasonName
	}
	if len(rest) == 0 {
		return ReasonCheckStatus
	}
	status, fields := cutField(rest)
	if len(status) != 1 || status[0] < '0' || status[0] > '3' {
		return ReasonCheckStatus
	}
	if !utf8.Valid(msg) {
		return ReasonUTF8
	}

	c.Name = name
	c.Status = metric.Status(status[0] - '0')
	p.text = p.text[:0]
	for len(fields) > 0 {
		var field []byte
		field, fields = cutField(fields)
		if bytes.HasPrefix(field, []byte("m:")) {
			c.Message = p.unescape(field[2:])
		} else if !c.readField(field) {
			l.readOrigin(field)
		}
	}
	return ReasonNone
}

// readField reads a field of the check's own, except for the message, and reports whether it is one and good.
func (c *Check) readField(field []byte) bool {
	if len(field) > 0 && field[0] == '#' {
		c.Tags = field[1:]
		return true
	}
	if len(field) < 3 || field[1] != ':' {
		return false
	}
	value := field[2:]
	switch field[0] {
	case 'd':
		t, ok := parseWhole(value)
		if !ok || t == 0 {
			return false
		}
		c.Time = t
	case 'h':
		c.Host = value
	default:
		return false
	}
	return true
}
