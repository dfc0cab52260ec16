package aggregate

// Outcome says what became of a sample, an event or a check. A line with many values has one.
type Outcome uint8

const (
	// Applied samples are part of their series.
	Applied Outcome = iota
	// Overflowed samples are part of an overflow series, since a limit did not let theirs in. Nothing is missing from the total.
	Overflowed
	// PassedThrough samples have a time of their own and become points of their own.
	PassedThrough
	// RefusedUTF8 is for names and tags that are not UTF-8.
	RefusedUTF8
	// RefusedSeriesLimit is for samples of new series that a limit keeps out and for which no overflow series makes sense.
	RefusedSeriesLimit
	// RefusedTimedLimit is for samples with a time when too many wait for the flush already.
	RefusedTimedLimit
	// RefusedEventLimit is for events and checks when too many, or too many bytes of them, wait for the flush already.
	RefusedEventLimit
)

// Refused says whether nothing of the line was taken.
func (o Outcome) Refused() bool { return o >= RefusedUTF8 }

// String returns the outcome, or the reason of a refusal, as it is written in tags of self metrics.
func (o Outcome) String() string {
	switch o {
	case Applied:
		return "applied"
	case Overflowed:
		return "overflowed"
	case PassedThrough:
		return "passed_through"
	case RefusedUTF8:
		return "utf8"
	case RefusedSeriesLimit:
		return "series_limit"
	case RefusedTimedLimit:
		return "timed_limit"
	case RefusedEventLimit:
		return "event_limit"
	default:
		return "unknown"
	}
}
