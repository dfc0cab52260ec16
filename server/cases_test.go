package server_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// conformanceCase is one line of the conformance file; see package dogstatsd.
type conformanceCase struct {
	ID, Line string
	Expect   outcome
	AlsoOK   *outcome `json:"also_ok"`
	Agg      map[string]float64
}

type outcome struct {
	Samples []struct {
		Kind, Name string
		Values     []any
	}
	Errors int
	Error  bool
}

// refused is how many lines of the payload are refused.
func (o *outcome) refused() float64 {
	if o.Error {
		return 1
	}
	return float64(o.Errors)
}

func (o *outcome) count(kind string) float64 {
	n := 0
	for _, s := range o.Samples {
		if s.Kind == kind {
			n += max(1, len(s.Values)*btoi(kind == "metric"))
		}
	}
	return float64(n)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func readCases(t *testing.T) []conformanceCase {
	f, err := os.Open(filepath.Join("..", "protocol", "dogstatsd", "testdata", "dogstatsd.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var cases []conformanceCase
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		var c conformanceCase
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &c))
		cases = append(cases, c)
	}
	require.Len(t, cases, 144)
	return cases
}

// Every case goes through a whole daemon: its lines are accounted for, and where the case says what a flush gives, the file has that.
func TestConformanceThroughADaemon(t *testing.T) {
	for _, c := range readCases(t) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out.ndjson")
			d := servertest.Start(t, `
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
num_readers: 1
aggregates: [min, max, avg, count, sum]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`)
			d.Send("udp", c.Line)
			d.Await(1, "ingest.packets")
			require.NoError(t, d.Stop())

			metrics, events, checks := c.Expect.count("metric"), c.Expect.count("event"), c.Expect.count("service_check")
			assert.Equal(t, metrics, d.Value("ingest.samples"))
			assert.Equal(t, events, d.Value("ingest.events"))
			assert.Equal(t, checks, d.Value("ingest.checks"))
			assert.Equal(t, c.Expect.refused(), d.Value("ingest.refused"))
			checkAggregates(t, c, servertest.Records(t, out))
		})
	}
}

func checkAggregates(t *testing.T, c conformanceCase, records []servertest.Record) {
	t.Helper()
	if c.Agg == nil {
		return
	}
	totals := servertest.Totals(records)
	name, _, _ := strings.Cut(c.Line, ":")
	for what, want := range c.Agg {
		switch what {
		case "counter", "gauge", "set":
			assert.Equal(t, want, totals[name], what)
		case "series":
			assert.Len(t, records, int(want), what)
		default:
			assert.Equal(t, want, totals[name+"."+what], what)
		}
	}
}
