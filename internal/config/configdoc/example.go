package configdoc

import (
	"errors"
	"fmt"
	"strings"
)

// width is where comments of the example are wrapped, in bytes.
const width = 96

// AppendExample appends a YAML file in which every key of the sections stands under its comment with its default. Keys without one
// are commented out, lists and maps of structs with the keys of an element. What it says loads as the defaults.
func (s *Source) AppendExample(dst []byte, sections []Section) ([]byte, error) {
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
		rule := strings.Repeat("-", max(3, width-len(section.Title)-5))
		dst = fmt.Appendf(dst, "# -- %s %s\n\n", section.Title, rule)
		if len(section.Under) == 0 {
			dst = appendEntries(dst, entries, 0, shown{})
			continue
		}
		last := section.Under[len(section.Under)-1]
		indent := len(last) - len(strings.TrimLeft(last, " ")) + 2
		block := []byte(strings.Join(section.Under, "\n") + "\n")
		dst = appendCommented(dst, appendEntries(block, entries, indent, shown{}), 0)
	}
	return dst, errors.Join(errs...)
}

func appendEntries(dst []byte, entries []entry, indent int, before shown) []byte {
	for i, e := range entries {
		if i > 0 && indent == 0 {
			dst = append(dst, '\n')
		}
		for paragraph := range strings.SplitSeq(unmarked(e.comment), "\n") {
			dst = appendWrapped(dst, paragraph, indent)
		}
		dst = appendEntry(dst, e, indent, before)
	}
	return dst
}

func appendEntry(dst []byte, e entry, indent int, before shown) []byte {
	var block []byte
	switch {
	case e.form == structForm && len(e.below) > 0:
		block = appendEntries(fmt.Appendf(nil, "%*s%s:\n", indent, "", e.field.Key), e.below, indent+2, before)
	case !unset(e.value) || len(e.below) == 0 || before.again(e, e.field.Key) != "":
		block = fmt.Appendf(nil, "%*s%s: %s\n", indent, "", e.field.Key, e.text())
	case e.form == listForm:
		block = fmt.Appendf(nil, "%*s%s:\n", indent, "", e.field.Key)
		element := appendEntries(nil, e.below, indent+4, before)
		block = append(block, dashed(element, indent+2)...)
	default:
		block = fmt.Appendf(nil, "%*s%s:\n%*sname:\n", indent, "", e.field.Key, indent+2, "")
		block = appendEntries(block, e.below, indent+4, before)
	}
	if unset(e.value) {
		return appendCommented(dst, block, indent)
	}
	return append(dst, block...)
}

// dashed puts a line with the dash of a list's element before its first line, which may be a comment.
func dashed(element []byte, indent int) []byte {
	text := string(element)
	if strings.HasPrefix(strings.TrimLeft(text, " "), "#") {
		return fmt.Appendf(nil, "%*s-\n%s", indent, "", text)
	}
	return fmt.Appendf(nil, "%*s- %s", indent, "", strings.TrimLeft(text, " "))
}

// appendCommented comments a block out, behind its indentation.
func appendCommented(dst, block []byte, indent int) []byte {
	for line := range strings.Lines(string(block)) {
		if line = strings.TrimRight(line, "\n"); len(line) >= indent && line != "" {
			line = fmt.Sprintf("%*s# %s", indent, "", line[indent:])
		}
		dst = append(append(dst, line...), '\n')
	}
	return dst
}

// appendWrapped appends a paragraph as comment lines.
func appendWrapped(dst []byte, text string, indent int) []byte {
	line := fmt.Sprintf("%*s#", indent, "")
	length := 0
	for word := range strings.FieldsSeq(text) {
		if length > 0 && length+1+len(word) > width {
			dst = append(dst, '\n')
			length = 0
		}
		if length == 0 {
			dst = append(dst, line...)
			length = len(line)
		}
		dst = append(append(dst, ' '), word...)
		length += 1 + len(word)
	}
	return append(dst, '\n')
}
