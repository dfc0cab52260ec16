package main

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
)

func TestMetricsOfADaemon(t *testing.T) {
	r := telemetry.New()
	desc := telemetry.Desc{Name: "ingest.packets", Kind: telemetry.Counter, Unit: "packets", Tags: []string{"listener", "b"}, Help: `a "quoted" \ help`}
	r.Counter(&desc, `one "two" \`+"\nthree", "}").Add(3)
	r.Counter(&desc, "x, y", "b").Add(1 << 40)
	plain := telemetry.Desc{Name: "flush.duration", Kind: telemetry.Gauge, Unit: "seconds", Help: "x"}
	r.Gauge(&plain).Set(0.125)
	m, err := parseMetrics(string(r.AppendText(nil)))
	require.NoError(t, err)
	assert.InDelta(t, 3, m.sum("veneur_ingest_packets_total", "listener", `one "two" \`+"\nthree"), 0)
	assert.InDelta(t, 1<<40, m.sum("veneur_ingest_packets_total", "b", "b"), 0)
	assert.InDelta(t, 1<<40+3, m.sum("veneur_ingest_packets_total"), 0)
	assert.InDelta(t, 0.125, m.sum("veneur_flush_duration"), 0)
	assert.Zero(t, m.sum("veneur_flush"))
	assert.Zero(t, m.sum("veneur_ingest_packets_total", "listener", "x"))
	assert.Equal(t, "}", m.label("veneur_ingest_packets_total", "b"))
	assert.Empty(t, m.label("nothing", "b"))
}

func TestMetricsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		name, page string
		want       float64 // of a
		wrong      bool
	}{
		{name: "nothing", page: "# HELP a b\n\n# TYPE a counter\n"},
		{name: "a time behind", page: "a 5 1700000000\n", want: 5},
		{name: "no line end", page: `a{b="c"} 5`, want: 5},
		{name: "blanks and a last comma", page: `a{b="c", d="e",} 5e3`, want: 5000},
		{name: "no labels in braces", page: "a{} 1", want: 1},
		{name: "no value", page: "a", wrong: true},
		{name: "no number", page: "a x", wrong: true},
		{name: "no name", page: "{} 1", wrong: true},
		{name: "no closing quote", page: `a{b="c} 1`, wrong: true},
		{name: "no quotes", page: `a{b=c} 1`, wrong: true},
		{name: "no closing brace", page: `a{b="c" 1`, wrong: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := parseMetrics(tt.page)
			require.Equal(t, tt.wrong, err != nil, "%v", err)
			require.InDelta(t, tt.want, m.sum("a"), 0)
		})
	}
}

func TestProcessFigures(t *testing.T) {
	cpu, err := parseStat("42 (a (b) c) S 1 42 42 0 -1 4194560 1 2 3 4 150 25 7 8 20 0 9 0 1 2 3 4\n")
	require.NoError(t, err)
	require.Equal(t, 1750*time.Millisecond, cpu)
	_, err = parseStat("42 (a) S 1")
	require.ErrorContains(t, err, "is no /proc/PID/stat")

	status := "Name:\tx\nVmHWM:\t   71234 kB\nVmRSS:\t  60000 kB\n"
	rss, err := parseStatus(status, "VmRSS:")
	require.NoError(t, err)
	require.EqualValues(t, 60000<<10, rss)
	_, err = parseStatus(status, "VmSwap:")
	require.ErrorContains(t, err, "has no VmSwap:")

	u, err := usageOf(os.Getpid())
	require.Equal(t, runtime.GOOS == "linux", err == nil, "%v", err)
	if err == nil {
		require.Positive(t, u.resident)
		require.GreaterOrEqual(t, u.top, u.resident)
	}
	require.Equal(t, "AMD X", cpuModel("processor : 0\nmodel name\t: AMD X\nmodel name\t: Y\n", "z"))
	require.Equal(t, "z", cpuModel("", "z"))
	require.Contains(t, machine(), "cores")
}
