package config

import (
	"fmt"
	"io"
	"os"
	"reflect"
)

// Document is a parsed configuration file, or with its zero value the absence of one. It is kept after decoding, to say where
// things stand in the file.
type Document struct {
	Name string // of the file, for the caller's messages; faults have the line only

	// Lookup gives the variables for ${NAME}. Nil means os.LookupEnv.
	Lookup func(name string) (value string, ok bool)

	root      *node
	variables map[string]string // path to the environment variable that set it
	warnings  Faults
	expanded  int // bytes that ${NAME} has added so far
}

// ParseFile reads and parses a file. It reads no more than MaxSize bytes, whatever the file's size is said to be.
func ParseFile(name string) (*Document, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(name, data)
}

// Decode writes the document over *into, a struct that holds the defaults: what the document does not name, or gives as null, stays. The
// error is Faults, all of them, each with the whole path and its line; what had no fault is written nevertheless.
func (d *Document) Decode(into any) error {
	v, err := target(into)
	if err != nil {
		return err
	}
	if d.root == nil {
		return nil
	}
	dec := decoder{doc: d}
	dec.child(&child{line: 1, column: 1, node: d.root}, v)
	return dec.faults.Err()
}

// Warnings returns what was accepted so far but has no effect any more, with the reasons, each once.
func (d *Document) Warnings() Faults { return d.warnings }

// Locate fills in where each fault is: the line of its path in the file, or of the nearest thing around it when the path is not in the
// file, or the environment variable that set it. Faults that have a place are left alone. The argument is not changed.
func (d *Document) Locate(faults Faults) Faults {
	located := make(Faults, len(faults))
	for i, f := range faults {
		if !f.placed() {
			d.locate(&f)
		}
		located[i] = f
	}
	return located
}

func (d *Document) locate(f *Fault) {
	n, walked, rest := d.root, []byte(nil), f.Path
	inFile := true
	for {
		if variable, ok := d.variables[string(walked)]; ok {
			f.Variable, f.Line, f.Column = variable, 0, 0
		}
		if rest == "" {
			return
		}
		var key string
		var index int
		if key, index, rest = cutSegment(rest); index >= 0 {
			walked = appendIndex(walked, index)
		} else {
			walked = appendKey(walked, key)
		}
		if !inFile || n == nil {
			continue
		}
		var c *child
		if index < 0 {
			c = n.find(key)
		} else if n.kind == sequence && index < len(n.children) {
			c = &n.children[index]
		}
		if c == nil {
			inFile = false
			continue
		}
		f.Line, f.Column, f.Variable = c.line, c.column, ""
		n = c.node
	}
}

// warn notes a warning once, however often its value is decoded.
func (d *Document) warn(f Fault) {
	if len(d.warnings) > maxFaults {
		return
	}
	for _, w := range d.warnings {
		if w == f {
			return
		}
	}
	d.warnings.addCapped(f)
}

func target(into any) (reflect.Value, error) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return v, fmt.Errorf("configuration: cannot decode into %T, only into a pointer to a struct", into)
	}
	return v.Elem(), nil
}
