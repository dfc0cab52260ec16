package dogstatsd

import (
	"bytes"
	"unicode/utf8"
)

var eventPrefix = []byte("_e{")

// parseEvent reads _e{TITLE_BYTES,TEXT_BYTES}:title|text[|field]… into the line's Event. The lengths count the bytes before
// escapes are undone, so that both parts may hold pipes.
func (p *Parser) parseEvent(msg []byte) Reason {
	l := &p.line
	e := &l.Event
	*e = Event{Priority: "normal", AlertType: "info"}

	header, body, ok := bytes.Cut(msg[len(eventPrefix):], []byte("}:"))
	if !ok {
		return ReasonEventHeader
	}
	first, second, ok := bytes.Cut(header, comma)
	if !ok || !allDigits(first) || !allDigits(second) {
		return ReasonEventHeader
	}
	titleLen, ok1 := parseWhole(first)
	textLen, ok2 := parseWhole(second)
	// Each is held against the body before they are added up, so that no sum can overflow.
	size := int64(len(body))
	if !ok1 || !ok2 || titleLen >= size || textLen > size-titleLen-1 {
		return ReasonEventLength
	}
	if titleLen == 0 {
		return ReasonEventTitle
	}
	title, text, fields := body[:titleLen], body[titleLen+1:titleLen+1+textLen], body[titleLen+1+textLen:]
	if body[titleLen] != '|' || len(fields) > 0 && fields[0] != '|' {
		return ReasonEventLength
	}
	if !utf8.Valid(msg) {
		return ReasonUTF8
	}

	p.text = p.text[:0]
	e.Title = p.unescape(title)
	e.Text = p.unescape(text)
	for len(fields) > 0 {
		var field []byte
		field, fields = cutField(fields)
		if !e.readField(field) {
			l.readOrigin(field)
		}
	}
	return ReasonNone
}

// readField reads a field of the event's own, and reports whether it is one and good.
func (e *Event) readField(field []byte) bool {
	if len(field) > 0 && field[0] == '#' {
		e.Tags = field[1:]
		return true
	}
	// An empty value says nothing.
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
		e.Time = t
	case 'h':
		e.Host = value
	case 'k':
		e.AggregationKey = value
	case 's':
		e.SourceType = value
	case 'p':
		return oneOf(&e.Priority, value, "normal", "low")
	case 't':
		return oneOf(&e.AlertType, value, "info", "error", "warning", "success")
	default:
		return false
	}
	return true
}

// oneOf sets dst to the word that equals value, and reports whether there is one.
func oneOf(dst *string, value []byte, words ...string) bool {
	for _, word := range words {
		if string(value) == word {
			*dst = word
			return true
		}
	}
	return false
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c-'0' > 9 {
			return false
		}
	}
	return len(s) > 0
}
