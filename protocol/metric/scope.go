package metric

// Scope says at which tier a series is emitted. A daemon that forwards to nobody is every tier at once and emits all of them.
type Scope uint8

const (
	// Mixed is the default: counters and gauges are emitted where they arrive; histograms give their aggregates there and
	// their percentiles at the global tier; sets are counted at the global tier.
	Mixed Scope = iota
	// Local series are emitted where they arrive and never forwarded.
	Local
	// Global series are emitted by the global tier only.
	Global
)

// String returns "mixed", "local" or "global".
func (s Scope) String() string {
	switch s {
	case Local:
		return "local"
	case Global:
		return "global"
	default:
		return "mixed"
	}
}
