package json

import (
	"fmt"
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/ssf"
)

// typical is a span of 8 tags and 3 samples.
func typical() *ssf.SSFSpan {
	return &ssf.SSFSpan{
		TraceId: 6021394871293847561, Id: 2938475610293847561, ParentId: 8374650192837465019,
		StartTimestamp: 1767225600123456789, EndTimestamp: 1767225600193456789,
		Service: "checkout-frontend", Name: "POST /v1/charges", Indicator: true,
		Tags: []ssf.Tag{
			{Key: "env", Value: "production"},
			{Key: "region", Value: "eu-west-1"},
			{Key: "host", Value: "checkout-7f9c5d"},
			{Key: "http.status", Value: "200"},
			{Key: "http.method", Value: "POST"},
			{Key: "peer.service", Value: "ledger"},
			{Key: "db.system", Value: "postgresql"},
			{Key: "version", Value: "2026.01.07-3"},
		},
		Metrics: []ssf.SSFSample{
			{Metric: ssf.SSFSample_COUNTER, Name: "charges.count", Value: 1, SampleRate: 1, Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
			{Metric: ssf.SSFSample_HISTOGRAM, Name: "charges.duration", Value: 12.5, SampleRate: 1, Unit: "ms", Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
			{Metric: ssf.SSFSample_GAUGE, Name: "charges.load", Value: 0.1, SampleRate: 1, Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
		},
	}
}

// spanDoc is the document as a struct.
type spanDoc struct {
	Timestamp string            `json:"@timestamp"`
	Duration  int64             `json:"duration"`
	Error     bool              `json:"error"`
	ID        string            `json:"id"`
	Indicator bool              `json:"indicator"`
	Kind      string            `json:"kind"`
	Name      string            `json:"name"`
	ParentID  string            `json:"parent_id,omitempty"`
	Samples   []sampleDoc       `json:"samples,omitempty"`
	Service   string            `json:"service"`
	Tags      map[string]string `json:"tags"`
	TraceID   string            `json:"trace_id"`
}

type sampleDoc struct {
	Metric     string            `json:"metric"`
	Name       string            `json:"name"`
	SampleRate float32           `json:"sample_rate,omitempty"`
	Tags       map[string]string `json:"tags"`
	Unit       string            `json:"unit,omitempty"`
	Value      float32           `json:"value"`
}

func spanStruct(s *ssf.SSFSpan) *spanDoc {
	duration, _ := s.Duration()
	d := &spanDoc{
		Timestamp: time.Unix(0, s.StartTimestamp).UTC().Format("2006-01-02T15:04:05.000000000Z"),
		Duration:  int64(duration),
		Error:     s.Error,
		ID:        fmt.Sprintf("%016x", uint64(s.Id)),
		Indicator: s.Indicator,
		Kind:      "span",
		Name:      s.Name,
		ParentID:  fmt.Sprintf("%016x", uint64(s.ParentId)),
		Service:   s.Service,
		Tags:      tagMap(s.Tags),
		TraceID:   fmt.Sprintf("%032x", uint64(s.TraceId)),
	}
	names := [...]string{"counter", "gauge", "histogram"}
	for i := range s.Metrics {
		m := &s.Metrics[i]
		d.Samples = append(d.Samples, sampleDoc{
			Metric: names[m.Metric], Name: m.Name, SampleRate: m.SampleRate, Tags: tagMap(m.Tags), Unit: m.Unit, Value: m.Value,
		})
	}
	return d
}

func spanMap(s *ssf.SSFSpan) map[string]any {
	d := spanStruct(s)
	var samples []any
	for _, m := range d.Samples {
		sample := map[string]any{"metric": m.Metric, "name": m.Name, "sample_rate": m.SampleRate, "tags": m.Tags, "value": m.Value}
		if m.Unit != "" {
			sample["unit"] = m.Unit
		}
		samples = append(samples, sample)
	}
	return map[string]any{
		"@timestamp": d.Timestamp, "duration": d.Duration, "error": d.Error, "id": d.ID, "indicator": d.Indicator, "kind": d.Kind, "name": d.Name,
		"parent_id": d.ParentID, "samples": samples, "service": d.Service, "tags": d.Tags, "trace_id": d.TraceID,
	}
}

func tagMap(tags []ssf.Tag) map[string]string {
	m := map[string]string{}
	for _, t := range tags {
		m[t.Key] = t.Value
	}
	return m
}

// valueMap is of the shape in which a google.protobuf.Struct comes.
func valueMap() map[string]any {
	return map[string]any{
		"user":    map[string]any{"id": "acct_1032D82eZvKYlo2C", "admin": false, "score": 0.75, "team": nil},
		"request": map[string]any{"method": "POST", "path": "/v1/charges", "bytes": 1532.0, "took": 12.5, "agent": "curl/8.9"},
		"items":   []any{"card", "voucher", 3.0, true},
		"message": "charge accepted",
		"retries": 0.0,
		"level":   "info",
	}
}

func valueTree() *jsonappend.Tree {
	t := &jsonappend.Tree{}
	t.BeginMap("")
	t.BeginMap("user")
	t.Text("id", "acct_1032D82eZvKYlo2C")
	t.Bool("admin", false)
	t.Float64("score", 0.75)
	t.Null("team")
	t.End()
	t.BeginMap("request")
	t.Text("method", "POST")
	t.Text("path", "/v1/charges")
	t.Float64("bytes", 1532)
	t.Float64("took", 12.5)
	t.Text("agent", "curl/8.9")
	t.End()
	t.BeginList("items")
	t.Text("", "card")
	t.Text("", "voucher")
	t.Float64("", 3)
	t.Bool("", true)
	t.End()
	t.Text("message", "charge accepted")
	t.Float64("retries", 0)
	t.Text("level", "info")
	t.End()
	return t
}
