package configdoc

import (
	"reflect"
	"regexp"
	"strings"
	"unicode"

	"github.com/veneurd/veneur/internal/config"
)

// keyMark stands around keys in comments. In Markdown it becomes a backquote, in YAML nothing.
const keyMark = "\x00"

// keyMarker returns what makes of a comment, which names fields as they are in Go or by their keys, one that names marked keys: who
// reads the reference does not know Go names. A field whose name is one word is left alone, since comments that begin with it read as
// sentences.
func keyMarker(fields []config.Field) func(string) string {
	keys := map[string]string{}
	var names []string
	for _, f := range fields {
		if !strings.Contains(f.Key, "_") {
			continue
		}
		names = append(names, f.Key)
		keys[f.Key] = keyMark + f.Key + keyMark
		if strings.ContainsFunc(f.Name[1:], unicode.IsUpper) {
			names = append(names, f.Name)
			keys[f.Name] = keys[f.Key]
		}
	}
	if len(names) == 0 {
		return func(comment string) string { return comment }
	}
	words := regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
	return func(comment string) string {
		return words.ReplaceAllStringFunc(comment, func(name string) string { return keys[name] })
	}
}

func unmarked(comment string) string { return strings.ReplaceAll(comment, keyMark, "") }

// shown remembers, for the lists and maps of structs of a section, where each struct was written out.
type shown map[reflect.Type]string

// again returns where the struct below an entry was written out before; if it was not, path is noted for it.
func (s shown) again(e entry, path string) (first string) {
	if e.form != listForm && e.form != mapForm {
		return ""
	}
	t := e.field.Type.Elem()
	if first = s[t]; first == "" {
		s[t] = path
	}
	return first
}
