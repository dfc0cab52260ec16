package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Fault is one thing wrong with a configuration, or one warning about it.
type Fault struct {
	Path     string // as in YAML: "metric_sinks[2].config.url"; "" for the whole
	Line     int    // in the file, from 1; 0 when the value does not come from the file
	Column   int    // from 1; 0 with Line 0
	Variable string // the environment variable that the value comes from, if any
	Message  string
}

// String returns "line 12: metric_sinks[2].config.url: must be set", or begins with the name of the environment variable. What
// looks like a secret in a URL is hidden, see RedactURL.
func (f Fault) String() string {
	var b strings.Builder
	if f.Variable != "" {
		b.WriteString(f.Variable + ": ")
	} else if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(RedactURL(f.Message))
	return b.String()
}

// placed says that somebody already knows where the fault is, so that its path is that of the whole document.
func (f Fault) placed() bool { return f.Line > 0 || f.Variable != "" }

// Faults is everything wrong with a configuration, so that one run shows it all. A Validate method collects into one:
//
//	var faults config.Faults
//	faults.AtLeast("chunk", c.Chunk, 1)
//	if c.URL == "" {
//		faults.Add("url", "must be set")
//	}
//	return faults.Err()
type Faults []Fault

// Add notes a fault at a path relative to the struct being validated.
func (f *Faults) Add(path, format string, args ...any) {
	*f = append(*f, Fault{Path: path, Message: fmt.Sprintf(format, args...)})
}

// AtLeast notes a fault when the value of path is less than that.
func (f *Faults) AtLeast(path string, value, least int) {
	if value < least {
		f.Add(path, "%d is less than %d", value, least)
	}
}

// AtMost notes a fault when the value of path is more than that.
func (f *Faults) AtMost(path string, value, most int) {
	if value > most {
		f.Add(path, "%d is more than %d", value, most)
	}
}

// AddIn notes the faults of a nested configuration below path. Faults that have a line or a variable come from a Decode and hold the
// whole path already, which they keep. An err that is no Faults counts as one fault of path; nil as none.
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
		if !fault.placed() {
			fault.Path = Join(path, fault.Path)
		}
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

// Index is the path of an element of a list: Index("a", 3) is "a[3]".
func Index(path string, i int) string { return string(appendIndex([]byte(path), i)) }

// appendKey adds one key to a path. Keys that hold what separates paths stand in brackets and quotes: tags["a.b"].
func appendKey(path []byte, key string) []byte {
	if key == "" || strings.ContainsAny(key, `.[]"`) {
		path = append(path, '[')
		path = strconv.AppendQuote(path, key)
		return append(path, ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, key...)
}

// appendIndex adds the index of a list's element to a path.
func appendIndex(path []byte, i int) []byte {
	path = append(path, '[')
	path = strconv.AppendInt(path, int64(i), 10)
	return append(path, ']')
}

// cutSegment takes the first key or index off a path. An index has key "", and every key has index -1.
func cutSegment(path string) (key string, index int, rest string) {
	path = strings.TrimPrefix(path, ".")
	if inner, ok := strings.CutPrefix(path, "["); ok {
		if quoted, err := strconv.QuotedPrefix(inner); err == nil {
			key, _ = strconv.Unquote(quoted)
			return key, -1, strings.TrimPrefix(inner[len(quoted):], "]")
		}
		number, rest, _ := strings.Cut(inner, "]")
		if i, err := strconv.Atoi(number); err == nil && i >= 0 {
			return "", i, rest
		}
		return number, -1, rest
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	return path[:end], -1, path[end:]
}
