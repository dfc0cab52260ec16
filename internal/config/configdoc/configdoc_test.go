package configdoc_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/config/configdoc"
	"github.com/veneurd/veneur/internal/config/configdoc/testdata/sample"
)

var update = flag.Bool("update", false, "write the golden files")

func sections() []configdoc.Section {
	return []configdoc.Section{
		{Title: "Daemon", Text: "What the daemon does.", Value: sample.Default()},
		{Title: "Sink file", Value: &sample.TLS{CAFile: "x"}, Under: []string{"sinks:", "  - kind: file", "    config:"}},
		{Title: "Sink blackhole", Value: struct{}{}, Under: []string{"sinks:", "  - kind: blackhole"}},
		{Title: "Two keys", Value: sample.Default(), Keys: []string{"debug", "interval"}, Under: []string{"again:"}},
	}
}

func TestGolden(t *testing.T) {
	source, err := configdoc.NewSource("../../..")
	require.NoError(t, err)
	reference, err := source.AppendReference([]byte("# Reference\n\n"), sections())
	require.NoError(t, err)
	example, err := source.AppendExample(nil, sections())
	require.NoError(t, err)
	for name, got := range map[string][]byte{"reference.md": reference, "example.yaml": example} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, got, 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s; go test -update renews it", path)
	}
}

func TestExampleLoadsAsTheDefaults(t *testing.T) {
	source, err := configdoc.NewSource("../../..")
	require.NoError(t, err)
	example, err := source.AppendExample(nil, sections())
	require.NoError(t, err)
	doc, err := config.Parse("example.yaml", example)
	require.NoError(t, err)
	var c sample.Config
	require.NoError(t, doc.Decode(&c))
	assert.Equal(t, sample.Default(), c)

	// What is commented out loads too once the marks are taken away.
	var text strings.Builder
	for line := range strings.Lines(string(example)) {
		if bare := strings.TrimPrefix(line, "# "); strings.Contains(bare, ": ") || strings.HasSuffix(bare, ":\n") || strings.TrimSpace(bare) == "-" {
			line = bare
		}
		if strings.Contains(line, "Sink file") {
			break
		}
		text.WriteString(line)
	}
	doc, err = config.Parse("example.yaml", []byte(text.String()))
	require.NoError(t, err, text.String())
	require.NoError(t, doc.Decode(&c), text.String())
	require.Len(t, c.Sinks, 1)
	assert.Equal(t, 1000, c.Sinks[0].Queue)
	assert.Contains(t, c.Limits, "name")
}

func TestEveryKeyNeedsAComment(t *testing.T) {
	source, err := configdoc.NewSource("../../..")
	require.NoError(t, err)
	bad := []configdoc.Section{
		{Title: "a", Value: sample.Uncommented{}},
		{Title: "b", Value: 7},
		{Title: "c", Value: struct {
			X int `yaml:"x"`
		}{}},
		{Title: "d", Value: sample.TLS{}, Keys: []string{"key", "nosuch"}},
	}
	_, err = source.AppendReference(nil, bad)
	assert.EqualError(t, err, "sample.Uncommented.A has no comment\nsample.Uncommented.C has no comment\nsection b: int is no struct\n"+
		"struct { X int \"yaml:\\\"x\\\"\" } is not of the module github.com/veneurd/veneur\n"+
		"section d: sample.TLS has no key nosuch")
	_, err = source.AppendExample(nil, bad)
	assert.ErrorContains(t, err, "sample.Uncommented.A has no comment")
	_, err = configdoc.NewSource(t.TempDir())
	assert.ErrorIs(t, err, os.ErrNotExist)
}
