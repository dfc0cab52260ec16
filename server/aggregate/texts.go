package aggregate

// texts holds the bytes of keys, in pages that are never moved and never written twice, so that they can be read while more is added.
// Removing only counts; the room comes back when the store starts afresh.
type texts struct {
	pages [][]byte
	used  int // of the last page
	held  int // bytes of all pages
	live  int // bytes of keys not removed
}

const (
	// A reference is a page and an offset in units of four bytes.
	refOffsetBits = 14
	maxTextPage   = 4 << refOffsetBits
	minTextPage   = 1 << 10
	maxTextPages  = 1 << (32 - refOffsetBits)
)

// room says whether n more bytes can be referred to.
func (t *texts) room() bool { return len(t.pages) < maxTextPages }

// add copies a and b, one after the other, and returns a reference to them.
func (t *texts) add(a, b []byte) uint32 {
	n := len(a) + len(b)
	last := len(t.pages) - 1
	if last < 0 || len(t.pages[last])-t.used < n {
		size := maxTextPage
		if t.held < maxTextPage {
			size = max(minTextPage, t.held) // doubles, so that a small table stays small
		}
		if n > size {
			size = n
		}
		t.pages = append(t.pages, make([]byte, size))
		t.held += size
		t.used = 0
		last++
	}
	page := t.pages[last][t.used:]
	copy(page[copy(page, a):], b)
	ref := uint32(last)<<refOffsetBits | uint32(t.used>>2)
	t.used = (t.used + n + 3) &^ 3
	t.live += n
	if t.used >= min(len(t.pages[last]), maxTextPage) {
		t.used = len(t.pages[last])
	}
	return ref
}

// textAt returns the n bytes at ref.
func textAt(pages [][]byte, ref uint32, n int) []byte {
	offset := int(ref&(1<<refOffsetBits-1)) << 2
	return pages[ref>>refOffsetBits][offset : offset+n : offset+n]
}
