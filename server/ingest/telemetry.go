package ingest

import (
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/ssf"
)

// The laws that hold between these at any moment at which no batch is under way: lines = metric_lines + events + checks +
// refused{protocol:dogstatsd}; samples, span_samples and derived_samples = the outcomes of their origin.
var (
	descLines = telemetry.Desc{
		Name: "ingest.lines", Kind: telemetry.Counter, Unit: "lines",
		Help: "DogStatsD messages that arrived, good and bad, without empty ones.",
	}
	descMetricLines = telemetry.Desc{
		Name: "ingest.metric_lines", Kind: telemetry.Counter, Unit: "lines",
		Help: "DogStatsD metrics accepted; one line may hold many samples.",
	}
	descSamples = telemetry.Desc{
		Name: "ingest.samples", Kind: telemetry.Counter, Unit: "samples",
		Help: "Values of accepted DogStatsD metrics.",
	}
	descEvents = telemetry.Desc{
		Name: "ingest.events", Kind: telemetry.Counter, Unit: "events",
		Help: "DogStatsD events accepted.",
	}
	descChecks = telemetry.Desc{
		Name: "ingest.checks", Kind: telemetry.Counter, Unit: "checks",
		Help: "DogStatsD service checks accepted.",
	}
	descSpans = telemetry.Desc{
		Name: "ingest.spans", Kind: telemetry.Counter, Unit: "spans",
		Help: "SSF spans accepted, those that only carry samples included.",
	}
	descTraceSpans = telemetry.Desc{
		Name: "ingest.trace_spans", Kind: telemetry.Counter, Unit: "spans",
		Help: "Spans of traces among them, which span sinks get.",
	}
	descSpanSamples = telemetry.Desc{
		Name: "ingest.span_samples", Kind: telemetry.Counter, Unit: "samples",
		Help: "Samples accepted that SSF spans carried.",
	}
	descDerived = telemetry.Desc{
		Name: "ingest.derived_samples", Kind: telemetry.Counter, Unit: "samples",
		Help: "Timer samples made from indicator spans.",
	}
	descOutcomes = telemetry.Desc{
		Name: "ingest.outcomes", Kind: telemetry.Counter, Unit: "samples", Tags: []string{"origin", "outcome"},
		Help: "What became of accepted samples: applied to their series, applied to the overflow series of a limit, or passed through because they have a time of their own.",
	}
	descRefused = telemetry.Desc{
		Name: "ingest.refused", Kind: telemetry.Counter, Unit: "messages", Tags: []string{"protocol", "reason"}, Loss: true,
		Help: "Lines, packets, spans and samples refused; the log has an example of each reason.",
	}
	descBrokenTraces = telemetry.Desc{
		Name: "ingest.broken_traces", Kind: telemetry.Counter, Unit: "spans", Tags: []string{"reason"}, Loss: true,
		Help: "Spans accepted as carriers of samples only, because they have some of what a span of a trace must have and not all of it.",
	}
	descIgnored = telemetry.Desc{
		Name: "ingest.ignored_fields", Kind: telemetry.Counter, Unit: "fields",
		Help: "Fields of accepted lines that are unknown or make no sense and were passed over.",
	}
	descConflicts = telemetry.Desc{
		Name: "ingest.check_scope_conflicts", Kind: telemetry.Counter, Unit: "checks",
		Help: "Service checks that asked for the local and the global scope at once, and were made local.",
	}

	descPackets = telemetry.Desc{
		Name: "ingest.packets", Kind: telemetry.Counter, Unit: "packets", Tags: []string{"listener"},
		Help: "Datagrams, frames or calls that arrived; of a stream of lines, what was read at once.",
	}
	descBytes = telemetry.Desc{
		Name: "ingest.bytes", Kind: telemetry.Counter, Unit: "bytes", Tags: []string{"listener"},
		Help: "Bytes in them.",
	}
	descTruncated = telemetry.Desc{
		Name: "ingest.truncated", Kind: telemetry.Counter, Unit: "packets", Tags: []string{"listener"}, Loss: true,
		Help: "Datagrams that were longer than any may be, and lost their end.",
	}
	descKernelDrops = telemetry.Desc{
		Name: "ingest.kernel_drops", Kind: telemetry.Counter, Unit: "packets", Tags: []string{"listener"}, Loss: true,
		Help: "Datagrams that the kernel dropped before they could be read: a larger read_buffer_size_bytes or more num_readers help.",
	}
	descReadErrors = telemetry.Desc{
		Name: "ingest.read_errors", Kind: telemetry.Counter, Unit: "errors", Tags: []string{"listener"},
		Help: "Failed receive calls; each is tried again after a pause.",
	}
	descAcceptErrors = telemetry.Desc{
		Name: "ingest.accept_errors", Kind: telemetry.Counter, Unit: "errors", Tags: []string{"listener"},
		Help: "Failed attempts to accept a connection, most often for want of file descriptors; each is tried again after a pause.",
	}
	descConnections = telemetry.Desc{
		Name: "ingest.connections", Kind: telemetry.Gauge, Unit: "connections", Tags: []string{"listener"},
		Help: "Open connections.",
	}
	descAccepted = telemetry.Desc{
		Name: "ingest.connections_accepted", Kind: telemetry.Counter, Unit: "connections", Tags: []string{"listener"},
		Help: "Connections accepted.",
	}
	descStreamBuffers = telemetry.Desc{
		Name: "ingest.stream_buffer_bytes", Kind: telemetry.Gauge, Unit: "bytes",
		Help: "Memory that connections hold of max_stream_buffer_bytes, most of it for messages that are not whole yet.",
	}
	descClosed = telemetry.Desc{
		Name: "ingest.connections_closed", Kind: telemetry.Counter, Unit: "connections", Tags: []string{"listener", "reason"},
		Help: "Connections that this side closed: too many at once (limit), silent for too long (idle), no TLS (handshake), broken framing, a large message that took too long (slow) or more than was left of max_stream_buffer_bytes (memory).",
	}
)

// Descs returns what this package counts.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{
		descLines, descMetricLines, descSamples, descEvents, descChecks, descSpans, descTraceSpans, descSpanSamples, descDerived, descOutcomes, descRefused,
		descBrokenTraces, descIgnored, descConflicts, descPackets, descBytes, descTruncated, descKernelDrops, descReadErrors, descAcceptErrors, descConnections,
		descAccepted, descStreamBuffers, descClosed,
	}
}

// Values of the tags protocol and origin.
const (
	protocolDogStatsD = "dogstatsd"
	protocolSSF       = "ssf"
	protocolGRPC      = "grpc" // calls that are neither
)

// origin is where a sample comes from.
type origin uint8

const (
	fromLine    origin = iota // a DogStatsD line
	fromSpan                  // carried by a span
	fromDerived               // made from a span's duration
	numOrigins  = iota
)

var originNames = [numOrigins]string{fromLine: "dogstatsd", fromSpan: "ssf", fromDerived: "derived"}

// fate is what became of a sample that was accepted.
type fate uint8

const (
	applied fate = iota
	overflowed
	passedThrough
	numFates = iota
)

var fateNames = [numFates]string{applied: "applied", overflowed: "overflowed", passedThrough: "passed_through"}

// stats are the handles that all lanes share.
type stats struct {
	registry *telemetry.Registry

	lines, metricLines, events, checks, spans, traceSpans, ignored, conflicts *telemetry.Metric

	samples      [numOrigins]*telemetry.Metric
	outcomes     [numOrigins][numFates]*telemetry.Metric
	refusedLines [dogstatsd.NumReasons]*telemetry.Metric
}

func newStats(r *telemetry.Registry) *stats {
	s := &stats{
		registry:    r,
		lines:       r.Counter(&descLines),
		metricLines: r.Counter(&descMetricLines),
		events:      r.Counter(&descEvents),
		checks:      r.Counter(&descChecks),
		spans:       r.Counter(&descSpans),
		traceSpans:  r.Counter(&descTraceSpans),
		ignored:     r.Counter(&descIgnored),
		conflicts:   r.Counter(&descConflicts),
		samples:     [numOrigins]*telemetry.Metric{r.Counter(&descSamples), r.Counter(&descSpanSamples), r.Counter(&descDerived)},
	}
	for o := range s.outcomes {
		for f := range s.outcomes[o] {
			s.outcomes[o][f] = r.Counter(&descOutcomes, originNames[o], fateNames[f])
		}
	}
	for reason := dogstatsd.ReasonNone + 1; reason < dogstatsd.NumReasons; reason++ {
		s.refusedLines[reason] = r.Counter(&descRefused, protocolDogStatsD, reason.String())
	}
	return s
}

// counts is what one batch adds to the stats. A lane's reader counts here, in words that nobody else touches.
type counts struct {
	lines, metricLines, events, checks, spans, traceSpans, ignored, conflicts uint64

	outcomes     [numOrigins][numFates]uint64
	anyRefused   bool // something in refusedLines is not zero
	refusedLines [dogstatsd.NumReasons]uint64
	refusedSSF   map[ssf.Reason]uint64 // has an entry a reason, and those are constants
	brokenTraces map[ssf.Reason]uint64 // likewise

	packets, bytes, truncated uint64 // of the batch's source
}

// addTo adds the batch to the shared counters and starts over.
func (c *counts) addTo(s *stats, src *source) {
	move(s.lines, &c.lines)
	move(s.metricLines, &c.metricLines)
	move(s.events, &c.events)
	move(s.checks, &c.checks)
	move(s.spans, &c.spans)
	move(s.traceSpans, &c.traceSpans)
	move(s.ignored, &c.ignored)
	move(s.conflicts, &c.conflicts)
	for o := range c.outcomes {
		sum := c.outcomes[o][applied] + c.outcomes[o][overflowed] + c.outcomes[o][passedThrough]
		if sum == 0 {
			continue
		}
		s.samples[o].Add(sum)
		for f := range c.outcomes[o] {
			move(s.outcomes[o][f], &c.outcomes[o][f])
		}
	}
	if c.anyRefused {
		c.anyRefused = false
		for reason := range c.refusedLines {
			move(s.refusedLines[reason], &c.refusedLines[reason])
		}
	}
	for reason, n := range c.refusedSSF {
		if n > 0 {
			s.registry.Counter(&descRefused, protocolSSF, string(reason)).Add(n)
			c.refusedSSF[reason] = 0
		}
	}
	for reason, n := range c.brokenTraces {
		if n > 0 {
			s.registry.Counter(&descBrokenTraces, string(reason)).Add(n)
			c.brokenTraces[reason] = 0
		}
	}
	move(src.packets, &c.packets)
	move(src.bytes, &c.bytes)
	move(src.truncated, &c.truncated)
}

func move(to *telemetry.Metric, n *uint64) {
	if *n > 0 {
		to.Add(*n)
		*n = 0
	}
}
