package metric

// Event is a DogStatsD event. It is owned by whoever holds it and does not change inside a batch.
type Event struct {
	Title          string
	Text           string
	Time           int64 // unix seconds; the sender's, or when it arrived
	Host           string
	AggregationKey string
	Priority       string // "normal" or "low"
	AlertType      string // "info", "error", "warning" or "success"
	SourceType     string
	Tags           []string // sorted, unique
	SinkOnly       string
}

// Check is a service check. Every check of an interval is delivered, in the order of arrival.
type Check struct {
	Name     string
	Status   Status
	Message  string
	Time     int64 // unix seconds; the sender's, or when it arrived
	Host     string
	Tags     []string // sorted, unique
	Scope    Scope
	SinkOnly string
}

// Status is the state a service check reports.
type Status uint8

// The states, with the numbers they have on every wire.
const (
	OK Status = iota
	Warning
	Critical
	Unknown
)

// String returns "OK", "WARNING", "CRITICAL" or "UNKNOWN".
func (s Status) String() string {
	switch s {
	case OK:
		return "OK"
	case Warning:
		return "WARNING"
	case Critical:
		return "CRITICAL"
	default:
		return "UNKNOWN"
	}
}
