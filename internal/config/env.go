package config

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const (
	envPrefix     = "VENEUR_"
	envEmitPrefix = "VENEUR_EMIT_" // belongs to veneur-emit
)

// ApplyEnv writes the variables VENEUR_… of environ ("NAME=value", as os.Environ gives them) over *into, which has been decoded before;
// the package comment says how they are named. The error is Faults that name the variable; a name that fits no key is a warning. The
// document remembers what was set, for Locate.
func (d *Document) ApplyEnv(into any, environ []string) (warnings Faults, err error) {
	v, err := target(into)
	if err != nil {
		return nil, err
	}
	known := len(d.warnings)
	dec := decoder{doc: d}
	for _, assignment := range sortedEnv(environ) {
		name, value, _ := strings.Cut(assignment, "=")
		leaf := &node{kind: scalar, text: value, variable: name}
		n := dec.resolve(v.Type(), strings.TrimPrefix(name, envPrefix), leaf)
		if n == nil || n == leaf {
			if !isServiceLink(name) {
				warnings.addCapped(Fault{Variable: name, Message: "no such setting" + dec.suggestEnv(v.Type(), name)})
			}
			continue
		}
		if d.variables == nil {
			d.variables = map[string]string{}
		}
		d.variables[n.path()] = name
		dec.child(&child{node: n}, v)
	}
	warnings = append(warnings, d.warnings[known:]...)
	d.warnings = d.warnings[:known]
	return warnings, dec.faults.Err()
}

// sortedEnv picks our variables, ordered so that a list is set before its elements and the elements are in their order.
func sortedEnv(environ []string) []string {
	var ours []string
	for _, assignment := range environ {
		if strings.HasPrefix(assignment, envPrefix) && !strings.HasPrefix(assignment, envEmitPrefix) {
			ours = append(ours, assignment)
		}
	}
	parts := func(assignment string) []string {
		name, _, _ := strings.Cut(assignment, "=")
		return strings.Split(name, "_")
	}
	slices.SortStableFunc(ours, func(a, b string) int {
		return slices.CompareFunc(parts(a), parts(b), func(a, b string) int {
			i, errA := strconv.Atoi(a)
			j, errB := strconv.Atoi(b)
			if errA == nil && errB == nil {
				return cmp.Compare(i, j)
			}
			return cmp.Compare(a, b)
		})
	})
	return ours
}

// resolve finds the value that the rest of a variable's name stands for and returns a patch that sets it to leaf, or nil.
func (d *decoder) resolve(t reflect.Type, rest string, leaf *node) *node {
	if rest == "" {
		return leaf
	}
	switch {
	case t == rawType:
		return patchKeys(strings.Split(strings.ToLower(rest), "__"), leaf)
	case t == secretType, t == durationType:
		return nil
	case t.Kind() == reflect.Pointer:
		return d.resolve(t.Elem(), rest, leaf)
	case isText(t) && !d.hasKeys(t):
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return d.resolveField(t, rest, leaf)
	case reflect.Slice:
		digits, rest := cutLevel(rest)
		index, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return nil
		}
		if n := d.resolve(t.Elem(), rest, leaf); n != nil {
			return &node{kind: sequence, variable: leaf.variable, patch: true, index: int(index), children: []child{{node: n}}}
		}
	case reflect.Map:
		key, rest, _ := strings.Cut(rest, "__")
		if n := d.resolve(t.Elem(), rest, leaf); n != nil {
			return patchKeys([]string{strings.ToLower(key)}, n)
		}
	}
	return nil
}

// resolveField prefers the longest key that fits, so that tls_key is found before the key "key" below "tls".
func (d *decoder) resolveField(t reflect.Type, rest string, leaf *node) *node {
	s := d.schema(t)
	var best *node
	longest := -1
	for key, f := range s.byKey {
		after, ok := strings.CutPrefix(rest, envKey(key))
		if !ok || len(key) <= longest || after != "" && after[0] != '_' {
			continue
		}
		if after != "" {
			after = strings.TrimPrefix(after[1:], "_")
			if after == "" {
				continue
			}
		}
		if n := d.resolve(s.fields[f].Type, after, leaf); n != nil {
			best, longest = patchKeys([]string{s.fields[f].Key}, n), len(key)
		}
	}
	if best != nil {
		return best
	}
	for _, o := range s.obsolete {
		keys := strings.Split(o.Key, ".")
		if keys[len(keys)-1] == "*" {
			prefix := envKey(strings.Join(keys[:len(keys)-1], "_")) + "_"
			after, ok := strings.CutPrefix(rest, prefix)
			if !ok || after == "" {
				continue
			}
			keys[len(keys)-1] = strings.ToLower(after)
		} else if envKey(strings.Join(keys, "_")) != rest {
			continue
		}
		return patchKeys(keys, leaf)
	}
	return nil
}

func patchKeys(keys []string, leaf *node) *node {
	for _, key := range slices.Backward(keys) {
		leaf = &node{kind: mapping, variable: leaf.variable, patch: true, children: []child{{key: key, node: leaf}}}
	}
	return leaf
}

// path is where a patch leads.
func (n *node) path() string {
	var path []byte
	for n.patch {
		if n.kind == sequence {
			path = appendIndex(path, n.index)
		} else {
			path = appendKey(path, n.children[0].key)
		}
		n = n.children[0].node
	}
	return string(path)
}

func envKey(key string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

// cutLevel takes the name up to the next underscore and drops one or two of them.
func cutLevel(name string) (level, rest string) {
	level, rest, _ = strings.Cut(name, "_")
	return level, strings.TrimPrefix(rest, "_")
}

// suggestEnv names the variable of a key at the top that was probably meant.
func (d *decoder) suggestEnv(t reflect.Type, name string) string {
	keys := d.schema(t).keys
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = envKey(key)
	}
	if near := nearest(strings.TrimPrefix(name, envPrefix), names); near != "" {
		return "; did you mean " + envPrefix + near + "?"
	}
	return ""
}

// isServiceLink recognises what Kubernetes sets in every pod beside a service named veneur.
func isServiceLink(name string) bool {
	for _, prefix := range []string{"SERVICE_HOST", "SERVICE_PORT", "PORT"} {
		if after, ok := strings.CutPrefix(name, envPrefix+prefix); ok && (after == "" || after[0] == '_') {
			return true
		}
	}
	return false
}
