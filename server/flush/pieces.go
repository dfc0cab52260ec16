package flush

import (
	"iter"
	"slices"
)

// pieces are the items of one sort that a sink is offered of one interval, cut where a batch ends, so that no array of them is large.
type pieces[T any] struct {
	all  [][]T // every one but the last holds pieceLen
	room int   // how many items there will be at most, by the one who made it
	// lease has the arrays of a list of which there is more than one; nil leaves them to the collector.
	lease *lease[T]
}

// pieceLen keeps the points of a piece, which are 48 bytes each, below a mebibyte. It is also the most that a sink gets in one chunk.
const pieceLen = 20_000

// add appends an item.
func (p *pieces[T]) add(item T) { *p.next() = item }

// next appends an item that is zero and returns where it is.
func (p *pieces[T]) next() *T {
	i := len(p.all) - 1
	if i < 0 || len(p.all[i]) == cap(p.all[i]) {
		p.addPiece()
		i++
	}
	n := len(p.all[i])
	p.all[i] = p.all[i][:n+1]
	return &p.all[i][n]
}

func (p *pieces[T]) addPiece() {
	if p.lease != nil && p.room > pieceLen {
		p.all = append(p.all, p.lease.array()[:0])
		return
	}
	p.all = append(p.all, make([]T, 0, min(pieceLen, max(1, p.room-len(p.all)*pieceLen))))
}

func (p *pieces[T]) at(i int) *T { return &p.all[i/pieceLen][i%pieceLen] }

func (p *pieces[T]) len() int {
	last := len(p.all) - 1
	if last < 0 {
		return 0
	}
	return last*pieceLen + len(p.all[last])
}

// paced goes over the items with rests between.
func (p *pieces[T]) paced(every int, step func()) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, piece := range p.all {
			for some := range slices.Chunk(piece, every) {
				for i := range some {
					if !yield(&some[i]) {
						return
					}
				}
				step()
			}
		}
	}
}

// selected returns the items that keep says yes to: all of them as they are, with one more hold of their lease, and fewer as copies with another one.
func (p *pieces[T]) selected(another func() *lease[T], step func(), keep func(*T) bool) pieces[T] {
	n := p.len()
	kept := 0
	for item := range p.paced(stepSketches, step) {
		if !keep(item) {
			break
		}
		kept++
	}
	if kept == n {
		p.lease.hold()
		return *p
	}
	out := pieces[T]{room: n - 1, lease: another()}
	i := 0
	for item := range p.paced(stepSketches, step) {
		if i < kept || i > kept && keep(item) {
			out.add(*item)
		}
		i++
	}
	return out
}
