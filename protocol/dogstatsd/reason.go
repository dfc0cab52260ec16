package dogstatsd

// Reason says why a message was refused. It is small, so that a reader can count reasons in an array of NumReasons, and its String is
// the value of the tag under which they are reported.
type Reason uint8

// The reasons. All refusals of a line stand here, those of the stages around the parser too.
const (
	// ReasonNone is the reason of an accepted line. It is never counted.
	ReasonNone Reason = iota

	// ReasonName: nothing stands before the first colon of a metric, or the name of a check is empty.
	ReasonName
	// ReasonNoValue: no colon stands before the first pipe of a metric.
	ReasonNoValue
	// ReasonValue: a value is not a finite decimal number, no value is there, or the member of a set is empty.
	ReasonValue
	// ReasonNoType: there is no type after the value.
	ReasonNoType
	// ReasonType: the type is none of c, g, h, d, ms and s.
	ReasonType
	// ReasonRate: a sample rate is not a number above 0 and up to 1, or too small to divide by.
	ReasonRate
	// ReasonTimestamp: a timestamp is not a whole number of seconds above 0 and at most MaxAhead ahead.
	ReasonTimestamp
	// ReasonTimestampType: only counters and gauges can have a timestamp.
	ReasonTimestampType
	// ReasonGaugeDelta: absolute values and deltas in one pack, or a delta with a timestamp.
	ReasonGaugeDelta
	// ReasonEventHeader: an event does not start with _e{digits,digits}: and a text.
	ReasonEventHeader
	// ReasonEventLength: the lengths announced by an event are not those of its title and text.
	ReasonEventLength
	// ReasonEventTitle: the title of an event is empty.
	ReasonEventTitle
	// ReasonCheckStatus: the status of a service check is not exactly one of 0, 1, 2 and 3.
	ReasonCheckStatus
	// ReasonUTF8: a name, a tag, or any text of an event or a check is not UTF-8. Names and tags of metrics are tested by the table,
	// when it first sees a series.
	ReasonUTF8

	// ReasonTooLong: the line is longer than its listener allows.
	ReasonTooLong
	// ReasonTruncated: the end of the datagram did not fit the buffer, and its last line had no end.
	ReasonTruncated
	// ReasonSlow: a large line on a stream did not come to its end in time.
	ReasonSlow
	// ReasonMemory: the line is larger than what was left of the memory that streams may take.
	ReasonMemory
	// ReasonSeriesLimit: the series would be one too many, and its kind has no series to overflow into.
	ReasonSeriesLimit
	// ReasonEventLimit: the interval has its fill of events or checks.
	ReasonEventLimit
	// ReasonTimedLimit: the interval has its fill of samples with a timestamp.
	ReasonTimedLimit

	// NumReasons is the length of an array indexed by Reason.
	NumReasons = iota
)

var reasonNames = [NumReasons]string{
	ReasonNone:          "none",
	ReasonName:          "name",
	ReasonNoValue:       "no_value",
	ReasonValue:         "value",
	ReasonNoType:        "no_type",
	ReasonType:          "type",
	ReasonRate:          "rate",
	ReasonTimestamp:     "timestamp",
	ReasonTimestampType: "timestamp_type",
	ReasonGaugeDelta:    "gauge_delta",
	ReasonEventHeader:   "event_header",
	ReasonEventLength:   "event_length",
	ReasonEventTitle:    "event_title",
	ReasonCheckStatus:   "check_status",
	ReasonUTF8:          "utf8",
	ReasonTooLong:       "too_long",
	ReasonTruncated:     "truncated",
	ReasonSlow:          "slow",
	ReasonMemory:        "memory",
	ReasonSeriesLimit:   "series_limit",
	ReasonEventLimit:    "event_limit",
	ReasonTimedLimit:    "timed_limit",
}

// String returns the reason as a constant in snake case.
func (r Reason) String() string {
	if int(r) >= NumReasons {
		return "unknown"
	}
	return reasonNames[r]
}
