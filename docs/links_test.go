package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	inCode  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// Every link from one document of the project to another leads somewhere, and so does its fragment.
func TestLinks(t *testing.T) {
	found := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		// The heads of generated documents are part of those.
		if d.IsDir() || filepath.Ext(path) != ".md" || strings.HasSuffix(path, ".head.md") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(fenced.ReplaceAllString(string(text), ""), ""), -1) {
			if target, fragment, _ := strings.Cut(m[1], "#"); !strings.Contains(target, ":") {
				found++
				checkLink(t, path, target, fragment)
			}
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 10)
}

func checkLink(t *testing.T, from, target, fragment string) {
	to := filepath.Join(filepath.Dir(from), filepath.FromSlash(target))
	if target == "" {
		to = from
	}
	_, err := os.Stat(to)
	if !assert.NoError(t, err, "%s links to %s", from, target) || fragment == "" {
		return
	}
	text, err := os.ReadFile(to)
	require.NoError(t, err)
	var anchors []string
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
		anchors = append(anchors, anchor(m[1]))
	}
	assert.Contains(t, anchors, fragment, "%s links to %s#%s", from, to, fragment)
}

// anchor is what a heading is called in a link: its letters, digits, hyphens and blanks, the last as hyphens.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
