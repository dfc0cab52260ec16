package flush

// How many items of an interval there are from one step of the pacer to the next.
const (
	stepPoints   = 256 // points, counters, gauges: ten to a hundred nanoseconds each
	stepSketches = 16  // digests that give quantiles, sets, series that are compared with rules: up to some microseconds
)
