package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseFaults(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"B121 duplicate key", "interval: 1s\nhostname: x\ninterval: 2s", "line 3: interval: given twice, first in line 1"},
		{"B121 duplicate key deeper down", "metric_sinks:\n- kind: a\n  kind: b\n- {name: x, name: y}", "line 3: metric_sinks[0].kind: given twice, first in line 2\nline 4: metric_sinks[1].name: given twice, first in line 4"},
		{"B121 tab indent", "a:\n\tb: 1\n", "line 2: a tab in the indentation: YAML takes spaces only"},
		{"B121 tab indent after spaces", "a:\n  b: 1\n \tc: 2\n", "line 3: a tab in the indentation: YAML takes spaces only"},
		{"B121 tab in a block of text", "a: |\n x\n\ty\n", "line 3: a tab in the indentation: YAML takes spaces only"},
		{"B121 empty file", "", "line 1: the file is empty"},
		{"B121 blank file", " \n\n", "line 1: the file is empty"},
		{"comments only", "# interval: 10s\n", "line 1: the file sets nothing: it has comments only"},
		{"null", "---\n~\n", "line 1: the file sets nothing: it has comments only"},
		{"a list", "- a: 1", "line 1: expected keys and values (key: value), found a list"},
		{"no space after the colon", "a:1\nb:2\n", "line 1: expected keys and values (key: value), found text"},
		{"two documents", "a: 1\n---\nb: 1\n", "line 2: a second document: only one is read"},
		{"two documents, one faulty", "a: 1\n---\nb: [\n", "line 3: did not find expected node content"},
		{"unclosed list", "a: 1\nb: [1\nc: 2\n", "line 2: did not find expected ',' or ']' for the list that begins here"},
		{"unclosed map", "a: 1\nb: {c: 1\nd: 2\n", "line 2: did not find expected ',' or '}' for what begins here with {"},
		{"unclosed quote", "a: 1\nb: \"x\nc: 2\n", "line 2: found unexpected end of stream: a quote that is not closed"},
		{"text after a quote", "a: 1\nb: 'it's'\n", "line 2: did not find expected key: wrong indentation, or text behind a closing quote"},
		{"indent of a list", "x: 1\na:\n  - x\n  - y\n - z\n", "line 5: did not find expected key: wrong indentation, or text behind a closing quote"},
		{"indent of a key", "x: 1\na:\n    b: 1\n  c: 2\n", "line 4: did not find expected key: wrong indentation, or text behind a closing quote"},
		{"indent of the last key", "x: 1\n\n\n\n\na: 1\n b: 2\n", "line 7: mapping values are not allowed in this context: wrong indentation, or a value with a colon that needs quotes"},
		{"two colons", "a: b: c\n", "line 1: mapping values are not allowed in this context: wrong indentation, or a value with a colon that needs quotes"},
		{"key without a colon", "a: 1\nb\nc: 3\n", "line 2: could not find expected ':'"},
		{"list beside keys", "a: 1\n- b\n", "line 2: did not find expected key: wrong indentation, or text behind a closing quote"},
		{"keys beside a list", "- a\nb: 1\n", "line 2: did not find expected '-' indicator: wrong indentation, or a list that ends where it should not"},
		{"reserved character", "x: 1\na: @x\n", "line 2: found character that cannot start any token: put the value in quotes"},
		{"no UTF-8", "a: 1\nb: x\xff\n", "line 2: a byte that is no UTF-8 text, or a control character"},
		{"UTF-16", "\xff\xfea\x00:\x00", "line 1: a byte that is no UTF-8 text, or a control character"},
		{"NUL", "a: \x00\n", "line 1: a byte that is no UTF-8 text, or a control character"},
		{"tag", "a: 1\nb: !secret x\n", `line 2: b: the tag "!secret" means nothing here`},
		{"key that is a list", "? [a]\n: 1\n", "line 1: a key must be plain text of at most 200 bytes"},
		{"unknown alias", "a: 1\nb: 2\nc: *x\n", "line 3: unknown anchor 'x' referenced"},
		{"alias in itself", "a: &x\n  b: *x\n", "line 2: a.b: the alias *x stands inside what it names"},
		{"merge of a text", "a: 1\n<<: x\n", "line 2: << takes keys and values, or a list of them"},
		{"deep lists", "a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200), "line 1: a" + strings.Repeat("[0]", 100) + ": nested deeper than 100"},
		{"very deep lists", strings.Repeat("[", 20_000), "nested deeper than 100"},
		{"very deep blocks", strings.Repeat("- ", 20_000) + "1", "nested deeper than 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("", []byte(tt.in))
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestParseAccepts(t *testing.T) {
	for _, in := range []string{
		"\ufeffhostname: x\r\nnum_readers: 2\r\n",
		"%YAML 1.1\n---\nhostname: x\n...\n",
		"{hostname: x}",
		"hostname: 'x'\n# end",
		"hostname: x\nlabels: &l {a: b}\ntls: null\nlimits: {}\n",
		"labels:\n  a: &h x\nhostname: *h\n",
		"!!map {hostname: !!str x}",
		"<<: {hostname: y, num_readers: 2}\nhostname: x\n",
		"<<: [{hostname: x}, {hostname: y, num_readers: 2}]\n",
	} {
		c, _, err := load(in, noVariables)
		assert.NoError(t, err, in)
		assert.Equal(t, "x", c.Hostname, in)
	}
	c, _, err := load("hostname: a\tb\n", noVariables)
	require.NoError(t, err)
	assert.Equal(t, "a\tb", c.Hostname, "a tab inside a value is part of it")
}

func TestParseFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.yaml")
	_, err := ParseFile(name)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, name)

	require.NoError(t, os.WriteFile(name, []byte("hostname: x"), 0o600))
	doc, err := ParseFile(name)
	require.NoError(t, err)
	assert.Equal(t, name, doc.Name)

	require.NoError(t, os.WriteFile(name, make([]byte, MaxSize+2), 0o600))
	_, err = ParseFile(name)
	require.EqualError(t, err, "larger than 1048576 bytes")
}

// hostile builds documents of about n bytes that once cost some parser more than they should.
var hostile = map[string]func(n int) string{
	"blank lines in a block":  func(n int) string { return "a: |\n  x\n" + strings.Repeat("\n", n) + "b: 1" },
	"keys":                    func(n int) string { return numbered(n, "k%d: 1\n") },
	"empty keys":              func(n int) string { return numbered(n, "k%d:\n") },
	"flow keys":               func(n int) string { return "a: {" + numbered(n, "k%d: 1,") + "}" },
	"labels":                  func(n int) string { return "labels:\n" + numbered(n, "  k%d: 1\n") },
	"empty sinks":             func(n int) string { return "metric_sinks:\n" + strings.Repeat("-\n", n/2) },
	"sinks":                   func(n int) string { return "metric_sinks:\n" + strings.Repeat("- {}\n", n/5) },
	"sinks with faults":       func(n int) string { return "metric_sinks:\n" + strings.Repeat("- {x: 1}\n", n/9) },
	"sinks with raw":          func(n int) string { return "metric_sinks:\n" + strings.Repeat("- {config: {url: a}}\n", n/21) },
	"long keys":               func(n int) string { return numbered(n, strings.Repeat("k", 190)+"%d: 1\n") },
	"long key over many":      func(n int) string { return strings.Repeat("k", 190) + ":\n" + strings.Repeat("- 1\n", n/4) },
	"duplicates":              func(n int) string { return strings.Repeat("a: 1\n", n/5) },
	"obsolete keys":           func(n int) string { return "features:\n" + numbered(n, "  k%d: 1\n") },
	"aliases":                 func(n int) string { return "a: &a [1,1,1,1,1,1,1,1]\nb:\n" + strings.Repeat("- *a\n", n/5) },
	"aliases of aliases":      func(n int) string { return laughs(n) },
	"merges":                  func(n int) string { return "a: &a {b: 1, c: 2}\nd:\n" + strings.Repeat("- <<: *a\n", n/9) },
	"variables":               func(n int) string { return "percentiles:\n" + strings.Repeat("- ${LONG}\n", n/10) },
	"syntax error at the end": func(n int) string { return strings.Repeat("# x\n", n/4) + "a: [\n}" },
	"key error at the end":    func(n int) string { return numbered(n, "k%d: 1\n") + " - x" },
	"nesting": func(n int) string {
		return "a:\n" + strings.Repeat("- "+strings.Repeat("[", 90)+strings.Repeat("]", 90)+"\n", n/183)
	},
	"comments": func(n int) string { return "a: 1\n" + strings.Repeat("  # x\n", n/6) },
	"tags":     func(n int) string { return "a:\n" + strings.Repeat("- !x y\n", n/7) },
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func laughs(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	return b.String()
}

func TestHostileDocumentsCostLinearly(t *testing.T) {
	lookup := func(string) (string, bool) { return strings.Repeat("x", 10_000), true }
	for name, build := range hostile {
		t.Run(name, func(t *testing.T) {
			const size = 200_000
			text := build(size)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			c, doc, err := load(text, lookup)
			elapsed := time.Since(start)
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) / uint64(len(text))
			t.Logf("%v, %d bytes a byte, %d sinks, %.100v", elapsed, allocated, len(c.Sinks), err)
			assert.Less(t, allocated, uint64(3000), "bytes allocated for each byte of the file")
			assert.Less(t, elapsed, time.Minute)
			if doc != nil {
				assert.LessOrEqual(t, len(doc.Warnings()), maxFaults+1)
			}
		})
	}
}
