package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	refused := Desc{Name: "ingest.refused", Kind: Counter, Unit: "lines", Tags: []string{"protocol", "reason"}, Help: "Lines a|b refused.", Loss: true}
	series := Desc{Name: "a.series", Kind: Gauge, Unit: "series", Help: "Two\nlines."}
	require.Equal(t, `before
| Name | On /metrics | Kind | Unit | Tags | Meaning |
|---|---|---|---|---|---|
| `+"`veneur.a.series` | `veneur_a_series` | gauge | series |  | Two lines. |"+`
| `+"`veneur.ingest.refused` | `veneur_ingest_refused_total` | counter | lines | `protocol`, `reason` | **DATA LOSS** Lines a\\|b refused. |"+`
`, string(AppendMarkdown([]byte("before\n"), []Desc{refused}, []Desc{series, refused})))
}

func TestOwnDescriptionsAreComplete(t *testing.T) {
	for _, d := range Descs() {
		require.NotEmpty(t, d.Help, d.Name)
		require.NotEmpty(t, d.Unit, d.Name)
	}
}
