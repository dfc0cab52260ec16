package sinks

import "fmt"

// PartialError says that the backend answered item by item. Items tells what became of those that it names; Refused is how many others
// were refused, when the backend says how many but not which. All the rest was taken. Only items to retry are sent again, alone, in a chunk
// of their own; when Err is or wraps a [*RetryAfter], not before its time.
//
// Delivery believes no more than there is: a place that the chunk does not have is left out, and so is what Refused says beyond the items
// not named. A name may come more than once, as when one item became several documents; then it is retried if any says so, else refused
// if any says so.
type PartialError struct {
	Refused int
	Items   []Item
	Err     error
}

func (e *PartialError) Error() string {
	refused, again, existing := e.Refused, 0, 0
	for i := range e.Items {
		switch e.Items[i].Fate {
		case Retry:
			again++
		case Existing:
			existing++
		default:
			refused++
		}
	}
	switch {
	case again == 0 && existing == 0:
		return fmt.Sprintf("%d items refused: %v", refused, e.Err)
	case existing == 0:
		return fmt.Sprintf("%d items refused, %d to be tried again: %v", refused, again, e.Err)
	default:
		return fmt.Sprintf("%d items refused, %d to be tried again, %d already there: %v", refused, again, existing, e.Err)
	}
}

// Unwrap returns what the backend said.
func (e *PartialError) Unwrap() error { return e.Err }

// Item is one item of a chunk, by its place, and what became of it.
type Item struct {
	List   List
	Index  int // in that list of the chunk as it was lent
	Fate   Fate
	Reason Reason // of a refusal
}

// List is one of the lists of a chunk. For spans, which come as one list, it is not looked at.
type List uint8

// The lists of a Batch.
const (
	Points List = iota
	Distributions
	Events
	Checks
)

// Fate is what becomes of an item that was not simply taken. Its zero value says nothing and counts as Refused: what a sink forgets to say
// is not called sent.
type Fate uint8

const (
	// Existing items were there already, as when the answer to an earlier attempt got lost. They count as sent, and beside that by
	// themselves.
	Existing Fate = iota + 1
	// Refused items will be refused again.
	Refused
	// Retry items were not taken and are worth another attempt.
	Retry
)

// Reason says why an item was refused. It is the value of a tag: one of the constants. Anything else counts as ReasonOther.
type Reason string

// The reasons.
const (
	ReasonOther       Reason = "other"       // the backend gave none that is listed here
	ReasonInvalid     Reason = "invalid"     // it could not read the request or the item
	ReasonConflict    Reason = "conflict"    // a field or series has another type there
	ReasonLimit       Reason = "limit"       // over a limit of the backend: fields, series, tags, a quota
	ReasonTime        Reason = "time"        // too old, too new, or out of order for it
	ReasonTooLarge    Reason = "too_large"   // a single item that is too large by itself
	ReasonDenied      Reason = "denied"      // not allowed for this item
	ReasonNoTarget    Reason = "no_target"   // the index, stream or dataset that it is for is not there
	ReasonUnsupported Reason = "unsupported" // the sink has no way to say it to this backend
	ReasonPanic       Reason = "panic"       // the sink panicked; delivery says so
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{
		ReasonOther, ReasonInvalid, ReasonConflict, ReasonLimit, ReasonTime,
		ReasonTooLarge, ReasonDenied, ReasonNoTarget, ReasonUnsupported, ReasonPanic,
	}
}
