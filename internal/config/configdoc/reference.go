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
// an asterisk, limits.*.max. A struct that stands in a section twice is written out the first time.
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
			dst = appendRows(dst, "", entries, shown{})
		} else {
			dst = append(dst, "No keys.\n"...)
		}
		if obsolete := AppendObsolete(nil, section.Value); section.Keys == nil && len(obsolete) > 0 {
			dst = append(append(dst, '\n'), obsolete...)
		}
	}
	return dst, errors.Join(errs...)
}

func appendRows(dst []byte, prefix string, entries []entry, before shown) []byte {
	for _, e := range entries {
		path := prefix + e.field.Key
		value := ""
		if !unset(e.value) && e.form != structForm {
			value = code(string(e.text()))
		}
		below := path + [...]string{"", "", "[]", ".*"}[e.form]
		first := before.again(e, below)
		dst = fmt.Appendf(dst, "| `%s` | %s | %s | %s |\n", path, typeName(e.field.Type), value, cell(e, first))
		if first == "" {
			dst = appendRows(dst, below+".", e.below, before)
		}
	}
	return dst
}

// cell is the meaning of a key in one cell of a table; first is where the keys below it are written out, when that is elsewhere.
func cell(e entry, first string) string {
	text := strings.ReplaceAll(strings.ReplaceAll(e.comment, "\n", "<br>"), keyMark, "`")
	if first != "" {
		text += " Keys as those of `" + first + "`."
	}
	if len(e.field.Aliases) > 0 {
		text += " Older name: `" + strings.Join(e.field.Aliases, "`, `") + "`."
	}
	return strings.ReplaceAll(text, "|", `\|`)
}

func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// AppendObsolete appends a table of the keys that a struct declares to be obsolete, and nothing when there are none.
func AppendObsolete(dst []byte, value any) []byte {
	obsolete := config.ObsoleteKeys(reflect.Indirect(reflect.ValueOf(value)).Type())
	if len(obsolete) == 0 {
		return dst
	}
	dst = append(dst, "| key of older versions | | |\n|---|---|---|\n"...)
	for _, o := range obsolete {
		what := "accepted with a warning"
		if o.Error {
			what = "refused"
		}
		dst = fmt.Appendf(dst, "| `%s` | %s | %s |\n", o.Key, what, strings.ReplaceAll(o.Message, "|", `\|`))
	}
	return dst
}
