// Package configtest runs a package's configuration files: testdata/*.good.yaml must load, testdata/*.bad.yaml must not, for the reason
// that stands in the file.
//
//	func TestConfigFiles(t *testing.T) {
//		configtest.Run(t, "testdata", func(data []byte) error {
//			c := DefaultConfig()
//			doc, err := config.Parse("", data)
//			if err != nil {
//				return err
//			}
//			...
//			return doc.Locate(faults).Err()
//		})
//	}
package configtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Run loads every good and bad file of a directory as a subtest each. A bad file begins with a comment, and each of its lines must be part
// of the error:
//
//	# line 3: interval: must be above 0
//
// A directory with no such file fails, so that a misspelt one does not pass in silence.
func Run(t *testing.T, dir string, load func(data []byte) error) {
	t.Helper()
	good := glob(t, dir, "*.good.yaml")
	bad := glob(t, dir, "*.bad.yaml")
	if len(good)+len(bad) == 0 {
		t.Fatalf("%s has neither *.good.yaml nor *.bad.yaml", dir)
	}
	for _, name := range good {
		t.Run(filepath.Base(name), func(t *testing.T) {
			if err := load(read(t, name)); err != nil {
				t.Errorf("%s does not load:\n%v", name, err)
			}
		})
	}
	for _, name := range bad {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data := read(t, name)
			want := Expected(data)
			if len(want) == 0 {
				t.Fatalf("%s does not begin with a comment that says what is wrong with it", name)
			}
			err := load(data)
			if err == nil {
				t.Fatalf("%s loads, and should not for:\n%s", name, strings.Join(want, "\n"))
			}
			for _, text := range want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s is refused, but not for %q:\n%v", name, text, err)
				}
			}
		})
	}
}

// Expected returns the lines of the comment that a file begins with.
func Expected(data []byte) []string {
	var lines []string
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		if text = strings.TrimSpace(text); text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
