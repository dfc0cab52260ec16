package arch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers says what the packages of this module may import of it, beside tests. The first line that matches a package holds. "a" is a alone,
// "a/*" all below a, "a/..." both.
var layers = []struct {
	pkg string
	may string
}{
	{"cmd/*", "cmd/* server/... sinks/... trace/... protocol/... ssf internal/..."},
	{"server", "server/* sinks sinks/all sinks/delivery sinks/diskqueue protocol/... ssf internal/..."},
	{"server/servertest", "server/... sinks/... trace/... protocol/... ssf internal/..."},
	{"server/sketch/...", "server/sketch/* protocol/... internal/..."},
	{"server/*", "server/* sinks sinks/all sinks/delivery protocol/... ssf internal/..."},
	{"sinks", "protocol/... ssf internal/..."},
	{"sinks/delivery", "sinks sinks/diskqueue protocol/... ssf internal/..."},
	{"sinks/diskqueue", "sinks protocol/... ssf internal/..."},
	{"sinks/httpsend", "sinks internal/..."},
	{"sinks/sinktest/...", "sinks sinks/delivery sinks/sinktest/... protocol/... ssf internal/..."},
	{"sinks/all", "sinks sinks/*"},
	{"sinks/jsondoc", "protocol/metric ssf internal/..."},
	{"sinks/*", "sinks sinks/delivery sinks/httpsend sinks/jsondoc protocol/... ssf internal/..."}, // and what is below the same kind
	{"trace/...", "trace/... protocol/... ssf internal/invariants"},
	{"examples/*", "trace/... ssf"},
	{"protocol/metric", "internal/..."},
	{"protocol/...", "protocol/... ssf internal/..."},
	{"ssf", "internal/..."},
	{"ssf/ssftest", "ssf internal/..."},
	{"internal/spantree", "ssf"},
	{"internal/*", "internal/..."},
	{"docs/generate", "server server/* sinks sinks/* protocol/... ssf internal/..."}, // it writes documents of their structs and tables
}

// kits are packages for tests, which only tests and each other import.
const kits = "internal/leaktest server/servertest sinks/sinktest/... ssf/ssftest trace/tracetest"

// libraries says where the packages of others may be imported. What is not listed may be imported anywhere.
var libraries = []struct {
	path  string
	where string // packages or files; "" for tests and kits only
	tests bool   // tests may import it anywhere
	why   string
}{
	{"github.com/sirupsen/logrus", "cmd/* server/... sinks/... internal/telemetry", true, "below the sinks, report by returned errors and counters"},
	{"github.com/DataDog/datadog-go", "internal/telemetry/statsd.go", true, "count in the telemetry.Registry"},
	{"github.com/stretchr/testify", "", true, "it is for tests"},
	{"go.uber.org/goleak", "", true, "it is for tests"},
	{"github.com/cockroachdb", "server/spanmetrics/pebblestore", true, "it is large, and the store of span metrics is all that needs it"},
	{"github.com/opentracing", "trace/traceot", true, "services that do not use it must not link it"},
	{"go.opentelemetry.io", "trace/traceotel", true, "services that do not use it must not link it"},
	{"github.com/prometheus", "sinks/prometheus", true, "the exposition formats are that sink's business; everybody else reads them in tests only"},
}

// matches reports whether a pattern of a list holds for a package.
func matches(list, pkg string) bool {
	for pattern := range strings.FieldsSeq(list) {
		if base, ok := strings.CutSuffix(pattern, "/..."); ok && (pkg == base || strings.HasPrefix(pkg, base+"/")) {
			return true
		}
		if base, ok := strings.CutSuffix(pattern, "/*"); ok && strings.HasPrefix(pkg, base+"/") {
			return true
		}
		if pattern == pkg {
			return true
		}
	}
	return false
}

// kindOf returns the folder of the sink kind that a package belongs to, or "".
func kindOf(pkg string) string {
	parts := strings.SplitN(pkg, "/", 3)
	if len(parts) < 2 || parts[0] != "sinks" || matches("sinks/all sinks/delivery sinks/diskqueue sinks/httpsend sinks/jsondoc sinks/sinktest/...", pkg) {
		return ""
	}
	return parts[0] + "/" + parts[1]
}

// judgeOurs returns what is wrong with a package of ours importing another, or "".
func judgeOurs(from, to string, test bool) string {
	kind := kindOf(from)
	if kind != "" && kind == kindOf(to) {
		return ""
	}
	if test {
		switch {
		case kind != "" && kindOf(to) != "":
			return "a sink knows no other kind of sink, in its tests neither"
		case kind != "" && matches("server/...", to):
			return "a sink never knows the server, in its tests neither"
		}
		return ""
	}
	if matches(kits, to) && !matches(kits, from) {
		return "it is for tests only"
	}
	for _, layer := range layers {
		if matches(layer.pkg, from) {
			if matches(layer.may, to) {
				return ""
			}
			return fmt.Sprintf("imports go strictly down, and %s may import only: %s", layer.pkg, layer.may)
		}
	}
	return fmt.Sprintf("no rule says what %s may import: give it its place in the table of layers", from)
}

// judgeLibrary returns what is wrong with a file importing a package of somebody else, or "".
func judgeLibrary(f *file, path string) string {
	for _, l := range libraries {
		if !matches(l.path+"/...", path) {
			continue
		}
		if f.test && l.tests || matches(kits, f.pkg) || matches(l.where, f.pkg) || matches(l.where, f.name) {
			return ""
		}
		where := l.where
		if where == "" {
			where = "tests"
		}
		return fmt.Sprintf("only in %s: %s", where, l.why)
	}
	return ""
}

func judgeImports(f *file) (findings []string) {
	for _, spec := range f.ast.Imports {
		path := importOf(spec)
		wrong := ""
		if to, ours := strings.CutPrefix(path, module+"/"); ours {
			wrong = judgeOurs(f.pkg, to, f.test)
		} else {
			wrong = judgeLibrary(f, path)
		}
		if wrong != "" {
			findings = append(findings, fmt.Sprintf("%s: %s imports %s: %s", f.at(spec), f.pkg, path, wrong))
		}
	}
	return findings
}

func TestImports(t *testing.T) {
	for _, f := range tree(t) {
		report(t, judgeImports(f))
	}
}

func TestTheImportTable(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		test     bool
		wrong    string
	}{
		{"cmd/veneur", "server", false, ""},
		{"cmd/veneur-emit", "trace", false, ""},
		{"server", "server/ingest", false, ""},
		{"server", "sinks/all", false, ""},
		{"server", "sinks/debug", false, "strictly down"},
		{"server", "cmd/veneur", false, "strictly down"},
		{"server/flush", "server/aggregate", false, ""},
		{"server/flush", "server", false, "strictly down"},
		{"server/flush", "trace", false, "strictly down"},
		{"server/flush", "server/servertest", false, "for tests only"},
		{"server/servertest", "server", false, ""},
		{"server/sketch/hll", "ssf", false, "strictly down"},
		{"sinks/all", "sinks/debug", false, ""},
		{"sinks/debug", "sinks/delivery", false, ""},
		{"sinks/debug", "sinks/debug/table", false, ""},
		{"sinks/debug/table", "sinks/debug", false, ""},
		{"sinks/debug", "sinks/localfile", false, "strictly down"},
		{"sinks/localfile", "sinks/jsondoc", false, ""},
		{"sinks/localfile", "sinks/httpsend", false, ""},
		{"sinks/delivery", "sinks/diskqueue", false, ""},
		{"sinks/localfile", "sinks/diskqueue", false, "strictly down"},
		{"sinks/httpsend", "sinks/delivery", false, "strictly down"},
		{"sinks/jsondoc", "sinks", false, "strictly down"},
		{"sinks/debug", "server/flush", false, "strictly down"},
		{"sinks/debug", "sinks/sinktest", false, "for tests only"},
		{"sinks/debug", "sinks/sinktest", true, ""},
		{"sinks/debug", "server/servertest", true, "never knows the server"},
		{"sinks/debug", "sinks/localfile", true, "no other kind"},
		{"sinks/delivery", "sinks/debug", false, "strictly down"},
		{"sinks", "sinks/delivery", false, "strictly down"},
		{"trace/tracegrpc", "trace", false, ""},
		{"trace", "internal/telemetry", false, "strictly down"},
		{"protocol/dogstatsd", "protocol/metric", false, ""},
		{"protocol/metric", "ssf", false, "strictly down"},
		{"ssf", "protocol", false, "strictly down"},
		{"ssf", "internal/invariants", false, ""},
		{"internal/spantree", "ssf", false, ""},
		{"internal/config", "protocol", false, "strictly down"},
		{"internal/config", "internal/telemetry", false, ""},
		{"docs/generate", "sinks/all", false, ""},
		{"docs/generate", "server/servertest", false, "for tests only"},
		{"server", "docs/generate", false, "strictly down"},
		{"newfolder", "ssf", false, "no rule"},
	} {
		t.Run(fmt.Sprint(tt.from, " ", tt.to, " ", tt.test), func(t *testing.T) {
			got := judgeOurs(tt.from, tt.to, tt.test)
			if tt.wrong == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, tt.wrong)
		})
	}
}

func TestTheLibraryTable(t *testing.T) {
	for _, tt := range []struct{ name, path, wrong string }{
		{"server/ingest/a.go", "github.com/sirupsen/logrus", ""},
		{"ssf/a.go", "github.com/sirupsen/logrus", "returned errors"},
		{"internal/lifecycle/a.go", "github.com/sirupsen/logrus", "returned errors"},
		{"internal/lifecycle/a_test.go", "github.com/sirupsen/logrus/hooks/test", ""},
		{"internal/telemetry/statsd.go", "github.com/DataDog/datadog-go/v5/statsd", ""},
		{"internal/telemetry/text.go", "github.com/DataDog/datadog-go/v5/statsd", "telemetry.Registry"},
		{"sinks/sinktest/a.go", "github.com/stretchr/testify/require", ""},
		{"sinks/debug/a.go", "github.com/stretchr/testify/require", "for tests"},
		{"sinks/debug/a.go", "net/http", ""},
	} {
		t.Run(tt.name+" "+tt.path, func(t *testing.T) {
			f, err := parseFile(tt.name, []byte("package p\n\nimport _ \""+tt.path+"\"\n"))
			require.NoError(t, err)
			got := judgeImports(f)
			if tt.wrong == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], tt.wrong)
			require.Contains(t, got[0], tt.name+":3: ")
		})
	}
}
