package jsonappend

import (
	"slices"
	"strings"
	"unsafe"
)

// Order brings the keys of an object into the order in which they are written: by their bytes, each once. It keeps its memory, so that objects
// of like size cost no allocation. The zero value is ready. It must not be used by two goroutines at once.
//
// The keys that are added are kept as they are; their text must not change until the next Reset.
type Order struct {
	entries []entry
	text    []byte // of keys that were rewritten
}

// entry is one key. A prefix that differs saves the look at the text.
type entry struct {
	prefix uint64 // the first eight bytes, the first one highest
	key    string
	at     uint32
	plain  bool // nothing to escape
}

// Reset forgets all keys. What one huge object has grown is let go.
func (o *Order) Reset() {
	if cap(o.entries) > maxKeptEntries {
		o.entries = nil
	}
	if cap(o.text) > maxKeptText {
		o.text = nil
	}
	o.entries, o.text = o.entries[:0], o.text[:0]
}

const (
	maxKeptEntries = 1 << 14
	maxKeptText    = 1 << 20
)

// Add adds a key, which the rules may change. at is the caller's own number for it.
func (o *Order) Add(key string, at int, k *Keys, c *Counts) {
	prefix, found := scanKey(key)
	e := entry{prefix: prefix, key: key, at: uint32(at), plain: found&keyNotPlain == 0}
	if found != 0 || k.Max > 0 || len(k.Reserved) > 0 {
		o.rewrite(&e, found, k, c)
	}
	o.entries = append(o.entries, e)
}

// rewrite applies the rules where the first look cannot exclude that one of them holds.
func (o *Order) rewrite(e *entry, found uint8, k *Keys, c *Counts) {
	if e.plain && (found&keyPath == 0 || !k.Paths) && (found&keyDots == 0 || k.Dot == 0) && (k.Max == 0 || len(e.key) <= k.Max) && !k.reserves(e.key) {
		return
	}
	start := len(o.text)
	o.text = k.append(o.text, e.key, c)
	text := o.text[start:]
	if string(text) == e.key {
		o.text = o.text[:start]
		return
	}
	// When the text grows, keys that lie in the old memory keep it.
	e.key = unsafe.String(unsafe.SliceData(text), len(text))
	e.prefix, found = scanKey(e.key)
	e.plain = found&keyNotPlain == 0
}

// fewKeys is up to how many keys are sorted by insertion. It makes no calls, and costs next to nothing where they come sorted.
const fewKeys = 24

// Sort sorts the keys and leaves the last of those that are equal.
func (o *Order) Sort(c *Counts) {
	o.sortFrom(0)
	o.uniqueFrom(0, c)
}

// SortAll sorts the keys and leaves all of them, equal ones in the order in which they were added.
func (o *Order) SortAll() { o.sortFrom(0) }

func (o *Order) sortFrom(start int) {
	e := o.entries[start:]
	if len(e) > fewKeys {
		slices.SortFunc(e, func(a, b entry) int {
			if n := compareEntries(&a, &b); n != 0 {
				return n
			}
			return int(a.at) - int(b.at)
		})
		return
	}
	for i := 1; i < len(e); i++ {
		if compareEntries(&e[i-1], &e[i]) <= 0 {
			continue
		}
		moved, j := e[i], i
		for ; j > 0 && compareEntries(&e[j-1], &moved) > 0; j-- {
			e[j] = e[j-1]
		}
		e[j] = moved
	}
}

func (o *Order) uniqueFrom(start int, c *Counts) {
	e, n := o.entries[start:], 0
	for i := range e {
		if i > 0 && e[i].prefix == e[n-1].prefix && e[i].key == e[n-1].key {
			e[n-1] = e[i]
			c.DuplicateKeys++
			continue
		}
		if n != i {
			e[n] = e[i]
		}
		n++
	}
	o.entries = o.entries[:start+n]
}

func compareEntries(a, b *entry) int {
	switch {
	case a.prefix < b.prefix:
		return -1
	case a.prefix > b.prefix:
		return 1
	}
	return strings.Compare(a.key, b.key)
}

// Len gives how many keys there are.
func (o *Order) Len() int { return len(o.entries) }

// At gives the i-th key, and the number it was added with. The text is lent until the next Reset.
func (o *Order) At(i int) (key string, at int) { return o.entries[i].key, int(o.entries[i].at) }

// AppendKey appends the i-th key and a colon.
func (o *Order) AppendKey(dst []byte, i int) []byte {
	e := &o.entries[i]
	if !e.plain {
		return append(String(dst, e.key), ':')
	}
	dst = append(dst, '"')
	dst = append(dst, e.key...)
	return append(dst, '"', ':')
}
