package sinks

import (
	"context"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// Batch is what one interval gave, or a chunk of it. It is shared by every sink that gets it and read-only from the moment it is
// offered.
type Batch struct {
	End      time.Time     // end of the interval, whole seconds; the time of every point that has none of its own
	Interval time.Duration // how long the interval really was

	Points        []metric.Point
	Distributions []metric.DigestPoint // filled only for sinks that ask for them; see DistributionSink
	Events        []metric.Event
	Checks        []metric.Check
	// Exemplars are of counters among the points of the interval, for backends that take them. They are no items: none is counted, and they
	// do not outlive the process on disk.
	Exemplars []metric.Exemplar

	// More says that this is a chunk and further ones of the same interval follow, unless they are given up on the way. A sink that
	// shows an interval as a whole shows it when there are no more, or when the next one begins.
	More bool
}

// Len returns how many items the batch holds, of all sorts.
func (b *Batch) Len() int {
	return len(b.Points) + len(b.Distributions) + len(b.Events) + len(b.Checks)
}

// MetricSink sends points, events and checks to one backend.
//
// Send is called by one goroutine at a time. It sends the whole chunk or reports what became of it: nil means the backend took all of it;
// [Permanent], [*RetryAfter], [*ConfigError], [*PartialError] and [*TooLargeError] say more; any other error means that nothing was taken
// and that it is worth trying again. Send returns by the deadline of ctx. It neither keeps nor changes the chunk or anything the chunk points
// to, but for series and text, which never change and may be kept; and it does not queue, retry, filter, count, log or measure: package
// delivery does all of that, once, for every sink.
type MetricSink interface {
	Send(ctx context.Context, chunk *Batch) error
}

// SpanSink sends spans to one backend. The contract is that of MetricSink.
type SpanSink interface {
	SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error
}

// DistributionSink is implemented by a MetricSink that wants Batch.Distributions. For others the field is empty, and the digests go
// back to their pool at once.
type DistributionSink interface {
	MetricSink
	WantsDistributions()
}

// A sink that has to hold something open (a listener, a file) implements lifecycle.Starter, and lifecycle.Runner when it also has work
// of its own; both are optional. Start is called before the first Send, Run beside it, and Run's context ends only after the last
// Send has returned. A sink that only has something to close implements Closer, called once after the last Send.

// Closer is implemented by a sink that lets go of something at the end.
type Closer interface {
	Close() error
}
