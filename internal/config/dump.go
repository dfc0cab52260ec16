package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AppendYAML appends a decoded configuration as YAML, keys in the order of the fields, durations as "10s". Secrets, and credentials
// in URLs, are Redacted; everything else loads back to the same values. A Raw prints the struct it was decoded into, or its keys alone
// when it was not.
func AppendYAML(dst []byte, v any) []byte {
	n := encode(reflect.ValueOf(v))
	if len(n.children) == 0 {
		return append(appendFlow(dst, n), '\n')
	}
	return appendBlock(dst, n, 0)
}

// AppendJSON is AppendYAML as JSON on one line, for programs: what Parse would take for a variable is not escaped.
func AppendJSON(dst []byte, v any) []byte {
	return appendJSON(dst, encode(reflect.ValueOf(v)))
}

// AppendValue appends one value of a configuration, of any type, as YAML on one line.
func AppendValue(dst []byte, v any) []byte {
	return appendFlow(dst, encode(reflect.ValueOf(v)))
}

// encode turns a configuration value into nodes, with what is secret left out.
func encode(v reflect.Value) *node {
	if !v.IsValid() {
		return &node{}
	}
	t := v.Type()
	switch {
	case t == rawType:
		return encodeRaw(v.Interface().(Raw))
	case t == durationType:
		return plain(formatDuration(time.Duration(v.Int())))
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
		if v.IsNil() {
			return &node{}
		}
		return encode(v.Elem())
	case t == secretType || v.CanInterface():
		if text, ok := textOf(v); ok {
			return quoted(text)
		}
	}
	switch t.Kind() {
	case reflect.Struct:
		n := &node{kind: mapping}
		for _, f := range newSchema(t).fields {
			n.children = append(n.children, child{key: f.Key, node: encode(v.FieldByIndex(f.Index))})
		}
		return n
	case reflect.Slice, reflect.Array:
		n := &node{kind: sequence}
		for i := range v.Len() {
			n.children = append(n.children, child{node: encode(v.Index(i))})
		}
		return n
	case reflect.Map:
		n := &node{kind: mapping}
		for iter := v.MapRange(); iter.Next(); {
			n.children = append(n.children, child{key: fmt.Sprint(iter.Key()), node: encode(iter.Value())})
		}
		slices.SortFunc(n.children, func(a, b child) int { return strings.Compare(a.key, b.key) })
		return n
	case reflect.String:
		return quoted(RedactURL(v.String()))
	case reflect.Float32, reflect.Float64:
		return plain(strconv.FormatFloat(v.Float(), 'g', -1, t.Bits()))
	case reflect.Bool:
		return plain(strconv.FormatBool(v.Bool()))
	}
	switch {
	case v.CanInt():
		return plain(strconv.FormatInt(v.Int(), 10))
	case v.CanUint():
		return plain(strconv.FormatUint(v.Uint(), 10))
	}
	return &node{}
}

func plain(text string) *node  { return &node{kind: scalar, text: text} }
func quoted(text string) *node { return &node{kind: scalar, text: text, quoted: true} }

// textOf prints types that decode from text and say how they print.
func textOf(v reflect.Value) (string, bool) {
	t := v.Type()
	if t != secretType && !isText(t) {
		return "", false
	}
	if !v.CanAddr() {
		addressable := reflect.New(t).Elem()
		addressable.Set(v)
		v = addressable
	}
	switch m := v.Addr().Interface().(type) {
	case encoding.TextMarshaler:
		if text, err := m.MarshalText(); err == nil {
			return RedactURL(string(text)), true
		}
	case fmt.Stringer:
		if t.Kind() != reflect.Struct || len(newSchema(t).fields) == 0 {
			return RedactURL(m.String()), true
		}
	}
	return "", false
}

func encodeRaw(r Raw) *node {
	switch {
	case r.subtree == nil:
		return &node{}
	case r.subtree.decoded != nil:
		return encode(reflect.ValueOf(r.subtree.decoded))
	default:
		return hidden(r.subtree.child.node)
	}
}

// formatDuration prints "1m30s" and "1h" where time.Duration says "1h0m0s".
func formatDuration(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}
