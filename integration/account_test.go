//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
)

// plainSpans returns n small spans with ids from first on.
func plainSpans(first, n int) []*ssf.SSFSpan {
	start := time.Now().UnixNano()
	spans := make([]*ssf.SSFSpan, n)
	for i := range spans {
		id := int64(first + i)
		spans[i] = &ssf.SSFSpan{
			TraceId: id/8 + 1, Id: id, ParentId: id/8 + 1, StartTimestamp: start + id, EndTimestamp: start + id + 1e6, Service: "web", Name: "get",
			Tags: []ssf.Tag{{Key: "env", Value: "prod"}, {Key: "route", Value: "/a"}, {Key: "zone", Value: "b"}},
		}
	}
	return spans
}

// outcomes is where documents of spans ended.
type outcomes struct{ indexed, existing, dropped int }

func outcomesOf(d *servertest.Daemon) outcomes {
	documents := func(outcome string) int {
		return int(d.Value("sink.elasticsearch.documents", "signal:spans", "outcome:"+outcome))
	}
	return outcomes{documents("indexed"), documents("existing"), int(d.Value("sink.elasticsearch.dropped", "signal:spans"))}
}

// settled waits until none of n spans waits any more.
func settled(t testing.TB, d *servertest.Daemon, n int, limit time.Duration) {
	t.Helper()
	until(t, "settled", limit, func() bool {
		return d.Value("sink.offered", "sink:es") >= float64(n) && d.Value("sink.waiting", "sink:es") == 0
	})
}

// A template of somebody else that disagrees about a type costs just the documents that do not fit.
func TestMappingConflict(t *testing.T) {
	node := sharedNode(t)
	node.must("PUT", "/_index_template/conflict", `{"index_patterns":["traces-conflict.otel-*"],"data_stream":{},"priority":900,
		"template":{"mappings":{"dynamic":false,"properties":{"@timestamp":{"type":"date_nanos"},"name":{"type":"long"}}}}}`, nil)
	d := servertest.Start(t, spanSettings(node.url, "dataset: conflict", "linger: 100ms"))
	explain(t, d)
	begun := time.Now()
	spans := plainSpans(1, 1000)
	for i, s := range spans {
		if s.Name = fmt.Sprint(i); i%5 == 0 {
			s.Name = "no number"
		}
	}
	sendSpans(t, d.Dial("SSF", "tcp"), spans)
	settled(t, d, 1000, time.Minute)
	assert.Equal(t, outcomes{indexed: 800, dropped: 200}, settledOnce(outcomesOf(d)))
	assert.EqualValues(t, 200, d.Value("sink.elasticsearch.dropped", "reason:mapper_parsing_exception"))
	assert.EqualValues(t, 200, d.Value("sink.spans", "sink:es", "outcome:refused"))
	assert.EqualValues(t, 800, d.Value("sink.spans", "sink:es", "outcome:sent"))
	assert.Equal(t, 800, node.count("traces-conflict.otel-default"))
	examples := strings.Count(d.Log.String(), "mapper_parsing_exception: failed to parse field [name]")
	assert.Positive(t, examples)
	assert.LessOrEqual(t, examples, 1+int(time.Since(begun)/time.Minute), "one example a minute")
}

// settledOnce counts a document whose first answer was lost as indexed.
func settledOnce(o outcomes) outcomes {
	o.indexed, o.existing = o.indexed+o.existing, 0
	return o
}

// More keys of tags than an index may have fields: with a mapping that makes a field of each, the limit on keys has every document arrive;
// without it documents beyond the backend's limit are dropped, and counted. Tags in one field have no limit.
func TestThousandAndOneKeys(t *testing.T) {
	node := sharedNode(t)
	node.must("PUT", "/_index_template/explosion", `{"index_patterns":["traces-explosion*.otel-*"],"data_stream":{},"priority":900,
		"template":{"mappings":{"properties":{"@timestamp":{"type":"date_nanos"}}}}}`, nil)
	const n, each = 22, 50 // 1100 keys; the backend takes a while for each document that brings new ones
	spans := plainSpans(1, n)
	for i, s := range spans {
		s.Tags = nil
		for j := range each {
			s.SetTag(fmt.Sprintf("key%04d", i*each+j), "v")
		}
	}
	tests := []struct {
		dataset, settings string
		dropped, left     bool
	}{
		{"explosion1", "max_tag_keys: 450", false, true},
		{"explosion2", "max_tag_keys: 0", true, false},
		{"flat", "max_tag_keys: 0\ninstall_templates: true", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.dataset, func(t *testing.T) {
			node := sharedNode(t)
			d := servertest.Start(t, spanSettings(node.url, "dataset: "+tt.dataset+"\n"+tt.settings, "linger: 100ms"))
			explain(t, d)
			sendSpans(t, d.Dial("SSF", "tcp"), spans)
			settled(t, d, n, 2*time.Minute)
			o := settledOnce(outcomesOf(d))
			t.Logf("%+v, %v tags left out", o, d.Value("sink.elasticsearch.tags_left_out"))
			assert.Equal(t, n, o.indexed+o.dropped)
			assert.Equal(t, tt.dropped, o.dropped > 0)
			assert.EqualValues(t, o.dropped, d.Value("sink.elasticsearch.dropped", "reason:field_limit"))
			assert.Equal(t, tt.left, d.Value("sink.elasticsearch.tags_left_out") > 0)
			assert.Equal(t, o.indexed, node.count("traces-"+tt.dataset+".otel-default"))
		})
	}
}

// A backend that takes a hundredth of what is sent at once gets it in pieces, and a document that it will never take is dropped alone.
func TestRequestTooLarge(t *testing.T) {
	node := startOpenSearch(t, "http.max_content_length=100kb")
	d := servertest.Start(t, spanSettings(node.url, "install_templates: true\nmax_text_bytes: 0\ncompression: none", "linger: 300ms"))
	explain(t, d)
	spans := plainSpans(1, 2000)
	for i := range 6 {
		spans[1234].SetTag(fmt.Sprint("large", i), strings.Repeat("x", 20_000))
	}
	sendSpans(t, d.Dial("SSF", "tcp"), spans)
	settled(t, d, 2000, time.Minute)
	assert.Equal(t, outcomes{indexed: 1999, dropped: 1}, settledOnce(outcomesOf(d)))
	assert.EqualValues(t, 1, d.Value("sink.elasticsearch.dropped", "reason:too_large"))
	assert.Equal(t, 1999, node.count("traces-veneur.otel-default"))
	assert.Greater(t, d.Value("sink.attempts", "sink:es", "result:too_large"), 1.0)
}

// paced sends spans at a rate, and returns how many: it ends when stop says so, or with the last span.
func paced(t testing.TB, d *servertest.Daemon, spans []*ssf.SSFSpan, perSecond int) {
	t.Helper()
	conn := d.Dial("SSF", "tcp")
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	begun := time.Now()
	for sent := 0; sent < len(spans); <-tick.C {
		due := min(len(spans), int(time.Since(begun).Seconds()*float64(perSecond)))
		sendSpans(t, conn, spans[sent:due])
		sent = due
	}
}

// A node is killed while it takes spans, and comes back: every span is there once, and each has one outcome.
func TestNodeKilled(t *testing.T) {
	node := startOpenSearch(t)
	d := servertest.Start(t, spanSettings(node.url, "install_templates: true", "linger: 100ms\nretry_max: 1s\nexpire_after: 5m"))
	explain(t, d)
	const n, late = 21_000, 1000
	done := make(chan struct{})
	go func() {
		defer close(done)
		paced(t, d, plainSpans(1, n-late), 2000)
	}()
	until(t, "taken", time.Minute, func() bool { return outcomesOf(d).indexed > 1000 })
	node.process.kill()
	<-done
	sendSpans(t, d.Dial("SSF", "tcp"), plainSpans(n-late+1, late))
	until(t, "offered", time.Minute, func() bool { return d.Value("sink.offered", "sink:es") == n })
	require.NotZero(t, d.Value("sink.waiting", "sink:es"))
	node.startAgain()
	settled(t, d, n, 3*time.Minute)
	o := outcomesOf(d)
	t.Logf("%+v; %v attempts failed", o, d.Value("sink.attempts", "sink:es", "result:error"))
	assert.Equal(t, outcomes{indexed: n}, settledOnce(o))
	assert.EqualValues(t, n, d.Value("sink.spans", "sink:es", "outcome:sent"))
	assert.Equal(t, n, node.count("traces-veneur.otel-default"))
}
