package prometheus

import "github.com/veneurd/veneur/internal/telemetry"

// The daemon's own metrics of this package.
var (
	descSeries = telemetry.Desc{
		Name: "sink.prometheus.series", Kind: telemetry.Gauge, Unit: "series", Tags: []string{"sink"},
		Help: "Series held for the page, counted by type, name and tags as they came in; max_series bounds them.",
	}
	descMerged = telemetry.Desc{
		Name: "sink.prometheus.merged_series", Kind: telemetry.Gauge, Unit: "series", Tags: []string{"sink"},
		Help: "How many of them have no line of their own, because their names and tags equal those of another once Prometheus can read them.",
	}
	descRefused = telemetry.Desc{
		Name: "sink.prometheus.refused", Kind: telemetry.Counter, Unit: "items", Tags: []string{"sink", "reason"}, Loss: true,
		Help: "Items that the page has no place for, by reason; they are among the refused of sink.points.",
	}
	descRemoved = telemetry.Desc{
		Name: "sink.prometheus.removed_series", Kind: telemetry.Counter, Unit: "series", Tags: []string{"sink", "reason"},
		Help: "Series that are held no more: expired had no value for expire_after; evicted had missed an interval of their own, and made room for " +
			"new ones at max_series; evicted_unscraped are the same, but no scraper has got the page with their last value.",
	}
	descScrapes = telemetry.Desc{
		Name: "sink.prometheus.scrapes", Kind: telemetry.Counter, Unit: "requests", Tags: []string{"sink"},
		Help: "Requests for the page; none for a while means that nobody scrapes the daemon.",
	}
)

// Descs returns what this package counts, for the reference.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{descSeries, descMerged, descRefused, descRemoved, descScrapes}
}
