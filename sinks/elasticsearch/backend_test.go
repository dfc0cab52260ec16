package elasticsearch

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func refusal(f *fake, status int, kind, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { f.refuse(w, status, kind, reason) }
}

// What is wrong before the first write is something that somebody has to change, and nothing of the data is refused for it.
func TestPreparation(t *testing.T) {
	tests := []struct {
		name, settings string
		arrange        func(f *fake)
		want           string // in the error; "" is none
	}{
		{"nobody may ask", "", func(f *fake) { f.handlers["GET /"] = refusal(f, 403, "security_exception", "no") }, "set flavour"},
		{"another program", "", func(f *fake) { f.about = "<html>" }, "neither Elasticsearch nor OpenSearch"},
		{"a bad request for who it is", "", func(f *fake) { f.handlers["GET /"] = refusal(f, 400, "x", "y") }, "not configured"},
		{
			"a template that is refused", "install_templates: true", func(f *fake) {
				f.handlers["PUT /_index_template/veneur-logs-veneur.otel-default"] = refusal(f, 400, "illegal_argument_exception", "conflicts with another")
			}, "index template veneur-logs-veneur.otel-default",
		},
		{"templates that are there", "install_templates: true", func(f *fake) {
			for _, what := range []string{"traces-veneur.otel", "metrics-veneur.otel", "metrics-veneur.samples", "logs-veneur.otel"} {
				f.created["veneur-"+what+"-default"] = true
			}
		}, ""},
		{"a data stream that is there", "", func(f *fake) { f.created["traces-veneur.otel-default"] = true }, ""},
		{
			"one who may only append", "", func(f *fake) {
				f.handlers["PUT /_data_stream/traces-veneur.otel-default"] = refusal(f, 403, "security_exception", "no")
			}, "",
		},
		{
			"one who may only append, and no other check", "require_data_stream: false", func(f *fake) {
				f.handlers["PUT /_data_stream/traces-veneur.otel-default"] = refusal(f, 403, "security_exception", "no")
			}, "data stream traces-veneur.otel-default",
		},
		{"an index that is there", "target: index", func(f *fake) {
			f.handlers["HEAD /veneur-traces-2024.01.02"] = func(http.ResponseWriter, *http.Request) {}
		}, ""},
		{"an index to come", "target: index", func(f *fake) {
			f.handlers["POST /_index_template/_simulate_index/veneur-traces-2024.01.02"] = func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"template":{"mappings":{"properties":{}}}}`))
			}
		}, ""},
		{"an index without a template", "target: index", func(f *fake) {
			f.handlers["POST /_index_template/_simulate_index/veneur-traces-2024.01.02"] = func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"template":{"mappings":{},"settings":{}}}`))
			}
		}, "veneur-traces-2024.01.02 has no template"},
		{"nothing is asked of what cannot answer", "check_templates: false\nflavour: elasticsearch", func(f *fake) {
			f.noStream, f.about = true, ""
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t)
			tt.arrange(f)
			err := newRig(t, f, tt.settings).send(span(1))
			if tt.want == "" {
				require.NoError(t, err)
				assert.Len(t, f.docs(), 1)
				return
			}
			var misfit *sinks.ConfigError
			require.ErrorAs(t, err, &misfit)
			var refused *sinks.PermanentError
			assert.NotErrorAs(t, err, &refused, "the data would be given up")
			assert.ErrorContains(t, err, tt.want)
			assert.Empty(t, f.docs())
		})
	}
}

// An index that goes away is made sure of again.
func TestLostIndexIsAskedForAgain(t *testing.T) {
	f := newFake(t)
	f.item = func(n, _ int, _, _, _ string) *outcome {
		if n == 1 {
			return failure(404, "index_not_found_exception", "no such index")
		}
		return nil
	}
	r := newRig(t, f, "")
	s := r.spanSink()
	require.NoError(t, s.SendSpans(r.context(), spans(1)))
	require.Error(t, s.SendSpans(r.context(), spans(1)))
	require.Error(t, s.SendSpans(r.context(), spans(1)), "the fake has it already")
	assert.Equal(t, 2, strings.Count(strings.Join(f.lines, "\n"), "PUT /_data_stream/"))
}

// OpenSearch gets what it knows of templates, and no more.
func TestTemplatesByFlavour(t *testing.T) {
	for _, layout := range []string{layoutOTel, layoutECS, layoutJaeger} {
		for _, target := range []string{targetDataStream, targetIndex} {
			c := DefaultConfig()
			c.Layout, c.Target, c.Histograms = layout, target, true
			for _, made := range templates(&c, &backend{openSearch: true, config: &c}) {
				text, err := json.Marshal(made.body)
				require.NoError(t, err)
				for _, word := range []string{"flattened", "passthrough", "time_series", "lifecycle", "ignore_dynamic", `"histogram"`} {
					assert.NotContains(t, string(text), word, made.name)
				}
			}
		}
	}
	c := DefaultConfig()
	for version, want := range map[[2]int][]string{{8, 15}: {"lifecycle", "ignore_dynamic"}, {8, 12}: {"lifecycle"}, {7, 17}: nil} {
		text, err := json.Marshal(templates(&c, &backend{major: version[0], minor: version[1], config: &c})[0].body)
		require.NoError(t, err)
		for _, word := range []string{"lifecycle", "ignore_dynamic"} {
			assert.Equal(t, len(want) > 0 && strings.Contains(strings.Join(want, " "), word), strings.Contains(string(text), word), "%v %s", version, word)
		}
	}
	c.DatasetTag = "team"
	made := templates(&c, &backend{config: &c})
	assert.Equal(t, "veneur-metrics-any.otel-default", made[1].name)
	text, err := json.MarshalIndent(made[1].body, "", "  ")
	require.NoError(t, err)
	sinktest.Golden(t, "template.series.golden", text)
}

// Points of OpenSearch have their name in a field, and none has a distribution.
func TestMetricsByFlavour(t *testing.T) {
	f := newFake(t)
	f.about = `{"version":{"distribution":"opensearch","number":"2.19.4"}}`
	r := newRig(t, f, "histograms: true")
	b := batch(gauge("g", 1))
	b.Distributions = sinktest.Batch().Distributions
	s := r.metricSink()
	_, wants := s.(sinks.DistributionSink)
	assert.True(t, wants)
	err := s.Send(r.context(), b)
	var partial *sinks.PartialError
	require.ErrorAs(t, err, &partial)
	assert.Len(t, partial.Items, len(b.Distributions))
	assert.Equal(t, sinks.Item{List: sinks.Distributions, Fate: sinks.Refused, Reason: sinks.ReasonUnsupported}, partial.Items[0])
	assert.Equal(t, map[string]any{"name": "g", "type": "gauge", "value": json.Number("1.0")}, f.decoded(0)["metric"])
	assert.NotEmpty(t, f.docs()[0].id)

	elastic := newRig(t, newFake(t), "")
	_, wants = elastic.metricSink().(sinks.DistributionSink)
	assert.False(t, wants)
	require.NoError(t, elastic.sendPoints(gauge(".g", 1)))
	assert.Equal(t, map[string]any{"_g": json.Number("1.0")}, elastic.fake.decoded(0)["metrics"])
	assert.Contains(t, elastic.fake.bulks[0], `"dynamic_templates":{"metrics._g":"gauge_double"}`)
	assert.Empty(t, elastic.fake.docs()[0].id)
}
