package dogstatsd

import "github.com/veneurd/veneur/protocol/metric"

// Line is one message of a packet. It is lent by [Parser.Next] until the next call of Next or Reset. Of Sample, Event and Check
// only the one that Kind names means anything.
//
// Its texts point into the packet, or into memory of the parser where escapes were undone; numbers always lie in memory of the
// parser. Who keeps something copies it.
type Line struct {
	Kind    LineKind
	Reason  Reason // ReasonNone unless Kind is RefusedLine
	Ignored int    // fields, or parts of the origin fields, that were unknown, empty or bad and were passed over
	Raw     []byte // the whole message without its line end, as an example for a log

	Sample metric.Sample
	Event  Event
	Check  Check

	Origin Origin // who sent it, as far as it says so
}

// LineKind says what a line is.
type LineKind uint8

// The kinds of lines.
const (
	RefusedLine LineKind = iota // see Line.Reason
	MetricLine
	EventLine
	CheckLine
)

// String returns "refused", "metric", "event" or "check".
func (k LineKind) String() string {
	switch k {
	case MetricLine:
		return "metric"
	case EventLine:
		return "event"
	case CheckLine:
		return "check"
	default:
		return "refused"
	}
}

// Event is an event as it came. Its texts are UTF-8 and borrowed like those of its Line.
type Event struct {
	Title          []byte // not empty; may hold newlines
	Text           []byte // may be empty; may hold newlines
	Time           int64  // unix seconds given by the sender, or 0
	Host           []byte
	AggregationKey []byte
	SourceType     []byte
	Priority       string // "normal" or "low"
	AlertType      string // "info", "error", "warning" or "success"
	Tags           []byte // raw, in metric.TagsList form
}

// Check is a service check as it came. Its texts are UTF-8 and borrowed like those of its Line.
type Check struct {
	Name    []byte // not empty
	Status  metric.Status
	Message []byte // may hold newlines
	Time    int64  // unix seconds given by the sender, or 0
	Host    []byte
	Tags    []byte // raw, in metric.TagsList form
}

// readOrigin reads a field that is none of its message's own: one of the origin fields, or one to be passed over.
func (l *Line) readOrigin(field []byte) {
	known, ignored := l.Origin.readField(field)
	if !known {
		ignored = 1
	}
	l.Ignored += ignored
}
