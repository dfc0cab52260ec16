package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// maxExpanded bounds the text that variables may add to one document, in bytes.
const maxExpanded = 16 << 20

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} and ${NAME:-text}, and turns $${ into ${. Its errors do not show what a variable held.
func (d *Document) expand(text string) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	lookup := d.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "${")
		if escaped, ok := strings.CutSuffix(before, "$"); found && ok {
			out.WriteString(escaped + "${")
			text = after
			continue
		}
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inner, rest, closed := strings.Cut(after, "}")
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		if !closed || !variableName.MatchString(name) {
			return "", fmt.Errorf("%s is no ${NAME} or ${NAME:-text}; write $${ for a plain ${", quote("${"+after))
		}
		value, ok := lookup(name)
		if hasFallback && value == "" {
			value, ok = fallback, true
		}
		if !ok {
			return "", fmt.Errorf("the environment variable %.64s is not set", name)
		}
		if d.expanded += len(value); d.expanded > maxExpanded {
			return "", errors.New("variables add too much text to the file")
		}
		out.WriteString(value)
		text = rest
	}
}
