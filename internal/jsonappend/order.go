package jsonappend

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unsafe"
)

// Order brings the keys of an object into the order in which they are written: by their bytes, and each once unless it was begun by
// ResetAll. It keeps its memory, so that objects of like size cost no allocation. The zero value is ready. It must not be used by two
// goroutines at once.
//
//	o.Reset()
//	for i := range members {
//		o.Add(members[i].key, i, &rules, &counts)
//	}
//	o.Sort(&counts)
//	for i := range o.Len() {
//		key, at := o.At(i)
//	}
//
// Keys are kept as they are: their text must not change until the next Reset.
type Order struct {
	items []item
	keys  []string // in the order in which they were added
	text  []byte   // of keys that were rewritten
	base  int      // of the items, where the object's begin: objects further out stand before it
	all   bool     // equal keys are kept
	many  bool     // what is behind the first fewKeys is not sorted
}

// item is a key's place. It holds no pointer, so that moving it costs no look at the garbage collector's state, and a prefix that differs
// saves the look at the text.
type item struct {
	prefix uint64 // the first eight bytes, the first one highest
	at     uint32 // the caller's number
	key    uint32 // where in keys, and whether it is plain
}

// plainKey says that a key has nothing to escape.
const plainKey = 1 << 31

// fewKeys is up to how many keys each is put into its place when it is added. That makes no calls, and costs next to nothing where they
// come sorted; of more keys it would cost their square.
const fewKeys = 24

const (
	maxKeptItems = 1 << 14
	maxKeptText  = 1 << 20
)

// Reset forgets all keys. What one huge object has grown is let go.
func (o *Order) Reset() {
	if cap(o.items) > maxKeptItems || cap(o.text) > maxKeptText {
		*o = Order{}
	}
	o.items, o.keys, o.text = o.items[:0], o.keys[:0], o.text[:0]
	o.base, o.all, o.many = 0, false, false
}

// ResetAll is Reset for an object of which equal keys shall all be kept, in the order in which they are added.
func (o *Order) ResetAll() {
	o.Reset()
	o.all = true
}

// begin starts an object within the one whose keys were sorted last, and end leaves it.
func (o *Order) begin() (outer mark) {
	o.base, o.many = len(o.items), false
	return mark{len(o.items), len(o.keys)}
}

func (o *Order) end(outer mark) { o.items, o.keys = o.items[:outer.items], o.keys[:outer.keys] }

type mark struct{ items, keys int }

// Add adds a key, which the rules may change. at is the caller's own number for it.
func (o *Order) Add(key string, at int, k *Keys, c *Counts) {
	// Most keys have nothing in them that any rule is about; eight bytes of them are looked at together.
	var w, odd, paths uint64
	if len(key) >= wordSize {
		b := unsafe.Slice(unsafe.StringData(key), len(key))
		w = binary.LittleEndian.Uint64(b)
		odd = unusual(w)
		paths = pathBytes(w)
		last := len(b) - wordSize
		for i := wordSize; i < last; i += wordSize {
			w := binary.LittleEndian.Uint64(b[i:])
			odd |= unusual(w)
			paths |= pathBytes(w)
		}
		end := binary.LittleEndian.Uint64(b[last:])
		odd |= unusual(end)
		paths |= pathBytes(end)
	} else {
		w = shortWord(key)
		odd = unusual(w | shortFill[len(key)&7])
		paths = pathBytes(w) | uint64(len(key)-1)>>63
	}
	prefix, ref := bits.ReverseBytes64(w), uint32(len(o.keys))|plainKey
	if odd != 0 || paths != 0 && (k.Dot != 0 || k.Paths && !isPath(key)) || k.Max > 0 && len(key) > k.Max || len(k.Reserved) > 0 && k.reserves(key) {
		key, prefix, ref = o.rewrite(key, prefix, ref, k, c)
	}
	o.keys = append(o.keys, key)
	o.items = append(o.items, item{prefix, uint32(at), ref})
	items := o.items[o.base:]
	j := len(items) - 1
	if j >= fewKeys {
		o.many = true
		return
	}
	for j > 0 && items[j-1].prefix > prefix {
		items[j] = items[j-1]
		j--
	}
	items[j] = item{prefix, uint32(at), ref}
	if j > 0 && items[j-1].prefix == prefix {
		o.place(j, c)
	}
}

// place moves the item at j, all before which have at most its prefix, on to its place among those that have the same one.
func (o *Order) place(j int, c *Counts) {
	items := o.items[o.base:]
	moved := items[j]
	key := o.keyOf(moved)
	for ; j > 0 && items[j-1].prefix == moved.prefix; j-- {
		switch n := strings.Compare(o.keyOf(items[j-1]), key); {
		case n == 0 && !o.all:
			items[j-1] = moved
			o.items = slices.Delete(o.items, o.base+j, o.base+j+1)
			c.DuplicateKeys++
			return
		case n <= 0:
			items[j] = moved
			return
		}
		items[j] = items[j-1]
	}
	items[j] = moved
}

func (o *Order) keyOf(i item) string { return o.keys[i.key&^plainKey] }

// rewrite applies the rules where the first look cannot exclude that one of them holds, or that something must be escaped.
func (o *Order) rewrite(key string, prefix uint64, ref uint32, k *Keys, c *Counts) (string, uint64, uint32) {
	start := len(o.text)
	o.text = k.append(o.text, key, c)
	text := o.text[start:]
	if string(text) == key {
		o.text = o.text[:start]
	} else {
		// When the text grows, keys that lie in the old memory keep it.
		key = unsafe.String(unsafe.SliceData(text), len(text))
		prefix = prefixOf(key)
	}
	if needsEscape(key) {
		ref &^= plainKey
	}
	return key, prefix, ref
}

// prefixOf gives the first eight bytes as a number that sorts as they do.
func prefixOf(key string) uint64 {
	if len(key) >= wordSize {
		return bits.ReverseBytes64(word(key, 0))
	}
	return bits.ReverseBytes64(shortWord(key))
}

// needsEscape is also true for what is not ASCII.
func needsEscape(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			return true
		}
	}
	return false
}

// pathBytes is not 0 if a byte of the word is a dot or a blank.
func pathBytes(w uint64) uint64 {
	return (((w ^ '.'*everyByte) - everyByte) | ((w ^ ' '*everyByte) - everyByte)) & topBits &^ w
}

// Sort ends the adding of keys. It must be called before Len, At and AppendKey.
func (o *Order) Sort(c *Counts) {
	if o.many {
		o.sortMany(c)
	}
}

func (o *Order) sortMany(c *Counts) {
	items := o.items[o.base:]
	slices.SortFunc(items, func(a, b item) int {
		switch {
		case a.prefix < b.prefix:
			return -1
		case a.prefix > b.prefix:
			return 1
		}
		if n := strings.Compare(o.keyOf(a), o.keyOf(b)); n != 0 {
			return n
		}
		return int(a.key&^plainKey) - int(b.key&^plainKey)
	})
	if o.all {
		return
	}
	n := 0
	for i := range items {
		if i > 0 && items[i].prefix == items[n-1].prefix && o.keyOf(items[i]) == o.keyOf(items[n-1]) {
			items[n-1] = items[i]
			c.DuplicateKeys++
			continue
		}
		items[n] = items[i]
		n++
	}
	o.items = o.items[:o.base+n]
}

// Len gives how many keys there are.
func (o *Order) Len() int { return len(o.items) }

// At gives the i-th key, and the number it was added with. The text is lent until the next Reset.
func (o *Order) At(i int) (key string, at int) { return o.keyOf(o.items[i]), int(o.items[i].at) }

// AppendKey appends the i-th key and a colon.
func (o *Order) AppendKey(dst []byte, i int) []byte {
	it := o.items[i]
	key := o.keyOf(it)
	if it.key&plainKey == 0 {
		return append(String(dst, key), ':')
	}
	n := len(dst)
	dst = reserve(dst, len(key)+3+wordSize)
	b := dst[:cap(dst)]
	b[n] = '"'
	n += 1 + copyText(b[n+1:], key)
	b[n], b[n+1] = '"', ':'
	return b[:n+2]
}
