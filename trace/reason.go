package trace

// Reason names why a packet was dropped. It is an error by itself, so that refusing costs no allocation, and a fit value for a metric
// tag: there are only the constants below.
type Reason string

// Error says that the client dropped something, and why.
func (r Reason) Error() string { return "trace: dropped: " + string(r) }

// Why the client drops packets.
const (
	// ReasonFull: everything that may wait is waiting, because the daemon does not take it as fast as it is recorded, or is away.
	ReasonFull Reason = "full"
	// ReasonTooLarge: the packet alone is larger than the limit, or than the socket takes.
	ReasonTooLarge Reason = "too_large"
	// ReasonClosed: recorded after Close was called.
	ReasonClosed Reason = "closed"
	// ReasonShutdown: it was still waiting when the time that Close had was over.
	ReasonShutdown Reason = "shutdown"
	// ReasonRefused: the backend would not have it.
	ReasonRefused Reason = "refused"
)

// reasons gives each reason its place in a tally.
var reasons = [...]Reason{ReasonFull, ReasonTooLarge, ReasonClosed, ReasonShutdown, ReasonRefused}

const (
	dropFull = iota
	dropTooLarge
	dropClosed
	dropShutdown
	dropRefused
)

// drops counts by reason.
type drops [len(reasons)]uint64

func (d *drops) add(other *drops) {
	for i := range d {
		d[i] += other[i]
	}
}
