package config

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a configuration.
type Fault struct {
	Path    string // as in YAML: "metric_sinks[2].config.url"; "" for the whole
	Line    int    // in the file, from 1; 0 when the value does not come from the file
	Column  int
	Message string
}

// String returns "line 12: metric_sinks[2].config.url: must be set".
func (f Fault) String() string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Faults is everything wrong with a configuration, so that one run shows it all. A Validate method collects into one:
//
//	var faults config.Faults
//	if c.Chunk < 1 {
//		faults.Add("chunk", "%d is less than 1", c.Chunk)
//	}
//	return faults.Err()
type Faults []Fault

// Add notes a fault at a path relative to the struct being validated.
func (f *Faults) Add(path, format string, args ...any) {
	*f = append(*f, Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// AddIn notes the faults of a nested configuration below path. An err that is no Faults counts as one fault of path; nil as none.
func (f *Faults) AddIn(path string, err error) {
	if err == nil {
		return
	}
	nested, ok := err.(Faults) //nolint:errorlint // Validate returns Faults unwrapped
	if !ok {
		f.Add(path, "%v", err)
		return
	}
	for _, fault := range nested {
		fault.Path = Join(path, fault.Path)
		*f = append(*f, fault)
	}
}

// Err returns the faults as an error, or nil when there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Error returns one line a fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Join puts two paths together: Join("a", "b") is "a.b", Join("a", "[0].b") is "a[0].b".
func Join(outer, inner string) string {
	if outer == "" || inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}
