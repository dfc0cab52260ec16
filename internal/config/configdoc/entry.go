package configdoc

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/veneurd/veneur/internal/config"
)

// Section is one struct of the configuration.
type Section struct {
	Title string
	Text  string // Markdown below the title, of one or more paragraphs; optional
	Value any    // the struct with its defaults
	// Keys are those of the struct that the section is about, and nothing of what is obsolete; nil is everything.
	Keys []string
	// Under are the lines of YAML that lead to the struct, when its keys are not those of the file itself: "metric_sinks:",
	// "  - kind: localfile", "    config:". The example shows such a section commented out.
	Under []string
}

// entry is one key with what is below it.
type entry struct {
	field   config.Field
	value   reflect.Value
	comment string // with the names of fields as marked keys
	form    form
	below   []entry // of the struct that the key, or each element, holds
}

// text is the default as it stands in a file. That of a secret is in the code for all to read, and what hides it could not be set.
func (e *entry) text() []byte {
	if secret, ok := e.value.Interface().(config.Secret); ok {
		return config.AppendValue(nil, secret.Reveal())
	}
	return config.AppendValue(nil, e.value.Interface())
}

// form is how a struct below a key is reached.
type form uint8

const (
	plainForm form = iota // there is none
	structForm
	listForm // one an element
	mapForm  // one a name
)

// entries reads a struct. All that lacks a comment is in the error.
func (s *Source) entries(section Section) ([]entry, error) {
	v := reflect.Indirect(reflect.ValueOf(section.Value))
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("section %s: %T is no struct", section.Title, section.Value)
	}
	all, err := s.structEntries(v, nil)
	if section.Keys == nil {
		return all, err
	}
	var entries []entry
	for _, key := range section.Keys {
		i := slices.IndexFunc(all, func(e entry) bool { return e.field.Key == key })
		if i < 0 {
			return nil, errors.Join(err, fmt.Errorf("section %s: %T has no key %s", section.Title, section.Value, key))
		}
		entries = append(entries, all[i])
	}
	return entries, err
}

func (s *Source) structEntries(v reflect.Value, above []reflect.Type) ([]entry, error) {
	fields, err := config.Fields(v.Type())
	errs := []error{err}
	above = append(above, v.Type())
	var entries []entry
	mark := keyMarker(fields)
	for _, f := range fields {
		comment, err := s.comment(f.Owner, f.Name)
		errs = append(errs, err)
		e := entry{field: f, comment: mark(comment), value: v.FieldByIndex(f.Index)}
		var inner reflect.Value
		if e.form, inner = below(e.value); e.form != plainForm && !slices.Contains(above, inner.Type()) {
			e.below, err = s.structEntries(inner, above)
			errs = append(errs, err)
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(errs...)
}

// below returns the struct that a value holds, with its defaults.
func below(v reflect.Value) (form, reflect.Value) {
	t, f := v.Type(), structForm
	switch t.Kind() {
	case reflect.Slice:
		t, f = t.Elem(), listForm
	case reflect.Map:
		t, f = t.Elem(), mapForm
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !isKeys(t) {
		return plainForm, reflect.Value{}
	}
	if inner := reflect.Indirect(v); f == structForm && inner.IsValid() {
		return f, inner
	}
	fresh := reflect.New(t)
	if d, ok := fresh.Interface().(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	return f, fresh.Elem()
}

// isKeys says that a type is a struct of keys, rather than one that is written as text only.
func isKeys(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[config.Raw]() {
		return false
	}
	fields, err := config.Fields(t)
	return len(fields) > 0 || err != nil || !isText(t)
}

func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// typeName says in the reference's words what a type takes.
func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "duration"
	case t == reflect.TypeFor[config.Secret]():
		return "secret"
	case t == reflect.TypeFor[config.Raw]():
		return "keys of its kind"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case isText(t) && isKeys(t):
		return "text or keys"
	case isText(t), t.Kind() == reflect.String:
		return "text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Struct:
		return "keys"
	case reflect.Slice:
		element := typeName(t.Elem())
		switch element {
		case "duration", "number", "secret", "whole number":
			element += "s"
		}
		return "list of " + element
	case reflect.Map:
		return typeName(t.Elem()) + " by name"
	default:
		return "whole number"
	}
}

// unset says that a default is the absence of a value.
func unset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer, reflect.Interface:
		return v.IsNil()
	case reflect.Struct:
		return !isKeys(v.Type()) && v.IsZero()
	}
	return false
}
