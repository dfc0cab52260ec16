package all_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/all"
	"github.com/veneurd/veneur/sinks/delivery"
)

// folders of sinks that are no kinds.
var noKinds = map[string]bool{"all": true, "delivery": true, "diskqueue": true, "httpsend": true, "jsondoc": true, "sinktest": true, "testdata": true}

func TestEveryFolderIsAKind(t *testing.T) {
	kinds := map[string]bool{}
	for _, kind := range all.Kinds() {
		require.False(t, kinds[kind.Name()], "%s is listed twice", kind.Name())
		kinds[kind.Name()] = true
	}
	entries, err := os.ReadDir("..")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() && !noKinds[entry.Name()] {
			assert.True(t, kinds[entry.Name()], "the kind %s is in no list", entry.Name())
			delete(kinds, entry.Name())
		}
	}
	assert.Empty(t, kinds, "kinds without a folder of their name")
}

// file is a configuration as far as sinks are concerned.
type file struct {
	MetricSinks []metricSink `yaml:"metric_sinks"`
	SpanSinks   []spanSink   `yaml:"span_sinks"`
}

type metricSink struct {
	Kind     string          `yaml:"kind"`
	Name     string          `yaml:"name"`
	Config   config.Raw      `yaml:"config"`
	Delivery delivery.Config `yaml:",inline"`
}

func (s *metricSink) SetDefaults() { s.Delivery = delivery.DefaultConfig() }

type spanSink struct {
	Kind     string              `yaml:"kind"`
	Name     string              `yaml:"name"`
	Config   config.Raw          `yaml:"config"`
	Delivery delivery.SpanConfig `yaml:",inline"`
}

func (s *spanSink) SetDefaults() { s.Delivery = delivery.DefaultSpanConfig() }

// TestB095ExamplesInReadmes loads every example that a kind's README gives. An example for another program says so in a comment in its
// first line.
func TestB095ExamplesInReadmes(t *testing.T) {
	for _, kind := range all.Kinds() {
		t.Run(kind.Name(), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", kind.Name(), "README.md"))
			require.NoError(t, err)
			examples := 0
			for _, block := range blocks(string(text)) {
				if !strings.HasPrefix(block, "#") {
					examples++
					load(t, kind, block)
				}
			}
			assert.NotZero(t, examples, "README.md has no example in a yaml block")
		})
	}
}

// blocks returns the text of the yaml blocks of a Markdown document.
func blocks(markdown string) []string {
	var blocks []string
	for {
		_, after, found := strings.Cut(markdown, "\n```yaml\n")
		if !found {
			return blocks
		}
		block, rest, _ := strings.Cut(after, "\n```\n")
		blocks = append(blocks, block+"\n")
		markdown = rest
	}
}

func load(t *testing.T, kind sinks.Kind, example string) {
	t.Helper()
	doc, err := config.Parse("README.md", []byte(example))
	require.NoError(t, err, example)
	var f file
	require.NoError(t, doc.Decode(&f), example)
	require.NotZero(t, len(f.MetricSinks)+len(f.SpanSinks), "no sink in\n%s", example)
	for _, s := range f.MetricSinks {
		require.Equal(t, kind.Name(), s.Kind)
		require.NoError(t, s.Delivery.Validate(), example)
		configured, err := kind.Configure(s.Config.Decode)
		require.NoError(t, err, example)
		_, err = configured.Metrics(settings())
		require.NoError(t, err, example)
	}
	for _, s := range f.SpanSinks {
		require.Equal(t, kind.Name(), s.Kind)
		require.NoError(t, s.Delivery.Validate(), example)
		configured, err := kind.Configure(s.Config.Decode)
		require.NoError(t, err, example)
		_, err = configured.Spans(settings())
		require.NoError(t, err, example)
	}
}

func settings() sinks.Settings {
	log, _ := logtest.NewNullLogger()
	return sinks.Settings{Name: "tested", Hostname: "host", Interval: 10 * time.Second, Log: log, Telemetry: telemetry.New(), Stdout: io.Discard}
}
