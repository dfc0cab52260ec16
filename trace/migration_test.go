package trace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every name that the guide for users of the original says to write exists.
func TestMigrationGuideNamesWhatExists(t *testing.T) {
	exported := map[string]bool{} // "trace.NewClient", "Client.Flush"
	for _, dir := range []string{".", "propagation", "tracegrpc", "tracehttp", "traceot", "traceotel", "tracetest", "../ssf"} {
		declared(t, dir, exported)
	}
	text, err := os.ReadFile("../docs/migration-client.md")
	require.NoError(t, err)
	code := regexp.MustCompile("`[^`]+`")
	name := regexp.MustCompile(`\b(?:trace|ssf|tracegrpc|tracehttp|traceot|tracetest|propagation|Client|Span|SSFSpan|Recorder)\.[A-Z]\w*`)
	checked := 0
	for line := range strings.SplitSeq(string(text), "\n") {
		now := line
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "|") {
			now = cells[len(cells)-1] // the left column is the original's
		}
		for _, span := range code.FindAllString(now, -1) {
			for _, found := range name.FindAllString(span, -1) {
				checked++
				require.True(t, exported[found], "%s: there is no %s", line, found)
			}
		}
	}
	require.Greater(t, checked, 60)
}

// declared adds the exported functions, types, constants and methods of a package, and fields of its types.
func declared(t *testing.T, dir string, to map[string]bool) {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		require.NoError(t, err)
		pkg := path.Base(f.Name.Name)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				owner := pkg
				if d.Recv != nil {
					recv := d.Recv.List[0].Type
					if star, ok := recv.(*ast.StarExpr); ok {
						recv = star.X
					}
					if id, ok := recv.(*ast.Ident); ok {
						owner = id.Name
					}
				}
				to[owner+"."+d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						to[pkg+"."+spec.Name.Name] = true
						if s, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range s.Fields.List {
								for _, id := range field.Names {
									to[spec.Name.Name+"."+id.Name] = true
								}
							}
						}
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							to[pkg+"."+id.Name] = true
						}
					}
				}
			}
		}
	}
}
