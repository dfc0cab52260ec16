package dogstatsd

import (
	"bytes"
	"unicode/utf8"
)

// Origin is what a line says of the process that sent it. It is metadata, never a tag by itself. Its texts are UTF-8 and
// borrowed like those of the line.
type Origin struct {
	ContainerID    []byte // c:ci-…, or c: alone
	ContainerInode uint64 // c:in-…, the inode of the container's cgroup, or 0
	External       External
	Cardinality    string // card: "none", "low", "orchestrator" or "high", or "" when nothing was said
}

// External is what the orchestrator put into the environment of the sender, field e:.
type External struct {
	Init          bool // sent by an init container
	ContainerName []byte
	PodUID        []byte
}

var comma = []byte{','}

// readField reads field when it is one of the origin fields, and reports whether it is. Of a list the bad parts are left out;
// ignored counts them.
func (o *Origin) readField(field []byte) (ok bool, ignored int) {
	var readItem func(o *Origin, item []byte, alone bool) bool
	var list []byte
	switch {
	case len(field) < 2:
		return false, 0
	case field[0] == 'c' && field[1] == ':':
		readItem, list = (*Origin).readContainer, field[2:]
	case field[0] == 'e' && field[1] == ':':
		readItem, list = (*Origin).readExternal, field[2:]
	case bytes.HasPrefix(field, []byte("card:")):
		readItem, list = (*Origin).readCardinality, field[len("card:"):]
	default:
		return false, 0
	}
	if !utf8.Valid(list) {
		return true, 1
	}
	item, list, more := bytes.Cut(list, comma)
	alone := !more
	for {
		if !readItem(o, item, alone) {
			ignored++
		}
		if !more {
			return true, ignored
		}
		item, list, more = bytes.Cut(list, comma)
	}
}

func (o *Origin) readContainer(item []byte, alone bool) bool {
	switch {
	case bytes.HasPrefix(item, []byte("in-")):
		inode, ok := parseWhole(item[len("in-"):])
		if !ok || inode == 0 {
			return false
		}
		o.ContainerInode = uint64(inode)
		return true
	case bytes.HasPrefix(item, []byte("ci-")):
		item = item[len("ci-"):]
	case bytes.HasPrefix(item, []byte("cid-")):
		item = item[len("cid-"):]
	case !alone:
		// Items of a list are marked; an unknown mark is one of tomorrow, not an id.
		return false
	}
	if len(item) == 0 {
		return false
	}
	o.ContainerID = item
	return true
}

func (o *Origin) readExternal(item []byte, _ bool) bool {
	if len(item) < 4 || item[2] != '-' {
		return false
	}
	value := item[3:]
	switch string(item[:2]) {
	case "it":
		switch string(value) {
		case "true":
			o.External.Init = true
		case "false":
			o.External.Init = false
		default:
			return false
		}
	case "cn":
		o.External.ContainerName = value
	case "pu":
		o.External.PodUID = value
	default:
		return false
	}
	return true
}

func (o *Origin) readCardinality(item []byte, alone bool) bool {
	return alone && oneOf(&o.Cardinality, item, "none", "low", "orchestrator", "high")
}
