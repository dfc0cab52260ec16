package delivery

import (
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// The daemon's own metrics of this package. "signal" is points for a metric sink (its digests, events and checks included) and spans for a
// span sink.
var (
	descPoints = telemetry.Desc{
		Name: "sink.points", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "outcome"},
		Help: "Points, digests, events and checks by what became of them; refused, overflow and expired are lost to this sink.",
	}
	descSpans = telemetry.Desc{
		Name: "sink.spans", Kind: telemetry.Counter, Unit: "spans", Tags: []string{"sink", "outcome"},
		Help: "Spans by what became of them; refused, overflow and expired are lost to this sink.",
	}
	descOffered = telemetry.Desc{
		Name: "sink.offered", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "signal"},
		Help: "Items meant for the sink: the sum of all outcomes and of what waits.",
	}
	descFiltered = telemetry.Desc{
		Name: "sink.filtered", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "reason"}, Loss: true,
		Help: "Items that the sink's own limits on names and tags kept out, or that were no finite number.",
	}
	descRefused = telemetry.Desc{
		Name: "sink.refused", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "signal", "reason"}, Loss: true,
		Help: "Items that the backend will never take, by why: the outcome refused in parts.",
	}
	descExisting = telemetry.Desc{
		Name: "sink.existing", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "signal"},
		Help: "Items that the backend had already, as after a lost answer; they are among those sent.",
	}
	descWaiting = telemetry.Desc{
		Name: "sink.waiting", Kind: telemetry.Gauge, Unit: "items", Tags: []string{"sink", "signal"},
		Help: "Items queued or being sent; steady growth means that the sink is too slow.",
	}
	descWaitingBytes = telemetry.Desc{
		Name: "sink.waiting_bytes", Kind: telemetry.Gauge, Unit: "bytes", Tags: []string{"sink", "signal"},
		Help: "The memory of what waits, estimated; queue_bytes bounds it.",
	}
	descAttempts = telemetry.Desc{
		Name: "sink.attempts", Kind: telemetry.Counter, Unit: "attempts", Tags: []string{"sink", "signal", "result"},
		Help: "Attempts to send a chunk, by how they ended.",
	}
	descSendSeconds = telemetry.Desc{
		Name: "sink.send_seconds", Kind: telemetry.Counter, Unit: "seconds", Tags: []string{"sink", "signal"},
		Help: "Time spent in attempts; a rate near one means that the sink is always busy.",
	}
	descLastSuccess = telemetry.Desc{
		Name: "sink.last_success", Kind: telemetry.Gauge, Unit: "seconds", Tags: []string{"sink", "signal"},
		Help: "When the backend last took a chunk, in seconds since 1970; 0 when it never did.",
	}
	descFailing = telemetry.Desc{
		Name: "sink.failing", Kind: telemetry.Gauge, Unit: "", Tags: []string{"sink", "signal"},
		Help: "1 while the sink's last attempt failed or hangs; /ready says why.",
	}
)

// Descs returns what this package counts, for the reference.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{
		descPoints, descSpans, descOffered, descFiltered, descRefused, descExisting, descWaiting, descWaitingBytes,
		descReplayed, descStored, descDiskBytes, descDiskRecords, descDiskAge, descDiskCorrupt, descDiskErrors, descDiskDropped,
		descAttempts, descSendSeconds, descLastSuccess, descFailing,
	}
}

// attempts counts attempts by result, and the time they took.
type attempts struct {
	results [numResults]*telemetry.Metric
	nanos   atomic.Int64
}

func (a *attempts) note(r result, took time.Duration) {
	a.results[r].Inc()
	a.nanos.Add(int64(took))
}

// register makes the ledger and the health readable. They are read, not told, so that what is reported is what is true.
func (c *core) register(r *telemetry.Registry) {
	ledger := func(d *telemetry.Desc, field func(Ledger) uint64, values ...string) {
		r.Func(d, func() float64 { return float64(field(c.Ledger())) }, values...)
	}
	outcomes := &descPoints
	if c.signal == "spans" {
		outcomes = &descSpans
	}
	ledger(outcomes, func(l Ledger) uint64 { return l.Sent }, c.name, "sent")
	ledger(outcomes, func(l Ledger) uint64 { return l.Refused }, c.name, "refused")
	ledger(outcomes, func(l Ledger) uint64 { return l.Filtered }, c.name, "filtered")
	ledger(outcomes, func(l Ledger) uint64 { return l.Overflow }, c.name, "overflow")
	ledger(outcomes, func(l Ledger) uint64 { return l.Expired }, c.name, "expired")
	ledger(&descOffered, func(l Ledger) uint64 { return l.Offered }, c.name, c.signal)
	ledger(&descExisting, func(l Ledger) uint64 { return l.Existing }, c.name, c.signal)
	ledger(&descWaiting, func(l Ledger) uint64 { return l.Waiting }, c.name, c.signal)
	ledger(&descWaitingBytes, func(l Ledger) uint64 { return l.WaitingBytes }, c.name, c.signal)

	if c.cfg.DiskQueue.On() {
		c.registerDisk(r)
	}
	c.refusals = map[sinks.Reason]*telemetry.Metric{}
	for _, reason := range sinks.Reasons() {
		c.refusals[reason] = r.Counter(&descRefused, c.name, c.signal, string(reason))
	}
	for i, name := range resultNames {
		c.attempts.results[i] = r.Counter(&descAttempts, c.name, c.signal, name)
	}
	r.Func(&descSendSeconds, func() float64 {
		return time.Duration(c.attempts.nanos.Load()).Seconds()
	}, c.name, c.signal)
	r.Func(&descLastSuccess, func() float64 {
		at := c.health.lastSuccess()
		if at.IsZero() {
			return 0
		}
		return float64(at.Unix())
	}, c.name, c.signal)
	r.Func(&descFailing, func() float64 {
		if _, failing := c.Failing(); failing {
			return 1
		}
		return 0
	}, c.name, c.signal)
}

func filteredBy(s Settings) map[Reason]*telemetry.Metric {
	counters := map[Reason]*telemetry.Metric{}
	for _, reason := range reasons {
		counters[reason] = s.Telemetry.Counter(&descFiltered, s.Name, string(reason))
	}
	return counters
}
