package elasticsearch

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
)

func TestPattern(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC).Unix()
	tests := []struct{ text, want, wild, fault string }{
		{text: "spans", want: "spans", wild: "spans"},
		{text: "spans-%Y.%m.%d", want: "spans-2024.01.02", wild: "spans-*.*.*"},
		{text: "%Y-%m-%d-%H", want: "2024-01-02-03", wild: "*-*-*-*"},
		{text: "", fault: "is not the name of an index"},
		{text: "Spans", fault: "is not the name of an index"},
		{text: "_spans", fault: "is not the name of an index"},
		{text: "a b", fault: "is not the name of an index"},
		{text: "a%", fault: "has a %"},
		{text: "a%%", fault: "has a %"},
		{text: strings.Repeat("a", maxIndexName+1), fault: "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			p, fault := parsePattern(tt.text)
			if tt.fault != "" {
				assert.Contains(t, fault, tt.fault)
				return
			}
			require.Empty(t, fault)
			assert.Equal(t, tt.want, p.at(at))
			assert.Equal(t, tt.wild, p.wild())
		})
	}
	p, _ := parsePattern("a-%Y")
	assert.Equal(t, "a-1969", p.at(-1))
}

func TestCleanPart(t *testing.T) {
	tests := []struct{ in, want string }{
		{"shop", "shop"},
		{"Shop-Front", "shop_front"},
		{`a\/*?"<>|,#: b`, "a____________b"},
		{"a\xff\n", "a__"},
		{"größe", "größe"},
		{strings.Repeat("ü", 100), strings.Repeat("ü", 50)},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, cleanPart(tt.in), "%q", tt.in)
	}
}

// Tags choose data streams, up to a number of them.
func TestRouteByTags(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "dataset_tag: team\nnamespace_tag: env\nmax_streams: 3\nmetrics: value")
	sample := span(4, "team", "a")
	require.NoError(t, r.send(
		span(1, "team", "Shop-1", "env", "prod"), span(2, "env", "prod"), span(3, "team", ""), sample,
		span(5, "team", "b"), span(6, "team", "a"), span(7, "team", "veneur", "env", "default"),
	))
	var got []string
	for _, d := range f.docs() {
		got = append(got, d.index)
	}
	assert.Equal(t, []string{
		"traces-shop_1.otel-prod", "traces-veneur.otel-prod", "traces-veneur.otel-default", "traces-a.otel-default",
		"traces-veneur.otel-default", "traces-a.otel-default", "traces-veneur.otel-default",
	}, got)
	assert.Equal(t, map[string]any{"type": "traces", "dataset": "shop_1.otel", "namespace": "prod"}, f.decoded(0)["data_stream"])

	require.NoError(t, r.sendPoints(gauge("g", 1, "env:prod", "team:a"), gauge("g", 1)))
	assert.Equal(t, "metrics-a.otel-prod", f.docs()[7].index)
	assert.Equal(t, "metrics-veneur.otel-default", f.docs()[8].index)
}

// A data stream that nobody made a template for does not hold up the others.
func TestOneMissingTemplateAmongOthers(t *testing.T) {
	f := newFake(t)
	f.handlers["PUT /_data_stream/traces-a.otel-default"] = refusal(f, 400, "illegal_argument_exception", "no matching index template found")
	r := newRig(t, f, "dataset_tag: team")
	err := r.send(span(1, "team", "a"), span(2))
	var partial *sinks.PartialError
	require.ErrorAs(t, err, &partial)
	assert.Equal(t, []sinks.Item{{Index: 0, Fate: sinks.Refused, Reason: sinks.ReasonNoTarget}}, partial.Items)
	assert.Len(t, f.docs(), 1)
	assert.Equal(t, 1, r.droppedFor("spans", "no_template"))
}

// The index of a document is that of its own time.
func TestPlainIndexes(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "target: index\ncheck_templates: false")
	old := span(2)
	old.StartTimestamp -= int64(48 * time.Hour)
	require.NoError(t, r.send(span(1), old, span(3)))
	p := gauge("g", 1)
	p.Time = begin.Unix() - 86400
	require.NoError(t, r.sendPoints(p, gauge("g", 2)))
	var got []string
	for _, d := range f.docs() {
		got = append(got, d.index)
	}
	assert.Equal(t, []string{
		"veneur-traces-2024.01.02", "veneur-traces-2023.12.31", "veneur-traces-2024.01.02", "veneur-metrics-2024.01.01", "veneur-metrics-2024.01.02",
	}, got)
	assert.NotContains(t, f.decoded(0), "data_stream")
}

// A hundred days of indexes do not stay in memory.
func TestOldIndexesAreForgotten(t *testing.T) {
	c := DefaultConfig()
	c.Target = targetIndex
	s := newStreams(&c)
	for day := range int64(1000) {
		s.of(traces, day*86400, nil)
	}
	assert.LessOrEqual(t, len(s.byName), maxIndexes)
}
