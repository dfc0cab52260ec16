// Package configdoc writes the reference and the example file of a configuration from the structs themselves: keys and types by
// reflection, defaults from a value of the struct, and the words from the comments of the fields in the source. A field without a comment
// is an error, so that no key stays unexplained.
//
// A generator lists the structs as Sections and writes what AppendReference and AppendExample return:
//
//	source, err := configdoc.NewSource(".") // where go.mod is
//	reference, err := source.AppendReference(head, sections)
//	example, err := source.AppendExample(nil, sections)
package configdoc

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// Source finds the comments of a module's structs. It parses a package's files once, when the first of its structs is met.
type Source struct {
	root, module string
	packages     map[string]comments
}

// comments maps "Type.Field" to the comment of the field.
type comments map[string]string

// NewSource prepares to read the module at root.
func NewSource(root string) (*Source, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		if module, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "module "); ok {
			return &Source{root: root, module: strings.TrimSpace(module), packages: map[string]comments{}}, nil
		}
	}
	return nil, fmt.Errorf("%s: no module line", filepath.Join(root, "go.mod"))
}

// comment returns what stands above a field, or behind it, as one line a paragraph.
func (s *Source) comment(owner reflect.Type, field string) (string, error) {
	pkg := owner.PkgPath()
	found, ok := s.packages[pkg]
	if !ok {
		dir, inside := strings.CutPrefix(pkg, s.module)
		if !inside {
			return "", fmt.Errorf("%v is not of the module %s", owner, s.module)
		}
		var err error
		if found, err = parse(filepath.Join(s.root, filepath.FromSlash(dir))); err != nil {
			return "", err
		}
		s.packages[pkg] = found
	}
	name, _, _ := strings.Cut(owner.Name(), "[") // of a generic type without its arguments
	text := found[name+"."+field]
	if text == "" {
		return "", fmt.Errorf("%v.%s has no comment", owner, field)
	}
	return text, nil
}

// parse collects the comments of all structs of a folder, of whatever system and build tag.
func parse(dir string) (comments, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no Go files", dir)
	}
	found := comments{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if st, ok := spec.Type.(*ast.StructType); ok {
				found.add(spec.Name.Name, st)
			}
			return false
		})
	}
	return found, nil
}

func (c comments) add(typeName string, st *ast.StructType) {
	for _, field := range st.Fields.List {
		text := field.Doc.Text()
		if text == "" {
			text = field.Comment.Text()
		}
		for _, name := range field.Names {
			c[typeName+"."+name.Name] = paragraphs(text)
		}
	}
}

// paragraphs puts each paragraph of a comment on one line.
func paragraphs(text string) string {
	var out []string
	for p := range strings.SplitSeq(text, "\n\n") {
		if p = strings.Join(strings.Fields(p), " "); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}
