package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = ".."

var (
	reportRow = regexp.MustCompile(`(?m)^\| (B\d{3}) \| .+ \| .+ \| (.+) \|$`)
	shownBy   = regexp.MustCompile("`([^`:]+): (\\w+)(?:/([^`]+))?`")
)

// Every field report stands in the table once, and every test that the table names exists.
func TestFieldReportsAreShownByTests(t *testing.T) {
	text, err := os.ReadFile("field-reports.md")
	require.NoError(t, err)
	sources := map[string]string{}
	last := ""
	rows := reportRow.FindAllStringSubmatch(string(text), -1)
	require.Len(t, rows, 107)
	for _, row := range rows {
		id, cell := row[1], row[2]
		require.Greater(t, id, last, "the reports stand in the order of their ids")
		last = id
		tests := shownBy.FindAllStringSubmatch(cell, -1)
		if len(tests) == 0 && !strings.Contains(cell, "later: ") {
			t.Errorf("%s is shown by nothing and left for nothing", id)
		}
		for _, m := range tests {
			folder, function, name := m[1], m[2], m[3]
			if _, read := sources[folder]; !read {
				sources[folder] = testSources(t, folder)
			}
			if !strings.Contains(sources[folder], "func "+function+"(t *testing.T)") {
				t.Errorf("%s: there is no %s", id, m[0])
			}
			// A row is named by how its name begins: that is what -run needs.
			if name != "" && !regexp.MustCompile(`"`+name+`[ "]`).MatchString(sources[folder]) {
				t.Errorf("%s: there is no row for %s", id, m[0])
			}
		}
	}
}

// testSources returns the text of all test files of a folder, those of other systems included.
func testSources(t *testing.T, folder string) string {
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range names {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		all.Write(source)
	}
	return all.String()
}
