package flush

import "github.com/veneurd/veneur/internal/telemetry"

var (
	descFlushes = telemetry.Desc{
		Name: "flush.flushes", Kind: telemetry.Counter, Unit: "flushes",
		Help: "Intervals flushed.",
	}
	descSkipped = telemetry.Desc{
		Name: "flush.skipped_ticks", Kind: telemetry.Counter, Unit: "ticks",
		Help: "Intervals that ended without a flush of their own, because the one before was still at work or the process did not get to run; their data is in the next.",
	}
	descDuration = telemetry.Desc{
		Name: "flush.duration", Kind: telemetry.Gauge, Unit: "seconds",
		Help: "How long the last flush took, from the flip of the lanes until what is idle was forgotten.",
	}
	descCovered = telemetry.Desc{
		Name: "flush.covered", Kind: telemetry.Gauge, Unit: "seconds",
		Help: "The time that the last flush stands for.",
	}
	descPoints = telemetry.Desc{
		Name: "flush.points", Kind: telemetry.Counter, Unit: "points",
		Help: "Points made; each is either somewhere_routed or no_sink.",
	}
	descSomewhere = telemetry.Desc{
		Name: "flush.somewhere_routed", Kind: telemetry.Counter, Unit: "points",
		Help: "Points that at least one metric sink got.",
	}
	descNoSink = telemetry.Desc{
		Name: "flush.no_sink", Kind: telemetry.Counter, Unit: "points", Loss: true,
		Help: "Points that went to no sink: no route names one, or the sink they name does not exist.",
	}
	descNoSinkOther = telemetry.Desc{
		Name: "flush.no_sink_other", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sort"}, Loss: true,
		Help: "Service checks that no route sends anywhere, and events and checks for a sink that does not exist.",
	}
	descRouted = telemetry.Desc{
		Name: "flush.routed", Kind: telemetry.Counter, Unit: "points", Tags: []string{"sink"},
		Help: "Points offered to a sink.",
	}
	descConflicting = telemetry.Desc{
		Name: "flush.conflicting", Kind: telemetry.Counter, Unit: "points", Tags: []string{"sink"}, Loss: true,
		Help: "Points left out for a sink because one of another type has the same name and tags.",
	}
)

var descSaturated = telemetry.Desc{
	Name: "flush.saturated_histograms", Kind: telemetry.Counter, Unit: "series",
	Help: "Histograms of which a sum is beyond what a float64 can hold and is given as the largest; their other points are right.",
}

var descGaveWay = telemetry.Desc{
	Name: "flush.gave_way", Kind: telemetry.Counter, Unit: "points", Tags: []string{"sink"}, Loss: true,
	Help: "Gauges whose value gave way to that of another series with the same name and tags, such as a gauge x.min to the minimum of a histogram x.",
}

var descLeftBehind = telemetry.Desc{
	Name: "flush.left_behind", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "reason"}, Loss: true,
	Help: "What the end of the daemon left unoffered to a sink: series with values, of each lane, points with times, events and checks, be it that a route keeps them out. " +
		"unfinished: their flush did not end in time; flush_on_shutdown: it is turned off.",
}

// Descs returns what this package counts.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{descFlushes, descSkipped, descDuration, descCovered, descPoints, descSomewhere, descNoSink, descNoSinkOther, descRouted, descConflicting, descGaveWay, descSaturated, descLeftBehind}
}

// stats are the handles of a Flusher.
type stats struct {
	flushes, skipped, points, somewhere, noSink *telemetry.Metric
	noSinkChecks, noSinkEvents, saturated       *telemetry.Metric
	duration, covered                           *telemetry.Metric
	routed, conflicting, gaveWay                []*telemetry.Metric // by target
	unfinished, turnedOff                       []*telemetry.Metric // by target
}

func newStats(r *telemetry.Registry, targets []string) stats {
	s := stats{
		flushes:   r.Counter(&descFlushes),
		skipped:   r.Counter(&descSkipped),
		points:    r.Counter(&descPoints),
		somewhere: r.Counter(&descSomewhere),
		noSink:    r.Counter(&descNoSink),
		duration:  r.Gauge(&descDuration),
		covered:   r.Gauge(&descCovered),

		noSinkChecks: r.Counter(&descNoSinkOther, "check"),
		noSinkEvents: r.Counter(&descNoSinkOther, "event"),
		saturated:    r.Counter(&descSaturated),
	}
	for _, target := range targets {
		s.routed = append(s.routed, r.Counter(&descRouted, target))
		s.conflicting = append(s.conflicting, r.Counter(&descConflicting, target))
		s.gaveWay = append(s.gaveWay, r.Counter(&descGaveWay, target))
		s.unfinished = append(s.unfinished, r.Counter(&descLeftBehind, target, "unfinished"))
		s.turnedOff = append(s.turnedOff, r.Counter(&descLeftBehind, target, "flush_on_shutdown"))
	}
	return s
}
