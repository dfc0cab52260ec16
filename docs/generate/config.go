package main

import (
	_ "embed" // for the words that no struct has
	"os"
	"path/filepath"
	"strings"

	"github.com/veneurd/veneur/internal/config/configdoc"
	"github.com/veneurd/veneur/server"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/all"
)

//go:embed config.head.md
var referenceHead string

const exampleHead = `# Every key of the configuration with its default and its meaning. docs/config.md is the same as tables, and says how values are
# written, taken from the environment or from files, and kept secret. Keys without a default are commented out.
#
# The keys right below are all that a daemon without a configuration file has. With a file, what the file does not name is off.

`

// reference is docs/config.md.
func reference(root string) ([]byte, error) {
	source, err := configdoc.NewSource(root)
	if err != nil {
		return nil, err
	}
	text, err := source.AppendReference([]byte(referenceHead), sections())
	if err != nil {
		return nil, err
	}
	text = append(text, "\n## Keys of older versions\n\nA configuration of the original Veneur may have these keys.\n\n"...)
	return configdoc.AppendObsolete(text, server.Config{}), nil
}

// example is example.yaml.
func example(root string) ([]byte, error) {
	source, err := configdoc.NewSource(root)
	if err != nil {
		return nil, err
	}
	outOfTheBox, err := os.ReadFile(filepath.Join(root, "server", "default.yaml"))
	if err != nil {
		return nil, err
	}
	text := []byte(exampleHead)
	for line := range strings.Lines(string(outOfTheBox)) {
		if !strings.HasPrefix(line, "#") {
			text = append(text, line...)
		}
	}
	return source.AppendExample(append(text, '\n'), sections())
}

// sections are the parts of the configuration in the order in which somebody who writes one thinks of them.
func sections() []configdoc.Section {
	c := server.DefaultConfig()
	sections := []configdoc.Section{
		{Title: "General", Value: c, Keys: []string{"hostname", "omit_empty_hostname", "debug"}},
		{Title: "Listeners", Value: c.Ingest, Text: "A listener that is not named does not exist. The indicator and objective timers are made of the spans that arrive."},
		{Title: "Tags and limits", Value: c.Aggregate},
		{Title: "Intervals, percentiles and routes", Value: c.Flush},
		{Title: "Span metrics", Value: c, Keys: []string{"span_metrics"}, Text: "[spanmetrics.md](spanmetrics.md) says what they are, and shows what arrives."},
		{Title: "Metric sinks", Value: c, Keys: []string{"metric_sinks"}, Text: metricSinksText},
		{Title: "Span sinks", Value: c, Keys: []string{"span_sinks"}, Text: "The keys of delivery mean what they mean for metric sinks; a span is one item."},
		{Title: "The HTTP port", Value: c.Admin},
		{Title: "The daemon's own metrics", Value: c.Stats, Text: "[telemetry.md](telemetry.md) lists them."},
	}
	for _, kind := range all.Kinds() {
		sections = append(sections, ofKind(kind))
	}
	return sections
}

const metricSinksText = `Every sink has a queue, deadlines and retries of its own: a slow one costs the others nothing. What it could not deliver is counted in
` + "`sink.points`" + ` by outcome. Routes, ` + "`veneursinkonly`" + ` and the metrics of the daemon know a sink by its name.`

// ofKind is the section of one kind of sink, whose keys stand below "config:".
func ofKind(k sinks.Kind) configdoc.Section {
	list, takes := "metric_sinks", "metrics"
	switch {
	case !k.TakesMetrics():
		list, takes = "span_sinks", "spans"
	case k.TakesSpans():
		takes = "metrics and spans"
	}
	return configdoc.Section{
		Title: "Kind " + k.Name(),
		Text:  "Takes " + takes + ". See [sinks/" + k.Name() + "](../sinks/" + k.Name() + "/).",
		Value: k.Defaults(),
		Under: []string{list + ":", "  - kind: " + k.Name(), "    config:"},
	}
}
