package localfile

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/config"
)

// The formats of a file.
const (
	formatTSV    = "tsv"
	formatNDJSON = "ndjson"
)

// Config says where the lines go and what they look like.
type Config struct {
	// Path of the file; it is made when it does not exist and appended to when it does. "-" is standard output. Several sinks, of several
	// processes too, may share a file.
	Path string `yaml:"path" alias:"flush_file"`
	// Format is ndjson, one JSON object a line, or tsv, one line of columns a point. By default it is ndjson, and tsv where a delimiter
	// is given.
	Format string `yaml:"format"`
	// Delimiter stands between the columns of tsv: one character that is no letter, digit or comma; by default a tab.
	Delimiter string `yaml:"delimiter"`
	// Mode is the permission of a file that is made, in octal, before the process's umask.
	Mode string `yaml:"mode"`
	// MaxBytes is the size that a file may reach. Before a write that would exceed it the file is renamed to path.1 and a new
	// one begun; 0 never does that. A file that somebody else renames or removes is noticed at the next write.
	MaxBytes int64 `yaml:"max_bytes"`
	// MaxFiles is how many renamed files are kept, path.1 being the newest; with 0 the file is emptied instead.
	MaxFiles int `yaml:"max_files"`
}

// DefaultConfig returns ndjson without rotation.
func DefaultConfig() Config {
	return Config{Mode: "0644", MaxFiles: 5}
}

const (
	minRotation = 4096
	mostFiles   = 1000

	// notDelimiters stand in lines for something else: numbers, types, tags, escape sequences and their ends. So do letters and digits.
	notDelimiters = ".-+_,\\\n\r"
)

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	if c.Path == "" {
		faults.Add("path", "must be set: the file to write to, or - for standard output")
	}
	switch c.Format {
	case "", formatTSV:
	case formatNDJSON:
		if c.Delimiter != "" {
			faults.Add("delimiter", "has no meaning with format ndjson")
		}
	default:
		faults.Add("format", "%q is neither tsv nor ndjson", c.Format)
	}
	if c.Delimiter != "" && !isDelimiter(c.Delimiter) {
		faults.Add("delimiter", "%q is not one character such as a tab, a bar or a semicolon", c.Delimiter)
	}
	if _, err := fileMode(c.Mode); err != nil {
		faults.Add("mode", "%v", err)
	}
	if c.MaxBytes != 0 && c.MaxBytes < minRotation {
		faults.Add("max_bytes", "%d is neither 0 nor at least %d", c.MaxBytes, minRotation)
	}
	if c.MaxFiles < 0 || c.MaxFiles > mostFiles {
		faults.Add("max_files", "%d is not between 0 and %d", c.MaxFiles, mostFiles)
	}
	return faults.Err()
}

// delimiter returns what stands between the columns of tsv, and ok false for ndjson.
func (c *Config) delimiter() (r rune, ok bool) {
	if c.Format == formatNDJSON || c.Format == "" && c.Delimiter == "" {
		return 0, false
	}
	if c.Delimiter == "" {
		return '\t', true
	}
	r, _ = utf8.DecodeRuneInString(c.Delimiter)
	return r, true
}

func isDelimiter(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return size == len(s) && r != utf8.RuneError && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(notDelimiters, r)
}
