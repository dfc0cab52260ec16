package spanmetrics

import (
	"math"
	"slices"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

var (
	descSpans = telemetry.Desc{
		Name: "span_metrics.spans", Kind: telemetry.Counter, Unit: "spans", Tags: []string{"family"},
		Help: "Spans counted and committed, so that a crash does not lose them: as a request, as a dependency, or as neither, which only shows that the service is alive. With a store, what the disk does not take counts when it does.",
	}
	descWaiting = telemetry.Desc{
		Name: "span_metrics.waiting_spans", Kind: telemetry.Gauge, Unit: "spans",
		Help: "Spans counted that are in memory until the disk takes them. They are emitted in time; those that are not yet are lost if the process ends before.",
	}
	descReversed = telemetry.Desc{
		Name: "span_metrics.reversed_spans", Kind: telemetry.Counter, Unit: "spans",
		Help: "Spans that end before they start; their duration counts as 0.",
	}
	descClamped = telemetry.Desc{
		Name: "span_metrics.clamped_spans", Kind: telemetry.Counter, Unit: "spans",
		Help: "Spans of more than an hour; their duration counts as an hour.",
	}
	descCut = telemetry.Desc{
		Name: "span_metrics.cut_texts", Kind: telemetry.Counter, Unit: "spans",
		Help: "Spans of which a name or a tag is longer than 256 bytes, and counts by its beginning.",
	}
	descWeightless = telemetry.Desc{
		Name: "span_metrics.weightless_spans", Kind: telemetry.Counter, Unit: "spans",
		Help: "Spans whose sample rate is 0, negative or not a number; they only show that the service is alive.",
	}
	descCommits = telemetry.Desc{
		Name: "span_metrics.commits", Kind: telemetry.Counter, Unit: "commits",
		Help: "Commits of what came since the one before, that were made; where nothing came there is none.",
	}
	descCommitErrors = telemetry.Desc{
		Name: "span_metrics.commit_errors", Kind: telemetry.Counter, Unit: "commits", Tags: []string{"reason"},
		Help: "Commits that the disk did not take, because it is full or because the store failed; what they hold is in memory until it does, and lost if the process ends before.",
	}
	descReadErrors = telemetry.Desc{
		Name: "span_metrics.read_errors", Kind: telemetry.Counter, Unit: "reads",
		Help: "Times that the store could not be read; a bucket that ended waits until it can.",
	}
	descUnreadable = telemetry.Desc{
		Name: "span_metrics.unreadable_partials", Kind: telemetry.Counter, Unit: "partials",
		Help: "Partial aggregates on disk that could not be read and are left out of their bucket.",
	}
	descLost = telemetry.Desc{
		Name: "span_metrics.lost_commits", Kind: telemetry.Counter, Unit: "commits", Tags: []string{"reason"},
		Help: "Commits on disk that are missing since the daemon started: the store's log is damaged (damaged_log), and what comes after the damage cannot be read either. Damage of the very last ones before a crash looks like the crash, and does not count.",
	}
	descStoreBytes = telemetry.Desc{
		Name: "span_metrics.store_bytes", Kind: telemetry.Gauge, Unit: "bytes",
		Help: "How much of the disk the store took after the last commit.",
	}
	descInMemory = telemetry.Desc{
		Name: "span_metrics.memory_only", Kind: telemetry.Gauge, Unit: "1",
		Help: "1 while something is in memory only that should be on disk.",
	}
	descBuckets = telemetry.Desc{
		Name: "span_metrics.buckets", Kind: telemetry.Counter, Unit: "buckets", Tags: []string{"interval"},
		Help: "Buckets that were handed on to be emitted, again after a restart where a sink had not had them.",
	}
	descLate = telemetry.Desc{
		Name: "span_metrics.late_buckets", Kind: telemetry.Counter, Unit: "buckets", Tags: []string{"interval"},
		Help: "Buckets among them that had ended before the daemon started.",
	}
	descSaturated = telemetry.Desc{
		Name: "span_metrics.saturated", Kind: telemetry.Counter, Unit: "groups", Tags: []string{"interval"},
		Help: "Groups of a bucket that was handed on - operations, kinds of requests, dependencies, and what is called _other in place of those - of which a sum reached the most that it can hold, and says less than came: 18.4 billion seconds, or 18.4 trillion spans.",
	}
	descUndelivered = telemetry.Desc{
		Name: "span_metrics.undelivered_buckets", Kind: telemetry.Gauge, Unit: "buckets",
		Help: "Buckets that were handed on and that at least one sink is not yet done with.",
	}
	descOverflowKeys = telemetry.Desc{
		Name: "span_metrics.overflow_keys", Kind: telemetry.Gauge, Unit: "keys", Tags: []string{"interval", "family"},
		Help: "How many keys, estimated, the last bucket had past a limit; their spans are added up under the name _other.",
	}
	descOverflowServices = telemetry.Desc{
		Name: "span_metrics.overflow_services", Kind: telemetry.Gauge, Unit: "services", Tags: []string{"interval"},
		Help: "How many services, estimated, the last bucket had past the limit; their spans are added up under the name _other.",
	}
)

// Descs returns what this package counts.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{
		descSpans, descWaiting, descReversed, descClamped, descCut, descWeightless, descCommits, descCommitErrors, descReadErrors, descUnreadable, descLost, descStoreBytes, descInMemory, descBuckets, descLate,
		descSaturated, descUndelivered, descOverflowKeys, descOverflowServices,
	}
}

// Reasons for which the disk takes nothing.
const (
	reasonFull   = "full"
	reasonFailed = "failed"
)

// reasonDamagedLog is why commits are lost that were on disk.
const reasonDamagedLog = "damaged_log"

type stats struct {
	spans                              [3]*telemetry.Metric
	reversed, clamped, cut, weightless *telemetry.Metric
	commits, full, failed, readErrors  *telemetry.Metric
	inMemory, undelivered, waiting     *telemetry.Metric
	registry                           *telemetry.Registry
}

func newStats(r *telemetry.Registry) stats {
	return stats{
		spans: [3]*telemetry.Metric{
			derive.Alive: r.Counter(&descSpans, "none"), derive.Request: r.Counter(&descSpans, "request"), derive.Dependency: r.Counter(&descSpans, "dependency"),
		},
		reversed:    r.Counter(&descReversed),
		clamped:     r.Counter(&descClamped),
		cut:         r.Counter(&descCut),
		weightless:  r.Counter(&descWeightless),
		commits:     r.Counter(&descCommits),
		full:        r.Counter(&descCommitErrors, reasonFull),
		failed:      r.Counter(&descCommitErrors, reasonFailed),
		readErrors:  r.Counter(&descReadErrors),
		inMemory:    r.Gauge(&descInMemory),
		undelivered: r.Gauge(&descUndelivered),
		waiting:     r.Gauge(&descWaiting),
		registry:    r,
	}
}

func (s *stats) add(c *counts) {
	for family, n := range c.spans {
		s.spans[family].Add(n)
	}
	s.reversed.Add(c.reversed)
	s.clamped.Add(c.clamped)
	s.cut.Add(c.cut)
	s.weightless.Add(c.withoutRate)
}

// saturated returns how many groups have a sum that went as far as it can: see loghist.Plus.
func saturated(set *partial.Set) uint64 {
	n := uint64(0)
	count := func(sums ...uint64) {
		if slices.Contains(sums, math.MaxUint64) {
			n++
		}
	}
	excess := func(e *partial.Excess) {
		if e != nil {
			m := &e.Sums
			count(m.OperationDuration.Weight(), m.OperationDuration.Sum)
			count(loghist.Plus(m.Ok, m.Failed), m.KindDuration.Sum)
			count(m.DependencyWeight, m.DependencySum)
		}
	}
	services := set.Services()
	for i := range services {
		m := &services[i]
		for j := range m.Operations {
			o := &m.Operations[j]
			count(o.Duration.Weight(), o.Duration.Sum)
		}
		for j := range m.Kinds {
			k := &m.Kinds[j]
			count(loghist.Plus(k.Ok, k.Failed), k.Duration.Sum)
		}
		for j := range m.Dependencies {
			count(m.Dependencies[j].Weight, m.Dependencies[j].Sum)
		}
		excess(set.Excess(i))
	}
	overall, _ := set.Overall()
	excess(overall)
	return n
}

// bucket notes a bucket that is handed on.
func (s *stats) bucket(c *Closed) {
	interval := intervalName(c.Duration())
	s.registry.Counter(&descBuckets, interval).Inc()
	if c.Late {
		s.registry.Counter(&descLate, interval).Inc()
	}
	s.registry.Counter(&descSaturated, interval).Add(saturated(c.Set))
	overall, services := c.Set.Overall()
	s.registry.Gauge(&descOverflowServices, interval).Set(float64(services))
	for _, f := range partial.Families() {
		keys := uint64(0)
		if overall != nil {
			keys = overall.Keys(f)
		}
		for i := range c.Set.Services() {
			if e := c.Set.Excess(i); e != nil {
				keys += e.Keys(f)
			}
		}
		s.registry.Gauge(&descOverflowKeys, interval, f.String()).Set(float64(keys))
	}
}
