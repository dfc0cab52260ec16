package aggregate

// list is a list that grows by chunks, so that no push copies what is there. Its zero value is empty.
type list[T any] struct {
	chunks [][]T
	n      int
}

const chunkLen = 256

// push appends v and returns its index.
func (l *list[T]) push(v T) int {
	i := l.n
	if i/chunkLen == len(l.chunks) {
		l.chunks = append(l.chunks, make([]T, chunkLen))
	}
	l.chunks[i/chunkLen][i%chunkLen] = v
	l.n++
	return i
}

func (l *list[T]) at(i int) T { return l.chunks[i/chunkLen][i%chunkLen] }

// filled calls f with each chunk as far as it is filled.
func (l *list[T]) filled(f func([]T)) {
	for i, left := 0, l.n; left > 0; i, left = i+1, left-chunkLen {
		f(l.chunks[i][:min(left, chunkLen)])
	}
}

// reset empties the list. It keeps as many chunks as were in use and lets those go that were not, so that a list forgets a flood
// one interval after it.
func (l *list[T]) reset() {
	used := (l.n + chunkLen - 1) / chunkLen
	for i := range l.chunks {
		if i < used {
			clear(l.chunks[i])
			continue
		}
		l.chunks[i] = nil
	}
	l.chunks, l.n = l.chunks[:used], 0
}
