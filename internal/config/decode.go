package config

import (
	"encoding"
	"fmt"
	"reflect"
)

// decoder writes nodes over a configuration struct and collects what does not fit. It goes on after a fault, so that one run shows
// all of them.
type decoder struct {
	doc     *Document
	faults  Faults
	path    []byte // where it is
	at      *child // the nearest child on the way that has a place
	schemas map[reflect.Type]*schema
}

func (d *decoder) place(message string) Fault {
	f := Fault{Path: string(d.path), Variable: d.at.node.variable, Message: message}
	if f.Variable == "" {
		f.Line, f.Column = d.at.line, d.at.column
	}
	return f
}

func (d *decoder) fault(format string, args ...any) {
	if len(d.faults) <= maxFaults {
		d.faults.addCapped(d.place(fmt.Sprintf(format, args...)))
	}
}

func (d *decoder) expected(what string, n *node) {
	if n.kind == scalar {
		d.fault("expected %s, found %s", what, quote(n.text))
		return
	}
	d.fault("expected %s, found %s", what, n.kind)
}

// quote shows a value in a message, whatever is in it and however long it is.
func quote(text string) string {
	if len(text) > 64 {
		return fmt.Sprintf("%.64q…", text)
	}
	return fmt.Sprintf("%q", text)
}

// key decodes a child of a mapping.
func (d *decoder) key(c *child, v reflect.Value) {
	outer := len(d.path)
	d.path = appendKey(d.path, c.key)
	d.child(c, v)
	d.path = d.path[:outer]
}

// element decodes a child of a sequence.
func (d *decoder) element(i int, c *child, v reflect.Value) {
	outer := len(d.path)
	d.path = appendIndex(d.path, i)
	d.child(c, v)
	d.path = d.path[:outer]
}

// child decodes a value where it stands. Null leaves what is there.
func (d *decoder) child(c *child, v reflect.Value) {
	outer := d.at
	if c.line > 0 || c.node.variable != "" {
		d.at = c
	}
	if c.node.kind != null {
		d.value(c.node, v)
	}
	d.at = outer
}

func (d *decoder) value(n *node, v reflect.Value) {
	t := v.Type()
	switch {
	case t == rawType:
		d.raw(n, v)
		return
	case t == secretType:
		d.secret(n, v)
		return
	case t == durationType:
		d.duration(n, v)
		return
	case isText(t) && (n.kind != mapping || !d.hasKeys(t)):
		d.unmarshalText(n, v)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		// A copy, since the default may be shared by everything that starts from it.
		fresh := reflect.New(t.Elem())
		if !v.IsNil() {
			fresh.Elem().Set(v.Elem())
		} else {
			setDefaults(fresh.Elem())
		}
		d.value(n, fresh.Elem())
		v.Set(fresh)
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Slice:
		d.list(n, v)
	case reflect.Map:
		d.mapping(n, v)
	default:
		d.scalar(n, v)
	}
}

// hasKeys says that a type is a struct of keys. It may have a text form too, the short one: a listener is an address, or an address with
// options.
func (d *decoder) hasKeys(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && len(d.schema(t).fields) > 0
}

func (d *decoder) structure(n *node, v reflect.Value) {
	n = d.want(mapping, n)
	if n == nil {
		return
	}
	s := d.schema(v.Type())
	if s.err != nil {
		d.fault("%v", s.err)
		return
	}
	var given map[int]string
	if len(s.byKey) > len(s.fields) {
		given = make(map[int]string) // some have an alias, so that one field can be given twice
	}
	for i := range n.children {
		c := &n.children[i]
		f, ok := s.byKey[c.key]
		if !ok {
			d.notAField(c, s)
			continue
		}
		c.name = s.fields[f].Key
		if given != nil {
			if other, ok := given[f]; ok {
				d.keyFault(c, "means the same as "+other+": give one of them")
				continue
			}
			given[f] = c.key
		}
		d.key(c, v.FieldByIndex(s.fields[f].Index))
	}
}

// notAField reports a key that the struct does not have, or never had.
func (d *decoder) notAField(c *child, s *schema) {
	o, rest := match(s.obsolete, c.key)
	switch {
	case o != nil && o.Error && c.node.empty():
		d.doc.warn(d.keyPlace(c, "is empty and can be removed: "+o.Message))
	case o != nil && o.Error:
		d.keyFault(c, o.Message)
	case o != nil:
		d.doc.warn(d.keyPlace(c, o.Message))
	case len(rest) > 0 && c.node.kind == mapping:
		outer, outerAt := len(d.path), d.at
		d.path, d.at = appendKey(d.path, c.key), c
		for i := range c.node.children {
			d.notAField(&c.node.children[i], &schema{obsolete: rest})
		}
		d.path, d.at = d.path[:outer], outerAt
	case len(d.faults) <= maxFaults:
		message := "unknown key"
		if near := nearest(c.key, s.keys); near != "" {
			message += "; did you mean " + near + "?"
		}
		d.keyFault(c, message)
	}
}

// keyPlace makes a fault or warning about a key rather than its value.
func (d *decoder) keyPlace(c *child, message string) Fault {
	outer, outerAt := len(d.path), d.at
	d.path, d.at = appendKey(d.path, c.key), c
	f := d.place(message)
	d.path, d.at = d.path[:outer], outerAt
	return f
}

func (d *decoder) keyFault(c *child, message string) {
	if len(d.faults) <= maxFaults {
		d.faults.addCapped(d.keyPlace(c, message))
	}
}

func (d *decoder) unmarshalText(n *node, v reflect.Value) {
	text, ok := d.text("text", n)
	if !ok {
		return
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		d.fault("%v", err)
	}
}

func (d *decoder) schema(t reflect.Type) *schema {
	s, ok := d.schemas[t]
	if !ok {
		s = newSchema(t)
		if d.schemas == nil {
			d.schemas = make(map[reflect.Type]*schema)
		}
		d.schemas[t] = s
	}
	return s
}
