package config

import "reflect"

// list decodes a sequence in place of the list that is there.
func (d *decoder) list(n *node, v reflect.Value) {
	n = d.want(sequence, n)
	if n == nil {
		return
	}
	if n.patch {
		d.patchList(n, v)
		return
	}
	if len(n.children) == 0 {
		v.SetZero()
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.children), len(n.children))
	for i := range n.children {
		setDefaults(list.Index(i))
		d.element(i, &n.children[i], list.Index(i))
	}
	v.Set(list)
}

// patchList decodes over one element of a list, or one more at its end.
func (d *decoder) patchList(n *node, v reflect.Value) {
	if n.index > v.Len() {
		d.fault("element %d is more than one past the end: there are %d", n.index, v.Len())
		return
	}
	list := reflect.MakeSlice(v.Type(), max(v.Len(), n.index+1), max(v.Len(), n.index+1))
	reflect.Copy(list, v)
	if n.index == v.Len() {
		setDefaults(list.Index(n.index))
	}
	d.element(n.index, &n.children[0], list.Index(n.index))
	v.Set(list)
}

// mapping decodes keys and values in place of the map that is there; a patch keeps what it does not name.
func (d *decoder) mapping(n *node, v reflect.Value) {
	n = d.want(mapping, n)
	if n == nil {
		return
	}
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		d.fault("the program has a map here whose keys are no text: %v", t)
		return
	}
	if !n.patch && len(n.children) == 0 {
		v.SetZero()
		return
	}
	m := reflect.MakeMapWithSize(t, len(n.children))
	if n.patch {
		for iter := v.MapRange(); iter.Next(); {
			m.SetMapIndex(iter.Key(), iter.Value())
		}
	}
	for i := range n.children {
		c := &n.children[i]
		key := reflect.ValueOf(c.key).Convert(t.Key())
		value := reflect.New(t.Elem()).Elem()
		if old := m.MapIndex(key); old.IsValid() {
			value.Set(old)
		} else {
			setDefaults(value)
		}
		d.key(c, value)
		m.SetMapIndex(key, value)
	}
	v.Set(m)
}
