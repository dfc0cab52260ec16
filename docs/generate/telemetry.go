package main

import (
	_ "embed" // for the words that no description has

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/admin"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/ingest"
	"github.com/veneurd/veneur/server/spanmetrics"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/elasticsearch"
	"github.com/veneurd/veneur/sinks/httpsend"
	"github.com/veneurd/veneur/sinks/prometheus"
)

//go:embed telemetry.head.md
var telemetryHead string

// parts are the tables of all packages that count something, along the way of the data.
var parts = []struct {
	title string
	descs []telemetry.Desc
}{
	{"Receiving", ingest.Descs()},
	{"Aggregating", aggregate.Descs()},
	{"Metrics of spans", append(derive.Descs(), spanmetrics.Descs()...)},
	{"Flushing and routing", flush.Descs()},
	{"Delivering", delivery.Descs()},
	{"Sinks that send over HTTP", httpsend.Descs()},
	{"The kind prometheus", prometheus.Descs()},
	{"The kind elasticsearch", elasticsearch.Descs()},
	{"The HTTP port", admin.Descs()},
	{"The process and its own metrics", telemetry.Descs()},
}

// selfMetrics is docs/telemetry.md.
func selfMetrics(string) ([]byte, error) {
	text := []byte(telemetryHead)
	for _, part := range parts {
		text = append(text, "\n## "+part.title+"\n\n"...)
		text = telemetry.AppendMarkdown(text, part.descs)
	}
	return text, nil
}
