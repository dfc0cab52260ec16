package aggregate

import "encoding/binary"

// store holds the entries of a table. It is exchanged as a whole when most of it has become empty.
type store struct {
	ids     *ids // which the numbers of series belong to
	index   index
	pages   []*entryPage
	used    uint32 // entries ever used, the one numbered 0 included; more have never been
	free    uint32 // the first of the free ones; words[0][0] of each is the next
	texts   texts
	primary paged[uint32] // the entry of each series that has its values
	live    int
	aliases int
	keySize int // of all keys: see keySize
}

type entryPage [entriesPerPage]entry

const entriesPerPage = 512 // 32 KiB

func newStore(ids *ids) store {
	// The entry numbered 0 is free for ever, and stands for none.
	return store{ids: ids, index: newIndex(), pages: []*entryPage{new(entryPage)}, used: 1}
}

// entry returns the entry of a number.
func (s *store) entry(n uint32) *entry { return &s.pages[n/entriesPerPage][n%entriesPerPage] }

func (s *store) hashOf(n uint32) uint64 { return s.entry(n).hash }

// find returns the entry of a key and its number, or nil.
func (s *store) find(hash uint64, m meta, name, tags []byte) (*entry, uint32) {
	seg, tag := s.index.segment(hash), slotTag(hash)
	for pos := slotOf(hash); ; pos = nextSlot(pos) {
		slot := seg.slots[pos]
		if slot&^maxNumber != tag || slot == 0 {
			if slot == 0 {
				return nil, 0
			}
			continue
		}
		n := slot & maxNumber
		e := s.entry(n)
		if e.hash == hash && e.meta&metaKey == m && s.isKey(e, name, tags) {
			return e, n
		}
	}
}

// isKey says whether the text of an entry is name and tags.
func (s *store) isKey(e *entry, name, tags []byte) bool {
	if int(e.nameLen) != len(name) || int(e.tagsLen) != len(tags) {
		return false
	}
	text := textAt(s.texts.pages, e.key, len(name)+len(tags))
	a, b := text[:len(name)], text[len(name):]
	if len(name) < 8 || len(tags) < 16 {
		return string(a) == string(name) && string(b) == string(tags)
	}
	// Two calls to compare memory would take twice as long.
	var differ uint64
	for i := 0; i < len(name)-8; i += 8 {
		differ |= binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(name[i:])
	}
	a, name = a[len(name)-8:], name[len(name)-8:]
	differ |= binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(name)
	for i := 0; i < len(tags)-16; i += 16 {
		x, y := b[i:i+16], tags[i:i+16]
		differ |= binary.LittleEndian.Uint64(x) ^ binary.LittleEndian.Uint64(y)
		differ |= binary.LittleEndian.Uint64(x[8:]) ^ binary.LittleEndian.Uint64(y[8:])
	}
	b, tags = b[len(tags)-16:], tags[len(tags)-16:]
	differ |= binary.LittleEndian.Uint64(b) ^ binary.LittleEndian.Uint64(tags)
	differ |= binary.LittleEndian.Uint64(b[8:]) ^ binary.LittleEndian.Uint64(tags[8:])
	return differ == 0
}

// insert makes an entry for a key that has none. The caller sets what it is.
func (s *store) insert(hash uint64, m meta, name, tags []byte, id uint32) (*entry, uint32) {
	n := s.free
	if n != 0 {
		s.free = uint32(s.entry(n).words[0][0])
	} else {
		n = s.used
		if n/entriesPerPage == uint32(len(s.pages)) {
			s.pages = append(s.pages, new(entryPage))
		}
		s.used++
	}
	e := s.entry(n)
	*e = entry{
		hash: hash, id: id, key: s.texts.add(name, tags),
		tagsLen: uint32(len(tags)), nameLen: uint16(len(name)), meta: m,
	}
	s.index.insert(hash, n, s.hashOf)
	s.keySize += keySize(m.form(), name, tags)
	s.live++
	if m&metaAlias != 0 {
		s.aliases++
	} else {
		*s.primary.at(id) = n
	}
	return e, n
}

// remove frees an entry that no generation lists.
func (s *store) remove(n uint32) {
	e := s.entry(n)
	s.index.remove(e.hash, n, s.hashOf)
	key := e.sample(s.texts.pages)
	s.keySize -= keySize(key.Form, key.Name, key.Tags)
	s.texts.live -= int(e.nameLen) + int(e.tagsLen)
	s.live--
	if e.meta&metaAlias != 0 {
		s.aliases--
	} else {
		*s.primary.at(e.id) = 0
	}
	*e = entry{}
	e.words[0][0] = uint64(s.free)
	s.free = n
}

// insertAlias makes a key lead to the entry n, which has values.
func (s *store) insertAlias(hash uint64, m meta, name, tags []byte, n uint32) (*entry, uint32) {
	own := s.entry(n)
	e, number := s.insert(hash, m|metaAlias, name, tags, own.id)
	e.words[0] = [2]uint64{uint64(n), own.hash}
	return e, number
}

// ownEntry returns the entry that has the values of an alias's series, or nil when it is gone; its place and its series' number may by now
// be those of others.
func (s *store) ownEntry(alias *entry) (*entry, uint32) {
	n := uint32(alias.words[0][0])
	e := s.entry(n)
	if e.id != alias.id || e.hash != alias.words[0][1] || e.meta&metaAlias != 0 {
		return nil, 0
	}
	return e, n
}

// view is what the collector needs of a store to read entries, as it was at a flip. The pages are shared: more may be added behind
// them, and of those in it only what belongs to the present generation changes.
type view struct {
	ids   *ids
	pages []*entryPage
	texts [][]byte
}

func (s *store) view() view { return view{s.ids, s.pages, s.texts.pages} }

func (v *view) entry(n uint32) *entry { return &v.pages[n/entriesPerPage][n%entriesPerPage] }

// bytes returns the memory the store takes.
func (s *store) bytes() int {
	return s.index.bytes() + len(s.pages)*entriesPerPage*64 + s.texts.held + len(s.primary.pages)*pageLen*4
}

// hollow says whether most of the room is empty and enough of it to be worth a fresh start.
func (s *store) hollow() bool {
	const worth = 8 * entriesPerPage
	if s.used > worth && s.live < int(s.used)/4 {
		return true
	}
	return s.texts.held > 16*maxTextPage && s.texts.live < s.texts.held/4
}
