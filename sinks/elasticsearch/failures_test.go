package elasticsearch

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/ssf"
)

// The tests of this file are the failures that users of other shippers met, each named by its row in the README.

// Tags a and a.b, in one span and across two, are two keys of one object that the template maps as one field.
func TestFailure01KeyAndItsPath(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1, "a", "1", "a.b", "2"), span(2, "a.b", "3")))
	assert.Equal(t, map[string]any{"a": "1", "a.b": "2"}, f.decoded(0)["attributes"])
	assert.Equal(t, map[string]any{"a.b": "3"}, f.decoded(1)["attributes"])
	for _, openSearch := range []bool{true, false} {
		b := &backend{openSearch: openSearch, config: &Config{}}
		c := DefaultConfig()
		for _, made := range templates(&c, b) {
			if strings.HasPrefix(made.name, "veneur-metrics-veneur.otel") && !openSearch {
				continue // attributes are dimensions there, in a passthrough object, which has no objects below it
			}
			kind := field(t, made, "attributes")["type"]
			assert.Contains(t, []any{"flat_object", "flattened"}, kind, made.name)
		}
	}
	// Where the target has plain objects, one rule takes the dots away.
	jaeger := newRig(t, newFake(t), "layout: jaeger\njaeger_tags_as_fields: true\ncheck_templates: false")
	require.NoError(t, jaeger.send(span(1, "a", "1", "a.b", "2")))
	assert.Equal(t, map[string]any{"a": "1", "a@b": "2"}, jaeger.fake.decoded(0)["tag"])
	ecs := newRig(t, newFake(t), "layout: ecs")
	require.NoError(t, ecs.send(span(1, "a", "1", "a.b", "2")))
	assert.Equal(t, map[string]any{"a": "1", "a_b": "2"}, ecs.fake.decoded(0)["labels"])
}

// Names of metrics, of which one may be the path to another, are values of one field.
func TestB110MetricNameIsAValue(t *testing.T) {
	f := newFake(t)
	require.NoError(t, newRig(t, f, "metrics: value").sendPoints(gauge("a", 1), gauge("a.b", 2)))
	assert.Equal(t, "a", f.decoded(0)["metric"].(map[string]any)["name"])
	assert.Equal(t, "a.b", f.decoded(1)["metric"].(map[string]any)["name"])
}

func field(t *testing.T, made template, name string) object {
	t.Helper()
	return made.body["template"].(object)["mappings"].(object)["properties"].(object)[name].(object)
}

// Dots where no path of fields may have them are rewritten, and counted, at every depth that has keys of strangers.
func TestFailure02DotsAtTheEnds(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "samples: array")
	s := span(1, ".x", "1", "y.", "2", "a..b", "3", ".", "4", "", "5")
	s.Metrics = []ssf.SSFSample{{Name: "n", Value: 1, Tags: []ssf.Tag{{Key: ".x", Value: "1"}}}}
	require.NoError(t, r.send(s))
	doc := f.decoded(0)
	assert.Equal(t, map[string]any{"_x": "1", "y_": "2", "a__b": "3", "_": "5"}, doc["attributes"])
	sample := doc["ssf"].(map[string]any)["samples"].([]any)[0].(map[string]any)
	assert.Equal(t, map[string]any{"_x": "1"}, sample["tags"])
	assert.EqualValues(t, 6, r.registry.Value("sink.elasticsearch.keys", "change:rewritten"))
}

// A key that comes twice is written once, and a key that the document has already is moved out of its way: no document has two equal keys.
func TestFailure04DuplicateKeys(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1, "k", "1", "k", "2", "@timestamp", "3", "trace.id", "4", keyTruncated, "5", keyIndicator, "6")))
	doc := f.decoded(0)
	assert.Equal(t, map[string]any{
		"k": "2", "@timestamp": "3", "trace.id": "4", "_" + keyTruncated: "5", "_" + keyIndicator: "6",
	}, doc["attributes"])
	assert.NotEqual(t, "3", doc["@timestamp"])
	text := f.docs()[0].text
	assert.Equal(t, 1, strings.Count(text, `"k":`))
	assert.EqualValues(t, 1, r.registry.Value("sink.elasticsearch.keys", "change:duplicate"))
	assert.EqualValues(t, 2, r.registry.Value("sink.elasticsearch.keys", "change:reserved"))
}

// However many different keys come, an index gets no more than it may have; the rest is left out and counted, and every document arrives.
func TestFailure05FieldExplosion(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "max_tag_keys: 100\ndrop_tag_keys: [secret]")
	var list []*ssf.SSFSpan
	for i := range 1001 {
		list = append(list, span(int64(i+1), fmt.Sprintf("key%d", i), "v", "secret", "x"))
	}
	l := r.deliver(nil, list...)
	assert.EqualValues(t, 1001, l.Sent)
	keys := map[string]bool{}
	for i := range f.docs() {
		for key := range f.decoded(i)["attributes"].(map[string]any) {
			keys[key] = true
		}
	}
	assert.Len(t, keys, 100)
	assert.EqualValues(t, 901, r.registry.Value("sink.elasticsearch.tags_left_out", "reason:limit"))
	assert.EqualValues(t, 1001, r.registry.Value("sink.elasticsearch.tags_left_out", "reason:rule"))

	allowed := newRig(t, newFake(t), "tag_keys: [a]")
	require.NoError(t, allowed.send(span(1, "a", "1", "b", "2")))
	assert.Equal(t, map[string]any{"a": "1"}, allowed.fake.decoded(0)["attributes"])

	// A backend that has too many fields all the same refuses documents one by one.
	full := newRig(t, newFake(t), "")
	full.fake.item = func(_, i int, _, _, _ string) *outcome {
		if i == 1 {
			return failure(400, "illegal_argument_exception", "Limit of total fields [1000] has been exceeded")
		}
		return nil
	}
	l = full.deliver(nil, spans(3)...)
	assert.EqualValues(t, 2, l.Sent)
	assert.EqualValues(t, 1, l.Refused)
	assert.Equal(t, 1, full.droppedFor("spans", "field_limit"))
}

// Values of tags are strings whatever they look like, and no template guesses numbers or dates.
func TestFailure06NumbersInTags(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1, "code", "502"), span(2, "code", "n/a"), span(3, "code", "2024-01-01")))
	for i, want := range []string{"502", "n/a", "2024-01-01"} {
		assert.Equal(t, map[string]any{"code": want}, f.decoded(i)["attributes"])
	}
	for _, layout := range []string{layoutOTel, layoutECS, layoutJaeger} {
		c := DefaultConfig()
		c.Layout = layout
		for _, made := range templates(&c, &backend{config: &c}) {
			m := made.body["template"].(object)["mappings"].(object)
			assert.Equal(t, false, m["numeric_detection"], made.name)
			assert.Equal(t, false, m["date_detection"], made.name)
		}
	}
}

// A whole number is written so that a guess by the first document is a float, too.
func TestFailure08WholeFloats(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	s := span(1)
	s.Metrics = []ssf.SSFSample{{Name: "n", Value: 1}}
	require.NoError(t, r.send(s))
	require.NoError(t, r.sendPoints(gauge("g", 1), gauge("g", 1.5, "a:b")))
	for i, want := range []string{`"value":1.0`, `"metrics":{"g":1.0}`, `"metrics":{"g":1.5}`} {
		assert.Contains(t, f.docs()[i+1].text, want)
	}
}

// Numbers beyond what a long holds are floats by type.
func TestFailure10HugeIntegers(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "metrics: value")
	require.NoError(t, r.sendPoints(gauge("g", math.MaxUint64)))
	assert.Contains(t, f.docs()[0].text, `"value":18446744073709552000.0`)
	c := DefaultConfig()
	for _, made := range templates(&c, &backend{openSearch: true, config: &c}) {
		if strings.HasPrefix(made.name, "veneur-metrics-veneur.otel") {
			assert.Equal(t, double, field(t, made, "metric")["properties"].(object)["value"])
		}
	}
}

// Ids are strings of hexadecimal digits, which no reader takes for a double.
func TestFailure11IdsAreStrings(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	s := span(-1)
	s.TraceId, s.ParentId = 9007199254740993, math.MinInt64
	require.NoError(t, r.send(s))
	doc := f.decoded(0)
	assert.Equal(t, "00000000000000000020000000000001", doc["trace_id"])
	assert.Equal(t, "ffffffffffffffff", doc["span_id"])
	assert.Equal(t, "8000000000000000", doc["parent_span_id"])
}

// Control characters are escaped in values and in keys: a request is lines, and none is torn.
func TestFailure13ControlCharacters(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1, "a\nb", "\x1b[1m\x00\n\r\t", "bad\xff", "\xff")))
	assert.Equal(t, map[string]any{"a\nb": "\x1b[1m\x00\n\r\t", "bad\ufffd": "\ufffd"}, f.decoded(0)["attributes"])
	assert.Equal(t, 2, strings.Count(f.bulks[0], "\n"))
	assert.NotContains(t, f.bulks[0], "\x1b")
}

// A request is no larger than it may be before compression; what a backend still finds too large is halved until it fits, and a single document
// that never does is dropped, with a count.
func TestFailure14TooLarge(t *testing.T) {
	t.Run("our own limit", func(t *testing.T) {
		f := newFake(t)
		r := newRig(t, f, "max_request_bytes: 10000\nmax_text_bytes: 0")
		large := span(100, "k", strings.Repeat("x", 10_000))
		l := r.deliver(nil, append(spans(100), large)...)
		assert.EqualValues(t, 100, l.Sent)
		assert.EqualValues(t, 1, l.Refused)
		assert.Equal(t, 1, r.droppedFor("spans", "too_large"))
		for _, body := range f.bulks {
			assert.LessOrEqual(t, len(body), 10_000)
		}
		assert.Greater(t, len(f.bulks), 2)
	})
	t.Run("the backend's", func(t *testing.T) {
		f := newFake(t)
		f.request = func(n int, w http.ResponseWriter) bool {
			if len(f.bulks[n]) > 5000 || strings.Contains(f.bulks[n], "xxxx") {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return true
			}
			return false
		}
		r := newRig(t, f, "")
		large := span(100, "k", strings.Repeat("x", 4))
		l := r.deliver(nil, append(spans(99), large)...)
		assert.EqualValues(t, 99, l.Sent)
		assert.EqualValues(t, 1, l.Refused)
		assert.Equal(t, 1, r.droppedFor("spans", "too_large"))
		assert.Less(t, f.count(), 60, "it goes on and on")
	})
	t.Run("the backend's, and a span with many samples", func(t *testing.T) {
		for _, settings := range []string{"", "max_request_bytes: 10000"} {
			f := newFake(t)
			f.request = func(n int, w http.ResponseWriter) bool {
				if len(f.bulks[n]) > 5000 || strings.Contains(f.bulks[n], "xxxx") {
					w.WriteHeader(http.StatusRequestEntityTooLarge)
					return true
				}
				return false
			}
			r := newRig(t, f, settings)
			s := span(1)
			for i := range 100 {
				s.Metrics = append(s.Metrics, ssf.SSFSample{Name: "m", Value: float32(i)})
			}
			s.Metrics = append(s.Metrics, ssf.SSFSample{Name: "xxxx"})
			l := r.deliver(nil, s)
			assert.EqualValues(t, 1, l.Sent)
			assert.Len(t, f.docs(), 101)
			assert.Equal(t, 1, r.droppedFor("spans", "too_large"))
			assert.Zero(t, r.outcomes("spans", "existing"), "sent again")
			assert.Less(t, f.count(), 60, "it goes on and on")
		}
	})
}

// Of a request that was taken in part only what has to be is sent again.
func TestFailure15TooManyRequestsForOneItem(t *testing.T) {
	f := newFake(t)
	f.item = func(n, i int, _, _, _ string) *outcome {
		if n == 0 && i == 1 {
			return failure(429, "es_rejected_execution_exception", "rejected execution of coordinating operation")
		}
		return nil
	}
	r := newRig(t, f, "")
	l := r.deliver(nil, spans(3)...)
	assert.EqualValues(t, 3, l.Sent)
	assert.Zero(t, l.Existing)
	require.Equal(t, 2, f.count())
	assert.Equal(t, 2, strings.Count(f.bulks[1], "\n"), "one document: %s", f.bulks[1])
	assert.Contains(t, f.bulks[1], `"span_id":"0000000000000002"`)
	assert.Equal(t, 1, r.outcomes("spans", "retried"))

	// For the whole request, with what the backend asks for.
	f = newFake(t)
	f.request = func(n int, w http.ResponseWriter) bool {
		if n == 0 {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return n == 0
	}
	var after *sinks.RetryAfter
	require.ErrorAs(t, newRig(t, f, "").send(span(1)), &after)
	assert.Equal(t, 7*time.Second, after.After)
}

// 200 says nothing of single documents: each is looked at, counted by its error, and one of a sort is logged.
func TestFailure16PartialFailure(t *testing.T) {
	f := newFake(t)
	f.item = func(_, i int, _, _, _ string) *outcome {
		switch i {
		case 1, 2:
			return failure(400, "document_parsing_exception", "[1:52] failed to parse field [duration] of type [long]")
		case 3:
			return failure(400, "an_error_of_tomorrow", "who knows")
		case 4:
			return failure(403, "cluster_block_exception", "index [x] blocked by: [FORBIDDEN/8/index write (api)];")
		case 5:
			return &outcome{Status: 201, FailureStore: "used"}
		}
		return nil
	}
	r := newRig(t, f, "")
	l := r.deliver(nil, spans(7)...)
	assert.EqualValues(t, 3, l.Sent)
	assert.EqualValues(t, 4, l.Refused)
	assert.Equal(t, 2, r.droppedFor("spans", "document_parsing_exception"))
	assert.Equal(t, 1, r.droppedFor("spans", "other"))
	assert.Equal(t, 1, r.droppedFor("spans", "cluster_block_exception"))
	assert.Equal(t, 2, r.outcomes("spans", "indexed"))
	assert.Equal(t, 1, r.outcomes("spans", "failure_store"))
	var said []string
	for _, entry := range r.log.AllEntries() {
		if entry.Data["reason"] != nil {
			said = append(said, fmt.Sprint(entry.Level, " ", entry.Data["reason"]))
		}
	}
	assert.Equal(t, []string{"warning document_parsing_exception", "warning other", "error cluster_block_exception"}, said)
}

// Whatever a request fails with, every document ends in one place. What answers in another tongue has not answered.
func TestFailure18NothingIsSkipped(t *testing.T) {
	bad := []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.WriteHeader(503) },
		func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>welcome to the proxy</html>")) },
		func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"errors":false,"items":[{"create":{"status":201}}]}`))
		},
		func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"errors":false,"items":[{},{},{}]}`)) },
		func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"errors":false,"items":[{"create":{}},{"create":{"status":-1}},{"create":{"status":201}}]}`))
		},
	}
	f := newFake(t)
	f.request = func(n int, w http.ResponseWriter) bool {
		if n < len(bad) {
			bad[n](w)
		}
		return n < len(bad)
	}
	r := newRig(t, f, "")
	l := r.deliver(nil, spans(3)...)
	assert.EqualValues(t, 3, l.Sent)
	assert.Len(t, f.docs(), 3)
	assert.Equal(t, 3, r.outcomes("spans", "indexed"))
	assert.Equal(t, 3*len(bad), r.outcomes("spans", "retried"))

	// What cannot be written is counted once, however often its chunk comes.
	f = newFake(t)
	f.request = func(n int, w http.ResponseWriter) bool {
		if n < 3 {
			w.WriteHeader(503)
		}
		return n < 3
	}
	r = newRig(t, f, "")
	s := span(1)
	s.Metrics = []ssf.SSFSample{{Name: "n", Value: float32(math.NaN())}, {Name: "m", Value: 1}}
	l = r.deliver(nil, s, span(2))
	assert.EqualValues(t, 2, l.Sent)
	assert.Equal(t, 1, r.droppedFor("spans", "value"))
	assert.Equal(t, 3, r.outcomes("spans", "indexed"))

	// A request of several that fails takes nothing with it that was answered.
	f = newFake(t)
	f.request = func(n int, w http.ResponseWriter) bool {
		if n == 1 {
			w.WriteHeader(503)
		}
		return n == 1
	}
	r = newRig(t, f, "max_request_bytes: 10000")
	l = r.deliver(nil, spans(100)...)
	assert.EqualValues(t, 100, l.Sent)
	assert.Zero(t, l.Existing, "what was answered was sent again")
	assert.Len(t, f.docs(), 100)
}

// A backend that is gone costs no more than the queue may hold, and what did not fit is counted.
func TestFailure19ServerDown(t *testing.T) {
	f := newFake(t)
	f.server.Close()
	r := newRig(t, f, "")
	l := r.deliver(func(c *delivery.SpanConfig) {
		c.QueueItems, c.ChunkItems = 100, 10
		c.RetryAttempts = 2
	}, spans(250)...)
	assert.Zero(t, l.Sent)
	assert.EqualValues(t, 250, l.Overflow+l.Expired)
	assert.GreaterOrEqual(t, l.Overflow, uint64(150))
}

// A document that is there already was brought by a request whose answer got lost: it is done.
func TestFailure21AlreadyThere(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(2)))
	l := r.deliver(nil, spans(2)...)
	assert.EqualValues(t, 2, l.Sent)
	assert.EqualValues(t, 1, l.Existing)
	assert.Equal(t, 2, f.count(), "it was sent again")
	assert.Len(t, f.docs(), 2)
	assert.Equal(t, 1, r.outcomes("spans", "existing"))
}

// The operation is create, everywhere: a data stream takes no other. The fake refuses any other.
func TestFailure22Create(t *testing.T) {
	for _, settings := range []string{"", "ids: auto", "target: index", "layout: ecs", "layout: jaeger"} {
		f := newFake(t)
		r := newRig(t, f, settings+"\ncheck_templates: false")
		require.NoError(t, r.send(span(1)))
		require.Len(t, f.docs(), 1)
		assert.Equal(t, settings == "ids: auto", f.docs()[0].id == "")
		if !strings.Contains(settings, "jaeger") {
			require.NoError(t, r.sendPoints(gauge("g", 1)))
		}
	}
}

// Two spans 100 ns apart keep their order: the time has its nanoseconds, and the template a type that keeps them.
func TestFailure24Nanoseconds(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1), span(101)))
	assert.Equal(t, "1704164645000.000601", f.decoded(0)["@timestamp"])
	assert.Equal(t, "1704164645000.000701", f.decoded(1)["@timestamp"])
	for _, layout := range []string{layoutOTel, layoutECS} {
		c := DefaultConfig()
		c.Layout = layout
		for _, made := range templates(&c, &backend{config: &c, openSearch: true}) {
			assert.Equal(t, "date_nanos", field(t, made, "@timestamp")["type"], made.name)
		}
	}
}

// A text of more bytes than a term may have is cut within no character, and the document says so.
func TestFailure25ImmenseTerm(t *testing.T) {
	f := newFake(t)
	r := newRig(t, f, "")
	require.NoError(t, r.send(span(1, "k", strings.Repeat("ü", 20_000), strings.Repeat("n", 40_000), "v"), span(2, "k", "v")))
	attributes := f.decoded(0)["attributes"].(map[string]any)
	assert.Len(t, attributes["k"], defaultTextBytes)
	assert.True(t, utf8.ValidString(attributes["k"].(string)))
	assert.Equal(t, "v", attributes[strings.Repeat("n", maxKeyBytes)])
	assert.Equal(t, true, attributes[keyTruncated])
	assert.NotContains(t, f.decoded(1)["attributes"], keyTruncated)
	assert.EqualValues(t, 1, r.registry.Value("sink.elasticsearch.texts_cut"))
	assert.Less(t, len("attributes.")+maxKeyBytes+1+mostTextBytes, 32766, "a setting allows more than a term")
}

// Nothing is asked of the answer's headers: OpenSearch and old versions are served like any other.
func TestFailure26NoProductCheck(t *testing.T) {
	for _, about := range []string{
		`{"version":{"distribution":"opensearch","number":"2.19.4"}}`,
		`{"version":{"number":"7.10.2"}}`,
		`{"version":{"number":"8.9.0"},"tagline":"Amazon OpenSearch Serverless"}`,
	} {
		f := newFake(t)
		f.about = about
		r := newRig(t, f, "")
		require.NoError(t, r.send(span(1)))
		require.NoError(t, r.sendPoints(gauge("g", 1)))
		assert.NotContains(t, f.queries[0], "require_data_stream", "%s does not know the parameter", about)
		assert.Len(t, f.docs(), 2)
	}
}

// Without a template nothing is written: the backend would make an index and guess its types for ever.
func TestFailure28MissingTemplate(t *testing.T) {
	f := newFake(t)
	f.noStream = true
	r := newRig(t, f, "")
	err := r.send(span(1))
	var misfit *sinks.ConfigError
	require.ErrorAs(t, err, &misfit)
	assert.ErrorContains(t, err, "traces-veneur.otel-default has no template")
	assert.ErrorContains(t, err, "install_templates")
	assert.Zero(t, f.count())

	f = newFake(t)
	f.noStream = true
	r = newRig(t, f, "install_templates: true")
	require.NoError(t, r.send(span(1)))
	require.NoError(t, r.send(span(2)))
	assert.Equal(t, []string{
		"GET /", "PUT /_index_template/veneur-traces-veneur.otel-default", "PUT /_index_template/veneur-metrics-veneur.otel-default",
		"PUT /_index_template/veneur-metrics-veneur.samples-default", "PUT /_index_template/veneur-logs-veneur.otel-default",
		"PUT /_data_stream/traces-veneur.otel-default", "POST /_bulk",
	}, f.lines[:7])
	assert.Contains(t, f.queries[0], "require_data_stream=true")
	assert.Len(t, f.docs(), 2)
}
