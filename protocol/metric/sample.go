package metric

// TagForm says how the tags of a Sample are written.
type TagForm uint8

const (
	// TagsList is DogStatsD's own form: the bytes after '#', items separated by commas, as they came.
	TagsList TagForm = iota
	// TagsPairs is a run of pairs, each the uvarint length of the key, the key, the uvarint length of the value, the value. SSF tags
	// are written so, since their keys and values may hold commas and colons.
	TagsPairs
)

// Sample is one accepted metric line, or one metric carried by a span, before it is looked up.
//
// A Sample is lent. Name, Tags, Values and Text point into memory of its producer and are valid until the producer is asked
// for the next one; who wants to keep them copies them.
type Sample struct {
	Kind  Kind
	Scope Scope // as stated beside the tags; magic tags are still in Tags and are read when the series is first seen
	Form  TagForm

	Name []byte // not empty; UTF-8 is tested when the series is first seen
	Tags []byte // raw, in the order of the wire; see Form

	Values []float64 // finite; one or more for every kind but Set, none for Set
	Text   []byte    // the member, for Set only; not empty
	Rate   float64   // 0 < Rate <= 1: each value stands for 1/Rate of its like

	Time int64 // unix seconds given by the sender, or 0: a sample with a time is passed through, not aggregated

	Delta bool // for Gauge only: each of Values is added to what the gauge has kept, across intervals
}

// Count returns how many samples this is to the program's accounts: one a value, and one for a set member.
func (s *Sample) Count() int {
	if s.Kind == Set {
		return 1
	}
	return len(s.Values)
}
