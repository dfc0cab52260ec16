package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// The documents as maps, for encoding/json to write with sorted keys. They know nothing of the rules for keys: in these tests Options.Keys
// is the zero value.

const nineDigits = "2006-01-02T15:04:05.000000000Z"

func spanMap(s *ssf.SSFSpan, samples bool) map[string]any {
	duration, _ := s.Duration()
	m := map[string]any{
		"@timestamp": time.Unix(0, s.StartTimestamp).UTC().Format(nineDigits),
		"duration":   int64(duration),
		"error":      s.Error,
		"id":         fmt.Sprintf("%016x", uint64(s.Id)),
		"indicator":  s.Indicator,
		"kind":       "span",
		"name":       s.Name,
		"service":    s.Service,
		"tags":       tagMap(s.Tags),
		"trace_id":   fmt.Sprintf("%032x", uint64(s.TraceId)),
	}
	if s.ParentId != 0 {
		m["parent_id"] = fmt.Sprintf("%016x", uint64(s.ParentId))
	}
	if s.RootStartTimestamp != 0 {
		m["root_timestamp"] = time.Unix(0, s.RootStartTimestamp).UTC().Format(nineDigits)
	}
	if s.Version != 0 {
		m["version"] = s.Version
	}
	if samples && len(s.Metrics) > 0 {
		list := make([]any, 0, len(s.Metrics))
		for i := range s.Metrics {
			list = append(list, sampleMap(&s.Metrics[i]))
		}
		m["samples"] = list
	}
	return m
}

func sampleMap(s *ssf.SSFSample) map[string]any {
	m := map[string]any{
		"metric": strings.ToLower(s.Metric.String()),
		"name":   s.Name,
		"tags":   tagMap(s.Tags),
	}
	if s.Message != "" {
		m["message"] = s.Message
	}
	if s.SampleRate != 0 && finite(s.SampleRate) {
		m["sample_rate"] = s.SampleRate
	}
	if s.Scope != 0 {
		m["scope"] = strings.ToLower(s.Scope.String())
	}
	if s.Metric == ssf.SSFSample_STATUS || s.Status != 0 {
		m["status"] = strings.ToLower(s.Status.String())
	}
	if s.Timestamp != 0 {
		m["timestamp"] = time.Unix(0, s.Timestamp).UTC().Format(nineDigits)
	}
	if s.Unit != "" {
		m["unit"] = s.Unit
	}
	if finite(s.Value) {
		m["value"] = s.Value
	}
	return m
}

func finite(v float32) bool { return math.Abs(float64(v)) <= math.MaxFloat32 }

// tagMap has the keys and values as they are written: a map of encoding/json's may hold keys that are one once written.
func tagMap(tags []ssf.Tag) map[string]string {
	m := make(map[string]string, len(tags))
	for _, t := range tags {
		m[repaired(t.Key)] = repaired(t.Value)
	}
	return m
}

// repaired has U+FFFD for each byte that is no UTF-8.
func repaired(s string) string { return string([]rune(s)) }

func metricTagMap(tags []string) map[string]any {
	m := map[string]any{}
	for _, t := range tags {
		k, v, _ := strings.Cut(t, ":")
		k, v = repaired(k), repaired(v)
		switch old := m[k].(type) {
		case nil:
			m[k] = v
		case string:
			m[k] = []string{old, v}
		case []string:
			m[k] = append(old, v)
		}
	}
	return m
}

func pointMap(p *metric.Point, end time.Time, interval time.Duration) map[string]any {
	at := end
	if p.Time != 0 {
		at = time.Unix(p.Time, 0)
	}
	return map[string]any{
		"@timestamp": at.UTC().Format(nineDigits),
		"interval":   int64(interval),
		"kind":       "point",
		"name":       p.Name,
		"tags":       metricTagMap(p.Series.Tags),
		"type":       p.Type.String(),
		"value":      p.Value,
	}
}

func eventMap(e *metric.Event) map[string]any {
	m := map[string]any{
		"@timestamp": time.Unix(e.Time, 0).UTC().Format(nineDigits),
		"kind":       "event",
		"tags":       metricTagMap(e.Tags),
		"text":       e.Text,
		"title":      e.Title,
	}
	for key, v := range map[string]string{
		"aggregation_key": e.AggregationKey, "alert_type": e.AlertType, "host": e.Host, "priority": e.Priority, "source_type": e.SourceType,
	} {
		if v != "" {
			m[key] = v
		}
	}
	return m
}

func checkMap(c *metric.Check) map[string]any {
	m := map[string]any{
		"@timestamp": time.Unix(c.Time, 0).UTC().Format(nineDigits),
		"kind":       "check",
		"name":       c.Name,
		"status":     strings.ToLower(c.Status.String()),
		"tags":       metricTagMap(c.Tags),
	}
	if c.Host != "" {
		m["host"] = c.Host
	}
	if c.Message != "" {
		m["message"] = c.Message
	}
	return m
}

// ofStdlib is encoding/json's text without its escaping of HTML, but for the listed differences: what it escapes of U+FFFD and of the
// separators stands as it is.
func ofStdlib(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return listed(strings.TrimSuffix(b.String(), "\n"))
}

func listed(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	return strings.NewReplacer(`\\`, `\\`, `\ufffd`, "\ufffd", `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(text)
}
