package telemetry

import (
	"slices"
	"strings"
)

// Descs returns what this package counts itself.
func Descs() []Desc {
	return []Desc{descUptime, descGoroutines, descHeap, descGCCycles, descBuild, descPayloads, descErrors, descDroppedLines}
}

// AppendMarkdown appends a table of the metrics in tables, ordered by name, for docs/telemetry.md. A metric that stands in two tables
// is written once.
func AppendMarkdown(dst []byte, tables ...[]Desc) []byte {
	descs := slices.Concat(tables...)
	slices.SortStableFunc(descs, func(a, b Desc) int { return strings.Compare(a.Name, b.Name) })
	descs = slices.CompactFunc(descs, func(a, b Desc) bool { return a.Name == b.Name })
	dst = append(dst, "| Name | On /metrics | Kind | Unit | Tags | Meaning |\n|---|---|---|---|---|---|\n"...)
	for i := range descs {
		d := &descs[i]
		help := d.Help
		if d.Loss {
			help = "**DATA LOSS** " + help
		}
		tags := make([]string, len(d.Tags))
		for i, tag := range d.Tags {
			tags[i] = "`" + tag + "`"
		}
		for _, cell := range []string{"`veneur." + d.Name + "`", "`" + PrometheusName(d) + "`", d.Kind.String(), d.Unit, strings.Join(tags, ", "), help} {
			dst = append(dst, "| "...)
			dst = append(dst, cellEscaper.Replace(cell)...)
			dst = append(dst, ' ')
		}
		dst = append(dst, "|\n"...)
	}
	return dst
}

// cellEscaper keeps text from ending its cell or its row.
var cellEscaper = strings.NewReplacer("|", `\|`, "\n", " ")
