package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/veneurd/veneur"

// file is one Go file of the module.
type file struct {
	name      string // from the module's root, with slashes
	pkg       string // its directory: "server/ingest"
	test      bool   // a _test.go file
	generated bool   // a .pb.go file, or one that says so
	source    []byte
	ast       *ast.File
	fset      *token.FileSet
}

// at returns "file:line" of a node.
func (f *file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, f.fset.Position(n.Pos()).Line)
}

// localName returns what an imported package is called in f, or "" when f does not import it.
func (f *file) localName(importPath string) string {
	for _, spec := range f.ast.Imports {
		if importOf(spec) == importPath {
			if spec.Name != nil {
				return spec.Name.Name
			}
			return path.Base(importPath)
		}
	}
	return ""
}

func importOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// parseFile makes a file of source that need not be on disk.
func parseFile(name string, source []byte) (*file, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &file{
		name:      name,
		pkg:       path.Dir(name),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: strings.HasSuffix(name, ".pb.go") || ast.IsGenerated(tree),
		source:    source,
		ast:       tree,
		fset:      fset,
	}, nil
}

// tree returns every Go file of the module. Modules inside it, such as that of the tools, judge themselves.
func tree(t *testing.T) []*file {
	t.Helper()
	root := filepath.Join("..", "..")
	var files []*file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if p == root {
				return nil
			}
			if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "vendor" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") {
			return nil
		}
		source, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		f, err := parseFile(filepath.ToSlash(rel), bytes.ReplaceAll(source, []byte("\r\n"), []byte("\n")))
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, len(files), 10, "the module's root is not where it was")
	return files
}

// report fails the test once for each finding.
func report(t *testing.T, findings []string) {
	t.Helper()
	for _, finding := range findings {
		t.Error(finding)
	}
}
