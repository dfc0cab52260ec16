package config

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/veneurd/veneur/internal/config/configtest"
)

func TestFiles(t *testing.T) {
	configtest.Run(t, "testdata", func(data []byte) error {
		_, _, err := load(string(data), noVariables)
		return err
	})
}

// FuzzParse loads arbitrary bytes into a struct with every type of field, prints what came out and applies the text as environment. Nothing may panic or take
// long, and what is printed must load again.
func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, build := range hostile {
		f.Add([]byte(build(500)))
	}
	f.Add([]byte("{\"interval\": \"1s\", \"metric_sinks\": [{\"config\": {\"tls\": {\"key\": \"file:/dev/zero\"}}}]}"))
	f.Add([]byte("hostname: $${A}${B:-c}${D\n? a\n: b\n!!str x: *y\n<<: [{a: &y b}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text := string(data)
		c, doc, err := load(text, func(name string) (string, bool) { return name, name != "B" })
		if doc == nil {
			doc = new(Document)
		}
		_ = doc.Warnings().Error()
		_ = doc.Locate(Faults{{Path: text}}).Error()
		if err == nil {
			assertPrintedLoads(t, c)
		}
		for _, name := range []string{"INTERVAL", "PERCENTILES", "METRIC_SINKS", "METRIC_SINKS_0_CONFIG", "LABELS_X", "ADDRESS", "TLS"} {
			_, _ = doc.ApplyEnv(&c, []string{"VENEUR_" + name + "=" + text, "VENEUR_" + text})
		}
		_ = loadInto(doc, &c)
		_ = AppendJSON(nil, c)
		_ = RedactURL(text)
	})
}

func assertPrintedLoads(t *testing.T, c sample) {
	dump := AppendYAML(nil, c)
	doc, err := Parse("", dump)
	if err != nil {
		t.Fatalf("what is printed does not parse: %v\n%s", err, dump)
	}
	var again sample
	if errs := loadInto(doc, &again); len(errs) > 0 {
		t.Fatalf("what is printed does not load: %v\n%s", errs, dump)
	}
	if printed := AppendYAML(nil, again); !bytes.Equal(printed, dump) {
		t.Fatalf("what is printed loads as something else:\n%s\n%s", dump, printed)
	}
}
