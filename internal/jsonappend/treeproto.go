package jsonappend

import (
	"math"

	"github.com/veneurd/veneur/internal/jsonappend/pbread"
)

// The functions here add what stands in protobuf messages of other systems to a tree. The bytes are lent to the tree: they must not change
// until its Reset. On an error, which is ReasonWire or ReasonDepth, the tree must be Reset.
//
// Unknown fields are skipped. Text that is not UTF-8 is taken, and mended when it is written. Of a field that stands twice the last one
// counts; protobuf would merge two maps or lists, which no encoder writes.

// Struct adds a google.protobuf.Struct as a map:
//
//	message Struct { map<string, Value> fields = 1; }
func (t *Tree) Struct(key string, b []byte) error {
	t.BeginMap(key)
	return t.each(b, func(t *Tree, b []byte) error {
		key, value, ok := entryOf(b)
		if !ok {
			return t.bad()
		}
		return t.StructValue(key, value)
	})
}

// StructValue adds a google.protobuf.Value; one that has nothing set is null:
//
//	message Value {
//	  oneof kind {
//	    NullValue null_value = 1; double number_value = 2; string string_value = 3; bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6;
//	  }
//	}
//	message ListValue { repeated Value values = 1; }
func (t *Tree) StructValue(key string, b []byte) error {
	var last field
	for i := 0; i < len(b); {
		var f field
		if f, i = nextField(b, i); i < 0 {
			return t.bad()
		}
		switch f.id {
		case 1<<3 | pbread.WireVarint, 2<<3 | pbread.WireFixed64, 3<<3 | pbread.WireBytes, 4<<3 | pbread.WireVarint, 5<<3 | pbread.WireBytes, 6<<3 | pbread.WireBytes:
			last = f
		default:
			if f.id>>3 <= 6 {
				return t.bad()
			}
		}
	}
	switch last.id >> 3 {
	case 2:
		t.Float64(key, math.Float64frombits(last.number))
	case 3:
		t.Text(key, lend(last.bytes))
	case 4:
		t.Bool(key, last.number != 0)
	case 5:
		return t.Struct(key, last.bytes)
	case 6:
		return t.values(key, last.bytes, (*Tree).StructValue)
	default:
		t.Null(key)
	}
	return t.reason
}

// AnyValue adds an AnyValue of OTLP; one that has nothing set is null:
//
//	message AnyValue {
//	  oneof value {
//	    string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; KeyValueList kvlist_value = 6;
//	    bytes bytes_value = 7;
//	  }
//	}
//	message ArrayValue { repeated AnyValue values = 1; }
func (t *Tree) AnyValue(key string, b []byte) error {
	var last field
	for i := 0; i < len(b); {
		var f field
		if f, i = nextField(b, i); i < 0 {
			return t.bad()
		}
		switch f.id {
		case 1<<3 | pbread.WireBytes, 2<<3 | pbread.WireVarint, 3<<3 | pbread.WireVarint, 4<<3 | pbread.WireFixed64, 5<<3 | pbread.WireBytes, 6<<3 | pbread.WireBytes, 7<<3 | pbread.WireBytes:
			last = f
		default:
			if f.id>>3 <= 7 {
				return t.bad()
			}
		}
	}
	switch last.id >> 3 {
	case 1:
		t.Text(key, lend(last.bytes))
	case 2:
		t.Bool(key, last.number != 0)
	case 3:
		t.Int(key, int64(last.number))
	case 4:
		t.Float64(key, math.Float64frombits(last.number))
	case 5:
		return t.values(key, last.bytes, (*Tree).AnyValue)
	case 6:
		return t.KeyValues(key, last.bytes)
	case 7:
		t.Bytes(key, last.bytes)
	default:
		t.Null(key)
	}
	return t.reason
}

// KeyValues adds a KeyValueList of OTLP as a map. Attributes of a span, a resource or a record are not in such a list but are fields of it:
// for each, call KeyValue between BeginMap and End.
//
//	message KeyValueList { repeated KeyValue values = 1; }
func (t *Tree) KeyValues(key string, b []byte) error {
	t.BeginMap(key)
	return t.each(b, (*Tree).KeyValue)
}

// KeyValue adds a KeyValue of OTLP to a map that has begun:
//
//	message KeyValue { string key = 1; AnyValue value = 2; }
func (t *Tree) KeyValue(b []byte) error {
	key, value, ok := entryOf(b)
	if !ok {
		return t.bad()
	}
	return t.AnyValue(key, value)
}

// values adds a message whose field 1 is repeated as a list.
func (t *Tree) values(key string, b []byte, add func(*Tree, string, []byte) error) error {
	t.BeginList(key)
	return t.each(b, func(t *Tree, b []byte) error { return add(t, "", b) })
}

// each adds every field 1 of b to the list or map that has just begun, and ends it.
func (t *Tree) each(b []byte, add func(*Tree, []byte) error) error {
	if t.reason != nil {
		return t.reason
	}
	for i := 0; i < len(b); {
		var f field
		if f, i = nextField(b, i); i < 0 {
			return t.bad()
		}
		switch f.id {
		case 1<<3 | pbread.WireBytes:
			if err := add(t, f.bytes); err != nil {
				return err
			}
		case 1 << 3, 1<<3 | pbread.WireFixed64, 1<<3 | pbread.WireFixed32, 1<<3 | pbread.WireGroup:
			return t.bad()
		}
	}
	t.End()
	return nil
}

// bad gives up the tree.
func (t *Tree) bad() error {
	t.fail(ReasonWire)
	return t.reason
}

// entryOf reads a message with a text in field 1 and a message in field 2, which is empty when it is missing.
func entryOf(b []byte) (key string, value []byte, ok bool) {
	for i := 0; i < len(b); {
		var f field
		if f, i = nextField(b, i); i < 0 {
			return "", nil, false
		}
		switch f.id {
		case 1<<3 | pbread.WireBytes:
			key = lend(f.bytes)
		case 2<<3 | pbread.WireBytes:
			value = f.bytes
		default:
			if f.id>>3 <= 2 {
				return "", nil, false
			}
		}
	}
	return key, value, true
}

// field is one field of a message as it stands there. Of a group there is nothing but the id.
type field struct {
	id     uint64 // field number and wire type
	number uint64
	bytes  []byte
}

// nextField reads the field at b[i] and gives the position after it, or a negative one.
func nextField(b []byte, i int) (f field, after int) {
	if f.id, i = pbread.Varint(b, i); i < 0 {
		return f, pbread.Bad
	}
	switch {
	case f.id>>3 == 0:
		return f, pbread.Bad
	case f.id&7 == pbread.WireVarint:
		f.number, i = pbread.Varint(b, i)
	case f.id&7 == pbread.WireFixed64:
		f.number, i = pbread.Fixed64(b, i)
	case f.id&7 == pbread.WireBytes:
		start, end := pbread.Extent(b, i)
		if uint(end) > uint(len(b)) {
			return f, pbread.Bad
		}
		f.bytes, i = b[start:end], end
	default:
		i = pbread.Skip(b, i, f.id)
	}
	return f, i
}
