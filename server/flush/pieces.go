package flush

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

// selected returns the items that keep says yes to: all of them as they are, with one more hold of their lease, and fewer as copies with another one.
func (p *pieces[T]) selected(another func() *lease[T], keep func(*T) bool) pieces[T] {
	n := p.len()
	kept := 0
	for kept < n && keep(p.at(kept)) {
		kept++
	}
	if kept == n {
		p.lease.hold()
		return *p
	}
	out := pieces[T]{room: n - 1, lease: another()}
	for i := range kept {
		out.add(*p.at(i))
	}
	for i := kept + 1; i < n; i++ {
		if item := p.at(i); keep(item) {
			out.add(*item)
		}
	}
	return out
}
