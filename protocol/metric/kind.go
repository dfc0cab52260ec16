package metric

// Kind says how the values of a sample become the value of a series.
type Kind uint8

// The kinds, with their letters on the DogStatsD wire.
const (
	Counter      Kind = iota // c: values add up
	Gauge                    // g: the last value stands
	Histogram                // h: values are summarised
	Timer                    // ms: a histogram of milliseconds
	Distribution             // d: a histogram that is global by nature
	Set                      // s: distinct members are counted
)

// Class is the kind under which samples meet: histograms, timers and distributions of one name, scope and tags are one series,
// and their class is Histogram. Every other kind is its own class.
func (k Kind) Class() Kind {
	switch k {
	case Timer, Distribution:
		return Histogram
	default:
		return k
	}
}

// String returns the kind's lower-case English name.
func (k Kind) String() string {
	switch k {
	case Counter:
		return "counter"
	case Gauge:
		return "gauge"
	case Histogram:
		return "histogram"
	case Timer:
		return "timer"
	case Distribution:
		return "distribution"
	case Set:
		return "set"
	default:
		return "unknown"
	}
}
