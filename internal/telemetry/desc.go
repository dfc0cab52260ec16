package telemetry

// Kind says how a metric moves.
type Kind uint8

const (
	// Counter only grows while the process lives.
	Counter Kind = iota
	// Gauge goes up and down.
	Gauge
)

// String returns "counter" or "gauge".
func (k Kind) String() string {
	if k == Gauge {
		return "gauge"
	}
	return "counter"
}

// Desc declares a metric of the daemon itself. A package keeps its descriptions in one table, takes its handles from a Registry once, at
// construction, and docs/telemetry.md is written from the tables.
type Desc struct {
	Name string   // dotted, without the prefix: "ingest.lines" is veneur.ingest.lines, and veneur_ingest_lines_total on /metrics
	Kind Kind     // how it moves
	Unit string   // "lines", "bytes", "seconds"
	Help string   // one sentence, said so that an operator knows whether to worry
	Tags []string // tag keys, in the order their values are given to the Registry
	Loss bool     // it counts data that is gone
}
