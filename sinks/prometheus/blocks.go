package prometheus

import "iter"

// perBlock is how many things a block holds.
const perBlock = 4096

// keptBlocks is how many blocks an emptied list keeps; what one huge interval has grown is let go.
const keptBlocks = 16

// blocks is a list that grows by blocks, so that nothing long is ever copied or in one piece.
type blocks[T any] struct {
	list [][]T // all full, but for the last one in use and those behind it, which are empty
	n    int
}

// add adds one to the end.
func (b *blocks[T]) add(v T) {
	at := b.n / perBlock
	if at == len(b.list) {
		var block []T
		if at > 0 { // the first one grows, since many lists are short
			block = make([]T, 0, perBlock)
		}
		b.list = append(b.list, block)
	}
	b.list[at] = append(b.list[at], v)
	b.n++
}

// at returns one of them.
func (b *blocks[T]) at(i int) *T { return &b.list[i/perBlock][i%perBlock] }

// all ranges over all of them.
func (b *blocks[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, block := range b.list {
			for i := range block {
				if !yield(&block[i]) {
					return
				}
			}
		}
	}
}

// clear empties the list.
func (b *blocks[T]) clear() {
	if len(b.list) > keptBlocks {
		clear(b.list[keptBlocks:])
		b.list = b.list[:keptBlocks]
	}
	for i, block := range b.list {
		clear(block)
		b.list[i] = block[:0]
	}
	b.n = 0
}
