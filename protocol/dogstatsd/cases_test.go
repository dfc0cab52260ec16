package dogstatsd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

// testCase is one row of testdata/dogstatsd.jsonl: a datagram and what must come of it.
type testCase struct {
	ID     string   `json:"id"`
	Line   string   `json:"line"`
	Expect outcome  `json:"expect"`
	AlsoOK *outcome `json:"also_ok"`
}

// outcome is what a datagram gives: samples, and a number of errors. Error says that there is just one error and no sample.
type outcome struct {
	Samples []caseSample `json:"samples"`
	Errors  int          `json:"errors"`
	Error   bool         `json:"error"`
}

// caseSample is any accepted line. What is absent from a case is the zero value here, and must be absent from the line too.
type caseSample struct {
	Kind   string   `json:"kind"`
	Type   string   `json:"type"`
	Name   string   `json:"name"`
	Values []any    `json:"values"`
	Rate   float64  `json:"rate"`
	Tags   []string `json:"tags"`
	Time   int64    `json:"timestamp"`
	Scope  string   `json:"scope"`

	ContainerID    string        `json:"container_id"`
	ContainerInode uint64        `json:"container_inode"`
	External       *caseExternal `json:"external_data"`
	Cardinality    string        `json:"cardinality"`
	PodUID         string        `json:"origin_pod_uid"`

	Title          string `json:"title"`
	Text           string `json:"text"`
	Host           string `json:"host"`
	Priority       string `json:"priority"`
	AlertType      string `json:"alert_type"`
	AggregationKey string `json:"aggregation_key"`
	SourceType     string `json:"source_type"`
	Status         int    `json:"status"`
	Message        string `json:"message"`
}

type caseExternal struct {
	Init          bool   `json:"init"`
	ContainerName string `json:"container_name"`
	PodUID        string `json:"pod_uid"`
}

func loadCases(tb testing.TB) []testCase {
	raw, err := os.ReadFile("testdata/dogstatsd.jsonl")
	require.NoError(tb, err)
	var cases []testCase
	for scan := bufio.NewScanner(bytes.NewReader(raw)); scan.Scan(); {
		var c testCase
		require.NoError(tb, json.Unmarshal(scan.Bytes(), &c))
		cases = append(cases, c)
	}
	return cases
}

// TestCases holds the parser against every case. A case that gives its second best outcome fails as well: this parser has none.
func TestCases(t *testing.T) {
	cases := loadCases(t)
	require.Len(t, cases, 144)
	passed, second := 0, 0
	for _, c := range cases {
		got := parseCase(t, c.Line)
		if assert.ObjectsAreEqual(normal(c.Expect), got) {
			passed++
			continue
		}
		if c.AlsoOK != nil && assert.ObjectsAreEqual(normal(*c.AlsoOK), got) {
			second++
		}
		assert.Equal(t, normal(c.Expect), got, "case %s: %q", c.ID, c.Line)
	}
	t.Logf("%d of %d cases as expected, %d by their second outcome", passed, len(cases), second)
}

// normal writes the short form of a single error out.
func normal(o outcome) outcome {
	if o.Error {
		return outcome{Errors: 1}
	}
	if len(o.Samples) == 0 {
		o.Samples = nil
	}
	return o
}

func parseCase(t *testing.T, datagram string) outcome {
	var p Parser
	var o outcome
	p.Reset([]byte(datagram), testNow)
	for l := p.Next(); l != nil; l = p.Next() {
		if l.Kind == RefusedLine {
			require.NotEqual(t, ReasonNone, l.Reason)
			o.Errors++
			continue
		}
		o.Samples = append(o.Samples, sampleOf(t, l))
	}
	return o
}

func sampleOf(t *testing.T, l *Line) caseSample {
	c := caseSample{
		Kind: l.Kind.String(), ContainerID: string(l.Origin.ContainerID), ContainerInode: l.Origin.ContainerInode,
		Cardinality: l.Origin.Cardinality,
	}
	if x := l.Origin.External; x.Init || x.ContainerName != nil || x.PodUID != nil {
		c.External = &caseExternal{Init: x.Init, ContainerName: string(x.ContainerName), PodUID: string(x.PodUID)}
	}
	var tags []byte
	switch l.Kind {
	case MetricLine:
		s := &l.Sample
		c.Type, c.Name, c.Rate, c.Time, tags = s.Kind.String(), string(s.Name), s.Rate, s.Time, s.Tags
		for _, v := range s.Values {
			c.Values = append(c.Values, v)
		}
		if s.Kind == metric.Set {
			c.Values = []any{string(s.Text)}
		}
	case EventLine:
		e := &l.Event
		c.Title, c.Text, c.Time, c.Host, tags = string(e.Title), string(e.Text), e.Time, string(e.Host), e.Tags
		c.Priority, c.AlertType = e.Priority, e.AlertType
		c.AggregationKey, c.SourceType = string(e.AggregationKey), string(e.SourceType)
	case CheckLine:
		k := &l.Check
		c.Kind = "service_check"
		c.Name, c.Status, c.Message, c.Time, c.Host, tags = string(k.Name), int(k.Status), string(k.Message), k.Time, string(k.Host), k.Tags
	}
	var set metric.TagSet
	require.True(t, set.Parse(metric.TagsList, tags))
	c.Tags = append([]string{}, set.Tags...)
	if set.Scope != metric.Mixed {
		c.Scope = set.Scope.String()
	}
	c.PodUID = set.EntityID
	if c.Cardinality == "" {
		c.Cardinality = set.Cardinality
	}
	return c
}
