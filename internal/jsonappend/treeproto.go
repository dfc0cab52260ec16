package jsonappend

import (
	"math"

	"github.com/veneurd/veneur/internal/jsonappend/pbread"
)

// The functions here add what stands in protobuf messages of other systems to a tree. The bytes are lent to the tree: they must not change
// until its Reset. On an error, which is ReasonWire or ReasonDepth, the tree must be Reset.
//
// Unknown fields are skipped; a known one with another wire type is refused. Text that is not UTF-8 is taken, and mended when it is written.
// Of a field that stands twice the last one counts, and the first is not looked into; protobuf would merge two maps or lists, which no
// encoder writes.

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
	field, number, content, ok := lastField(b, &structTypes)
	if !ok {
		return t.bad()
	}
	switch field {
	case 2:
		t.Float64(key, math.Float64frombits(number))
	case 3:
		t.Text(key, lend(content))
	case 4:
		t.Bool(key, number != 0)
	case 5:
		return t.Struct(key, content)
	case 6:
		return t.values(key, content, (*Tree).StructValue)
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
	field, number, content, ok := lastField(b, &anyTypes)
	if !ok {
		return t.bad()
	}
	switch field {
	case 1:
		t.Text(key, lend(content))
	case 2:
		t.Bool(key, number != 0)
	case 3:
		t.Int(key, int64(number))
	case 4:
		t.Float64(key, math.Float64frombits(number))
	case 5:
		return t.values(key, content, (*Tree).AnyValue)
	case 6:
		return t.KeyValues(key, content)
	case 7:
		t.Bytes(key, content)
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
		id, start, end := uint64(0), 0, 0
		if id, i = pbread.Varint(b, i); i < 0 {
			return t.bad()
		}
		switch {
		case id == 1<<3|pbread.WireBytes:
			if start, end = pbread.Extent(b, i); uint(end) > uint(len(b)) {
				return t.bad()
			}
			if err := add(t, b[start:end]); err != nil {
				return err
			}
			i = end
		case id>>3 == 1:
			return t.bad()
		default:
			if i = pbread.Skip(b, i, id); i < 0 {
				return t.bad()
			}
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

// The wire types of the fields that the messages have, by their numbers.
var (
	structTypes = [8]uint8{none, pbread.WireVarint, pbread.WireFixed64, pbread.WireBytes, pbread.WireVarint, pbread.WireBytes, pbread.WireBytes, none}
	anyTypes    = [8]uint8{
		none, pbread.WireBytes, pbread.WireVarint, pbread.WireVarint, pbread.WireFixed64, pbread.WireBytes, pbread.WireBytes, pbread.WireBytes,
	}
)

const none = 0xff

// lastField gives the last field of a message that has one of several; field is 0 when it has none of them.
func lastField(b []byte, types *[8]uint8) (field, number uint64, content []byte, ok bool) {
	for i := 0; i < len(b); {
		var id uint64
		if id, i = pbread.Varint(b, i); i < 0 {
			return 0, 0, nil, false
		}
		n := id >> 3
		if n >= uint64(len(types)) || types[n] == none {
			if i = pbread.Skip(b, i, id); i < 0 {
				return 0, 0, nil, false
			}
			continue
		}
		if types[n] != uint8(id&7) {
			return 0, 0, nil, false
		}
		field = n
		switch id & 7 {
		case pbread.WireVarint:
			number, i = pbread.Varint(b, i)
		case pbread.WireFixed64:
			number, i = pbread.Fixed64(b, i)
		default:
			start, end := pbread.Extent(b, i)
			if uint(end) > uint(len(b)) {
				return 0, 0, nil, false
			}
			content, i = b[start:end], end
		}
		if i < 0 {
			return 0, 0, nil, false
		}
	}
	return field, number, content, true
}

// entryOf reads a message with a text in field 1 and a message in field 2, which is empty when it is missing.
func entryOf(b []byte) (key string, value []byte, ok bool) {
	// Nearly all have both, in this order, with lengths of one byte.
	if len(b) >= 4 && len(b) <= 0x7f && b[0] == 1<<3|pbread.WireBytes {
		if v := int(b[1]) + 4; v <= len(b) && b[v-2] == 2<<3|pbread.WireBytes && int(b[v-1]) == len(b)-v {
			return lend(b[2 : v-2]), b[v:], true
		}
	}
	for i := 0; i < len(b); {
		var id uint64
		if id, i = pbread.Varint(b, i); i < 0 {
			return "", nil, false
		}
		switch n := id >> 3; {
		case n != 1 && n != 2:
			if i = pbread.Skip(b, i, id); i < 0 {
				return "", nil, false
			}
			continue
		case id&7 != pbread.WireBytes:
			return "", nil, false
		}
		start, end := pbread.Extent(b, i)
		if uint(end) > uint(len(b)) {
			return "", nil, false
		}
		if i = end; id>>3 == 1 {
			key = lend(b[start:end])
		} else {
			value = b[start:end]
		}
	}
	return key, value, true
}
