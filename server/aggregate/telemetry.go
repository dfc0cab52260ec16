package aggregate

import (
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
)

var (
	descSeries = telemetry.Desc{
		Name: "series", Kind: telemetry.Gauge, Unit: "series", Tags: []string{"kind"},
		Help: "Series remembered, idle ones included; max_series bounds their sum.",
	}
	descInterned = telemetry.Desc{
		Name: "aggregate.interned", Kind: telemetry.Counter, Unit: "series",
		Help: "Series seen for the first time, or again after they were forgotten. A steady rise means that some tag has ever new values.",
	}
	descExpired = telemetry.Desc{
		Name: "aggregate.expired", Kind: telemetry.Counter, Unit: "series",
		Help: "Series forgotten because they had no sample for long, see series_idle_intervals.",
	}
	descAliases = telemetry.Desc{
		Name: "aggregate.aliases", Kind: telemetry.Gauge, Unit: "keys",
		Help: "Further ways in which senders write the tags of known series, in all readers. Each costs as much as a series.",
	}
	descSaturated = telemetry.Desc{
		Name: "aggregate.saturated", Kind: telemetry.Counter, Unit: "samples", Loss: true,
		Help: "Samples that took a counter or a gauge past the largest float64, where it was held.",
	}
	descConflicts = telemetry.Desc{
		Name: "aggregate.scope_conflicts", Kind: telemetry.Counter, Unit: "keys",
		Help: "Names and tags seen first that ask for the local and the global scope at once; they are local.",
	}
	descOffenders = telemetry.Desc{
		Name: "aggregate.over_limit", Kind: telemetry.Gauge, Unit: "keys", Tags: []string{"metric", "tag", "listener"},
		Help: "The metrics that a limit on series hit most of late, with the tag that has most values: how many new keys of each it kept out; halves every minute.",
	}
	descMemory = telemetry.Desc{
		Name: "aggregate.memory", Kind: telemetry.Gauge, Unit: "bytes", Tags: []string{"part"},
		Help: "Memory that remembered series take: tables in all readers, and the numbering they share. Values of an interval come on top.",
	}
	descFresh = telemetry.Desc{
		Name: "aggregate.fresh_starts", Kind: telemetry.Counter, Unit: "starts",
		Help: "Times that tables were left for new ones because most of their room had become empty.",
	}
	descUnique = telemetry.Desc{
		Name: "flush.unique_timeseries_total", Kind: telemetry.Gauge, Unit: "series",
		Help: "Estimate of how many series, told apart by name, type and tags, the last interval had; only with count_unique_timeseries.",
	}
)

// Descs returns what this package counts.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{
		descSeries, descInterned, descExpired, descAliases, descSaturated, descConflicts, descOffenders, descMemory, descFresh, descUnique,
	}
}

type stats struct {
	interned, expired, saturated, conflicts, fresh *telemetry.Metric
	aliases, tableBytes, idBytes, unique           *telemetry.Metric
}

func newStats(r *telemetry.Registry, in *Interner) stats {
	for _, class := range []metric.Kind{metric.Counter, metric.Gauge, metric.Histogram, metric.Set} {
		r.Func(&descSeries, func() float64 {
			in.mu.Lock()
			defer in.mu.Unlock()
			return float64(in.ids.classes[class])
		}, class.String())
	}
	r.FuncSet(&descOffenders, in.offenders.emit)
	s := stats{
		interned:   r.Counter(&descInterned),
		expired:    r.Counter(&descExpired),
		saturated:  r.Counter(&descSaturated),
		conflicts:  r.Counter(&descConflicts),
		fresh:      r.Counter(&descFresh),
		aliases:    r.Gauge(&descAliases),
		tableBytes: r.Gauge(&descMemory, "tables"),
		idBytes:    r.Gauge(&descMemory, "numbering"),
	}
	if in.config.CountUniqueTimeseries {
		s.unique = r.Gauge(&descUnique)
	}
	return s
}
