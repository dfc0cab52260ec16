package servertest

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Record is one line of a file that the sink localfile wrote as ndjson: a metric, an event, a service check or a span.
type Record struct {
	Kind      string
	Name      string
	Tags      json.RawMessage // a list, of a span an object
	Type      string
	Value     float64
	Timestamp int64
	IntervalS float64 `json:"interval_s"`
	Hostname  string

	Title, Text, Host, Priority, Message string
	AggregationKey                       string `json:"aggregation_key"`
	AlertType                            string `json:"alert_type"`
	SourceType                           string `json:"source_type"`
	Status                               int

	TraceID          string `json:"trace_id"`
	ID               string
	ParentID         string `json:"parent_id"`
	Service          string
	StartNS          int64 `json:"start_ns"`
	EndNS            int64 `json:"end_ns"`
	Error, Indicator bool
}

// TagList returns the tags of anything but a span, joined by commas.
func (r *Record) TagList() string {
	var tags []string
	if json.Unmarshal(r.Tags, &tags) != nil {
		return "?" + string(r.Tags)
	}
	return strings.Join(tags, ",")
}

// Records reads a file of ndjson. A file that is not there has none. Every line must be whole.
func Records(t testing.TB, path string) []Record {
	t.Helper()
	return records(t, content(t, path))
}

// RecordsSoFar is Records for a file that is being written to, whose last line may be there in part: that one is left out.
func RecordsSoFar(t testing.TB, path string) []Record {
	t.Helper()
	data := content(t, path)
	return records(t, data[:bytes.LastIndexByte(data, '\n')+1])
}

// content is nil for a file that is not there.
func content(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return data
}

func records(t testing.TB, data []byte) []Record {
	t.Helper()
	var records []Record
	for line := range bytes.Lines(data) {
		var r Record
		require.NoError(t, json.Unmarshal(line, &r), "%s", line)
		records = append(records, r)
	}
	return records
}

// Totals adds up the metrics of records by name, and by name and tags as "name|tags". Of gauges the last stands.
func Totals(records []Record) map[string]float64 {
	totals := map[string]float64{}
	for i := range records {
		r := &records[i]
		if r.Kind != "metric" {
			continue
		}
		for _, key := range slices.Compact([]string{r.Name, r.Name + "|" + r.TagList()}) {
			if r.Type == "counter" {
				totals[key] += r.Value
			} else {
				totals[key] = r.Value
			}
		}
	}
	return totals
}
