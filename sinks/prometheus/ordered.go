package prometheus

import (
	"iter"
	"slices"
	"sort"
)

// blockSize is how many things a block of a list holds at most.
const blockSize = 512

// keyed is what an ordered list holds. Its key never changes, and no two of a list have the same.
type keyed interface{ key() string }

// ordered is a list in the order of keys. It stands in blocks, so that no insertion moves more than 4 KiB and nothing is ever sorted, however
// many series come and go. Finding something takes a comparison for each time that the list can be halved.
type ordered[T keyed] struct {
	blocks [][]T // none of them empty
	n      int
}

// len returns how many there are.
func (o *ordered[T]) len() int { return o.n }

// search returns where the key is, or belongs.
func (o *ordered[T]) search(key string) (block, at int, found bool) {
	block = max(0, sort.Search(len(o.blocks), func(i int) bool { return o.blocks[i][0].key() > key })-1)
	if len(o.blocks) == 0 {
		return 0, 0, false
	}
	b := o.blocks[block]
	at = sort.Search(len(b), func(i int) bool { return b[i].key() >= key })
	return block, at, at < len(b) && b[at].key() == key
}

// find returns what has the key.
func (o *ordered[T]) find(key string) (found T, ok bool) {
	block, at, ok := o.search(key)
	if ok {
		found = o.blocks[block][at]
	}
	return found, ok
}

// insert adds what is not in the list.
func (o *ordered[T]) insert(v T) {
	o.n++
	if len(o.blocks) == 0 {
		o.blocks = append(o.blocks, []T{v})
		return
	}
	block, at, _ := o.search(v.key())
	if b := o.blocks[block]; len(b) == blockSize {
		const half = blockSize / 2
		o.blocks = slices.Insert(o.blocks, block+1, slices.Clone(b[half:]))
		clear(b[half:])
		o.blocks[block] = b[:half]
		if at > half {
			block, at = block+1, at-half
		}
	}
	o.blocks[block] = slices.Insert(o.blocks[block], at, v)
}

// remove takes out what has the key.
func (o *ordered[T]) remove(key string) {
	block, at, found := o.search(key)
	if !found {
		return
	}
	o.n--
	b := slices.Delete(o.blocks[block], at, at+1)
	o.blocks[block] = b
	switch next := block + 1; {
	case len(b) == 0:
		o.blocks = slices.Delete(o.blocks, block, next)
	case next < len(o.blocks) && len(b)+len(o.blocks[next]) <= blockSize/2:
		o.blocks[block] = append(b, o.blocks[next]...)
		o.blocks = slices.Delete(o.blocks, next, next+1)
	}
}

// all ranges over the list, which must not change meanwhile.
func (o *ordered[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, b := range o.blocks {
			for _, v := range b {
				if !yield(v) {
					return
				}
			}
		}
	}
}
