package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server"
)

const root = "../.."

func TestDocumentsAreCurrent(t *testing.T) {
	for _, d := range documents {
		t.Run(d.path, func(t *testing.T) {
			want, err := d.make(root)
			require.NoError(t, err)
			got, err := os.ReadFile(filepath.Join(root, d.path))
			require.NoError(t, err)
			if string(want) != string(got) {
				t.Errorf("%s is not what the code says; make docs renews it. First difference: %s", d.path, difference(string(got), string(want)))
			}
		})
	}
}

// difference returns the first line in which two texts differ.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "line " + strconv.Itoa(i+1) + " is\n" + a[i] + "\nand should be\n" + b[i]
		}
	}
	return "one of them is longer"
}

func TestEveryKeyIsInTheReference(t *testing.T) {
	text, err := reference(root)
	require.NoError(t, err)
	fields, err := config.Fields(reflect.TypeFor[server.Config]())
	require.NoError(t, err)
	for _, f := range fields {
		assert.True(t, strings.Contains(string(text), "\n| `"+f.Key+"` |"), "give %s a place in sections", f.Key)
	}
}

// Whoever starts from the example has the daemon that runs without a file.
func TestExampleIsTheDaemonOutOfTheBox(t *testing.T) {
	example, warnings, err := server.Load(filepath.Join(root, "example.yaml"), nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	outOfTheBox, _, err := server.Load("", nil)
	require.NoError(t, err)
	require.Equal(t, string(config.AppendYAML(nil, &outOfTheBox)), string(config.AppendYAML(nil, &example)))

	log := logrus.New()
	log.SetOutput(io.Discard)
	_, err = server.New(example, server.Deps{Log: log, Telemetry: telemetry.New(), Stdout: io.Discard})
	require.NoError(t, err)
}

// What packages install is valid, and the image differs from the daemon out of the box in its addresses only.
func TestConfigurationOfTheImage(t *testing.T) {
	image, warnings, err := server.Load(filepath.Join(root, "packaging", "container.yaml"), nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	outOfTheBox, _, err := server.Load("", nil)
	require.NoError(t, err)
	bare := strings.NewReplacer("127.0.0.1", "", `"`, "")
	require.Equal(t, bare.Replace(string(config.AppendYAML(nil, &outOfTheBox))), bare.Replace(string(config.AppendYAML(nil, &image))))
}

func TestEnvironmentOfTheReference(t *testing.T) {
	var environ []string
	for _, m := range regexp.MustCompile(`(?m)^(VENEUR_\w+)='?(.*?)'?$`).FindAllStringSubmatch(referenceHead, -1) {
		environ = append(environ, m[1]+"="+m[2])
	}
	require.Len(t, environ, 5)
	c, warnings, err := server.Load("", environ)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, "file", c.MetricSinks[0].Name)
	require.Len(t, c.Ingest.StatsdListenAddresses, 2)
	require.Contains(t, string(config.AppendYAML(nil, &c)), "max_bytes: 100000000")
}

// Every description of a metric, in whatever package, stands in docs/telemetry.md.
func TestEveryMetricIsDocumented(t *testing.T) {
	text, err := selfMetrics(root)
	require.NoError(t, err)
	found := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if name := describedName(n); name != "" {
				found++
				assert.True(t, strings.Contains(string(text), "| `veneur."+name+"` |"), "%s: add the package's Descs to parts", path)
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, found, 20)
}

// describedName returns the name in a telemetry.Desc, and "" for any other node.
func describedName(n ast.Node) string {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	switch typ := literal.Type.(type) {
	case *ast.Ident:
		ok = typ.Name == "Desc"
	case *ast.SelectorExpr:
		ok = typ.Sel.Name == "Desc"
	default:
		ok = false
	}
	for _, element := range literal.Elts {
		pair, isPair := element.(*ast.KeyValueExpr)
		if !ok || !isPair {
			continue
		}
		if key, isIdent := pair.Key.(*ast.Ident); isIdent && key.Name == "Name" {
			if value, isText := pair.Value.(*ast.BasicLit); isText {
				name, _ := strconv.Unquote(value.Value)
				return name
			}
		}
	}
	return ""
}
