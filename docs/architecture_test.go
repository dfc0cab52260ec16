package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	sourceFile  = regexp.MustCompile("`([a-z0-9_/]+/[a-z0-9_]+\\.(?:go|yaml|mod))(?::(\\w+))?`")
	testOfTable = regexp.MustCompile("`([a-z0-9_/]+): (Test\\w+)`")
)

// What the tour of the code points at is there: files, functions in them, tests.
func TestArchitectureNamesWhatExists(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	require.NoError(t, err)
	files := sourceFile.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(files), 50)
	for _, m := range files {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[1])))
		if err != nil {
			t.Errorf("%s: %v", m[0], err)
			continue
		}
		if m[2] != "" && !regexp.MustCompile(`(?m)^func (\([^)]*\) )?`+m[2]+`\b`).Match(source) {
			t.Errorf("%s: there is no such function", m[0])
		}
	}
	tests := testOfTable.FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(tests), 10)
	for _, m := range tests {
		if !strings.Contains(testSources(t, m[1]), "func "+m[2]+"(t *testing.T)") {
			t.Errorf("%s: there is no such test", m[0])
		}
	}
}
