package config

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// Redacted is printed instead of a secret.
const Redacted = "REDACTED"

// Secret is text that never shows itself: fmt, JSON, YAML and text encoders print Redacted, and nothing for an empty one. Reveal, or a
// conversion to string, gives the text to whoever sends it.
//
// One way around remains: fmt does not ask unexported fields how they print, so a struct that keeps a Secret in one must not be
// printed.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns Redacted, or "" for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// GoString returns the quoted String.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format prints the secret hidden, with any verb.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text)
}

// MarshalJSON returns the String as JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// MarshalYAML returns the String.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }

// MarshalText returns the String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// maxSecretFile is the largest file that a Secret is read from, in bytes.
const maxSecretFile = 64 << 10

// secret decodes text, or the content of the file that "file:/path" names. A faulty value is never part of the message.
func (d *decoder) secret(n *node, v reflect.Value) {
	if n.kind != scalar {
		d.expected("text", n)
		return
	}
	text, ok := d.text("text", n)
	if !ok {
		return
	}
	if path, ok := strings.CutPrefix(text, "file:"); ok {
		content, err := readSecret(path)
		if err != nil {
			d.fault("%v", err)
			return
		}
		text = content
	}
	v.SetString(text)
}

func readSecret(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		path = rest // file:///path
	}
	// Opening a pipe or a terminal could wait for ever.
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("secret: %.256s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
	if err != nil {
		return "", fmt.Errorf("secret: %w", err)
	}
	if len(content) > maxSecretFile {
		return "", fmt.Errorf("secret: %.256s has more than %d bytes", path, maxSecretFile)
	}
	return strings.TrimRight(string(content), "\r\n"), nil
}
