package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Field is one key of a configuration struct, or of a struct inlined in it.
type Field struct {
	Key     string
	Aliases []string     // older names
	Owner   reflect.Type // the struct that declares the field
	Name    string       // of the field in Go
	Type    reflect.Type
	Index   []int // for reflect.Value.FieldByIndex
}

// Fields lists the keys of a configuration struct in the order of its fields, inlined structs in their place. The error is for the
// struct's author: two fields with one key, or an inline field that is no struct.
func Fields(t reflect.Type) ([]Field, error) {
	s := newSchema(t)
	return s.fields, s.err
}

// Obsolete is a key that a configuration once had. Key may be a path and * stands for any one key: "features.*".
type Obsolete struct {
	Key     string
	Message string // why it has no effect, or what to do instead
	Error   bool   // refused unless its value is empty; otherwise accepted with a warning
}

// obsoleter is implemented by configuration structs that had other keys once.
type obsoleter interface{ ObsoleteKeys() []Obsolete }

// ObsoleteKeys lists the keys that a configuration struct, or a struct inlined in it, declares to be obsolete.
func ObsoleteKeys(t reflect.Type) []Obsolete { return newSchema(t).obsolete }

// schema is what reflection knows of a configuration struct.
type schema struct {
	fields   []Field
	byKey    map[string]int // keys and aliases
	keys     []string       // for suggestions
	obsolete []Obsolete
	err      error
}

func newSchema(t reflect.Type) *schema {
	s := &schema{byKey: map[string]int{}}
	s.addStruct(t, nil)
	for i, f := range s.fields {
		for _, key := range append([]string{f.Key}, f.Aliases...) {
			if j, ok := s.byKey[key]; ok {
				s.err = fmt.Errorf("%v.%s and %v.%s have the same key %s", s.fields[j].Owner, s.fields[j].Name, f.Owner, f.Name, key)
			}
			s.byKey[key] = i
			s.keys = append(s.keys, key)
		}
	}
	return s
}

func (s *schema) addStruct(t reflect.Type, index []int) {
	if o, ok := reflect.New(t).Interface().(obsoleter); ok {
		for _, key := range o.ObsoleteKeys() {
			if !slices.Contains(s.obsolete, key) { // the method of an embedded struct is that of the outer one too
				s.obsolete = append(s.obsolete, key)
			}
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("yaml")
		key, options, _ := strings.Cut(tag, ",")
		at := append(index[:len(index):len(index)], i)
		switch {
		case options == "inline", !tagged && f.Anonymous && f.Type.Kind() == reflect.Struct:
			if f.Type.Kind() != reflect.Struct {
				s.err = fmt.Errorf("%v.%s is inline but no struct", t, f.Name)
				continue
			}
			s.addStruct(f.Type, at)
		case key == "" || key == "-" || !f.IsExported():
		default:
			field := Field{Key: key, Owner: t, Name: f.Name, Type: f.Type, Index: at}
			if aliases := f.Tag.Get("alias"); aliases != "" {
				field.Aliases = strings.Split(aliases, ",")
			}
			s.fields = append(s.fields, field)
		}
	}
}

// match finds what is said of a key that is no field. below says that only keys below it are obsolete, found in rest.
func match(obsolete []Obsolete, key string) (found *Obsolete, rest []Obsolete) {
	for i, o := range obsolete {
		first, after, nested := strings.Cut(o.Key, ".")
		if first != key && first != "*" {
			continue
		}
		if !nested {
			return &obsolete[i], nil
		}
		rest = append(rest, Obsolete{Key: after, Message: o.Message, Error: o.Error})
	}
	return nil, rest
}

var (
	durationType        = reflect.TypeFor[time.Duration]()
	secretType          = reflect.TypeFor[Secret]()
	rawType             = reflect.TypeFor[Raw]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isText says that a type reads itself from text.
func isText(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(textUnmarshalerType)
}

// setDefaults prepares a new element of a list or map, whose type may start from something other than zero.
func setDefaults(v reflect.Value) {
	if d, ok := v.Addr().Interface().(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
}
