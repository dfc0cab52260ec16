package configdoc

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/veneurd/veneur/internal/config"
)

// AppendReference appends the sections as Markdown: a title, the text, a table of the keys and a table of those that are
// obsolete. Keys of structs below a key are written with a dot, tls.ca_file; below a list with brackets, metric_sinks[].kind; below a map with
// an asterisk, limits.*.max.
func (s *Source) AppendReference(dst []byte, sections []Section) ([]byte, error) {
	var errs []error
	for i, section := range sections {
		entries, err := s.entries(section)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = fmt.Appendf(dst, "## %s\n\n", section.Title)
		if section.Text != "" {
			dst = fmt.Appendf(dst, "%s\n\n", strings.TrimSpace(section.Text))
		}
		if len(entries) > 0 {
			dst = append(dst, "| key | type | default | meaning |\n|---|---|---|---|\n"...)
			dst = appendRows(dst, "", entries)
		} else {
			dst = append(dst, "No keys.\n"...)
		}
		dst = appendObsolete(dst, section)
	}
	return dst, errors.Join(errs...)
}

func appendRows(dst []byte, prefix string, entries []entry) []byte {
	for _, e := range entries {
		path := prefix + e.field.Key
		value := ""
		if !unset(e.value) && e.form != structForm {
			value = code(string(config.AppendValue(nil, e.value.Interface())))
		}
		dst = fmt.Appendf(dst, "| `%s` | %s | %s | %s |\n", path, typeName(e.field.Type), value, cell(e))
		dst = appendRows(dst, path+[...]string{".", ".", "[].", ".*."}[e.form], e.below)
	}
	return dst
}

// cell is the meaning of a key in one cell of a table.
func cell(e entry) string {
	text := strings.ReplaceAll(e.comment, "\n", "<br>")
	if len(e.field.Aliases) > 0 {
		text += " Older name: `" + strings.Join(e.field.Aliases, "`, `") + "`."
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func appendObsolete(dst []byte, section Section) []byte {
	obsolete := config.ObsoleteKeys(reflect.Indirect(reflect.ValueOf(section.Value)).Type())
	if len(obsolete) == 0 {
		return dst
	}
	dst = append(dst, "\n| key of older versions | | |\n|---|---|---|\n"...)
	for _, o := range obsolete {
		what := "accepted with a warning"
		if o.Error {
			what = "refused"
		}
		dst = fmt.Appendf(dst, "| `%s` | %s | %s |\n", o.Key, what, strings.ReplaceAll(o.Message, "|", `\|`))
	}
	return dst
}
