package partial

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/veneurd/veneur/ssf"
)

// A service is known by its name and tags, a group by its service's number in the set, its family, and what tells it from the others of
// that family. The name of the span stands last, so that a key without it is the beginning of the key. What follows the number is the
// same in every set, and so are estimates of keys.
const (
	serviceKey  = 0xff // first byte of a service's key; a group's is its family
	groupPrefix = 1 + 4
)

func appendService(b []byte, name string, tags []ssf.Tag) []byte {
	b = appendText(append(b, serviceKey), name)
	for i := range tags {
		b = appendText(appendText(b, tags[i].Key), tags[i].Value)
	}
	return b
}

// group is what tells a group from the others of its service.
type group struct {
	family       Family
	failed       bool
	kind, target string // of a dependency
	name         string // of an operation or dependency; the kind of a request
	merged       bool   // it comes from another set; no part of the key
}

func appendGroup(b []byte, service int32, g *group) []byte {
	failed := byte(0)
	if g.failed {
		failed = 1
	}
	b = append(b, byte(g.family), byte(service), byte(service>>8), byte(service>>16), byte(service>>24), failed)
	return append(appendText(appendText(b, g.kind), g.target), g.name...)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// cutText takes a text off the front of a key.
func cutText(key string) (text, rest string) {
	n, i := 0, 0
	for shift := 0; ; shift += 7 {
		c := key[i]
		i++
		if n |= int(c&0x7f) << shift; c < 0x80 {
			return key[i : i+n], key[i+n:]
		}
	}
}

// groupOf reads a group's key. The texts are pieces of it.
func groupOf(key string) (g group) {
	g.family = Family(key[0])
	g.failed = key[groupPrefix] == 1
	g.kind, key = cutText(key[groupPrefix+1:])
	g.target, g.name = cutText(key)
	return g
}

// canonical puts tags in the order in which a service is known by them.
func canonical(tags []ssf.Tag) {
	byKey := func(a, b ssf.Tag) int { return strings.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(tags, byKey) {
		slices.SortFunc(tags, byKey)
	}
}
