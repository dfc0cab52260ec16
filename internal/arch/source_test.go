package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"testing"

	"github.com/stretchr/testify/require"
)

const maxLines = 500

// mayPanic are the files that may panic although no invariant of theirs is broken, each for a reason that stands here.
var mayPanic = map[string]string{
	"internal/telemetry/registry.go": "a metric used against its description is a mistake in the code, seen when it starts",
}

// forbidden are calls, by import path and function.
var forbidden = map[string]struct {
	names []string
	cmd   bool // allowed in commands
	why   string
}{
	"github.com/sirupsen/logrus": {
		names: []string{
			"Trace", "Tracef", "Traceln", "Debug", "Debugf", "Debugln", "Print", "Printf", "Println", "Info", "Infof", "Infoln",
			"Warn", "Warnf", "Warnln", "Warning", "Warningf", "Warningln", "Error", "Errorf", "Errorln", "Fatal", "Fatalf", "Fatalln",
			"Panic", "Panicf", "Panicln", "WithError", "WithContext", "WithField", "WithFields", "WithTime",
			"AddHook", "SetFormatter", "SetLevel", "SetOutput", "SetReportCaller", "StandardLogger",
		},
		why: "log to the logrus.FieldLogger that was passed in",
	},
	"log": {
		names: []string{"Print", "Printf", "Println", "Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln", "Default", "SetOutput", "SetFlags", "SetPrefix"},
		why:   "log to the logrus.FieldLogger that was passed in",
	},
	"os": {names: []string{"Exit"}, cmd: true, why: "return an error; only a main function ends the process"},
}

// judgeSource returns what is wrong with a file beside its imports.
func judgeSource(f *file) (findings []string) {
	add := func(n ast.Node, format string, args ...any) {
		findings = append(findings, f.at(n)+": "+fmt.Sprintf(format, args...))
	}
	if f.generated {
		return nil
	}
	if lines := bytes.Count(f.source, []byte("\n")); lines > maxLines && !f.test {
		add(f.ast.Name, "%d lines; over %d a file holds more than one idea", lines, maxLines)
	}
	if formatted, err := format.Source(f.source); err != nil || !bytes.Equal(formatted, f.source) {
		add(f.ast.Name, "run gofmt")
	}
	synctest := f.localName("testing/synctest") != ""
	invariants := f.localName(module+"/internal/invariants") != "" || f.pkg == "internal/invariants"
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				add(n, "no init: say it in a constructor")
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "panic" && !f.test && !invariants && !matches("cmd/*", f.pkg) && mayPanic[f.name] == "" {
				add(n, "panic: return an error, or list the file in mayPanic with a reason")
			}
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			for path, calls := range forbidden {
				if pkg.Name != f.localName(path) || calls.cmd && (matches("cmd/*", f.pkg) || f.ast.Name.Name == "main") || f.test && path == "os" {
					continue
				}
				for _, name := range calls.names {
					if n.Sel.Name == name {
						add(n, "%s.%s: %s", pkg.Name, name, calls.why)
					}
				}
			}
			if f.test && !synctest && pkg.Name == f.localName("time") && n.Sel.Name == "Sleep" {
				add(n, "time.Sleep in a test: use testing/synctest for time, or wait for the thing itself")
			}
		}
		return true
	})
	return findings
}

func TestSource(t *testing.T) {
	files := tree(t)
	for _, f := range files {
		report(t, judgeSource(f))
	}
	for name := range mayPanic {
		found := false
		for _, f := range files {
			found = found || f.name == name
		}
		require.True(t, found, "%s is in mayPanic and does not exist", name)
	}
}

func TestTheSourceRules(t *testing.T) {
	for _, tt := range []struct{ name, file, source, wrong string }{
		{"init", "a/a.go", "func init() {}", "a/a.go:3: no init"},
		{"init in generated code", "a/a.pb.go", "func init() {}", ""},
		{"method called init", "a/a.go", "func (t T) init() {}", ""},
		{"panic", "a/a.go", `func f() { panic("x") }`, "a/a.go:3: panic"},
		{"panic in cmd", "cmd/a/a.go", `func f() { panic("x") }`, ""},
		{"panic in a test", "a/a_test.go", `func f() { panic("x") }`, ""},
		{"panic of an invariant", "a/a.go", "import \"" + module + "/internal/invariants\"\n\nfunc f() {\n\tif invariants.Enabled {\n\t\tpanic(\"x\")\n\t}\n}", ""},
		{"global log", "a/a.go", "import \"github.com/sirupsen/logrus\"\n\nfunc f() { logrus.Infof(\"x\") }", "a/a.go:5: logrus.Infof"},
		{"global log, renamed", "a/a.go", "import log \"github.com/sirupsen/logrus\"\n\nfunc f() { log.Fatal(\"x\") }", "a/a.go:5: log.Fatal"},
		{"passed log", "a/a.go", "import \"github.com/sirupsen/logrus\"\n\nfunc f(l logrus.FieldLogger) { l.Info(\"x\") }", ""},
		{"new logger", "cmd/a/a.go", "import \"github.com/sirupsen/logrus\"\n\nvar l = logrus.New()", ""},
		{"standard log", "cmd/a/a.go", "import \"log\"\n\nfunc f() { log.Fatal(\"x\") }", "cmd/a/a.go:5: log.Fatal"},
		{"exit", "a/a.go", "import \"os\"\n\nfunc f() { os.Exit(1) }", "a/a.go:5: os.Exit"},
		{"exit in cmd", "cmd/a/a.go", "import \"os\"\n\nfunc f() { os.Exit(1) }", ""},
		{"exit in TestMain", "a/a_test.go", "import \"os\"\n\nfunc f() { os.Exit(1) }", ""},
		{"sleep in a test", "a/a_test.go", "import \"time\"\n\nfunc f() { time.Sleep(1) }", "a/a_test.go:5: time.Sleep"},
		{"sleep in a bubble", "a/a_test.go", "import (\n\t\"testing/synctest\"\n\t\"time\"\n)\n\nfunc f() { time.Sleep(1); synctest.Wait() }", ""},
		{"not formatted", "a/a.go", "func f(){}", "a/a.go:1: run gofmt"},
		{"long", "a/a.go", "var (\n" + string(bytes.Repeat([]byte("\t_ = 0\n"), maxLines)) + ")", "a/a.go:1: 504 lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parseFile(tt.file, []byte("package a\n\n"+tt.source+"\n"))
			require.NoError(t, err)
			got := judgeSource(f)
			if tt.wrong == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], tt.wrong)
		})
	}
}
