package aggregate

import (
	"iter"
	"slices"
)

// List is what an interval has of one sort. It grows by pages, so that no push copies what is there and no large piece of memory is asked for.
// Its zero value is empty.
type List[T any] struct {
	pages []*[listPage]T
	n     int
}

const listPage = 1024

// Len returns how many there are.
func (l *List[T]) Len() int { return l.n }

// At returns where the one with index i is, which is below Len.
func (l *List[T]) At(i int) *T { return &l.pages[uint(i)/listPage][uint(i)%listPage] }

// Push appends v and returns its index.
func (l *List[T]) Push(v T) int {
	*l.extend() = v
	return l.n - 1
}

// extend makes the list one longer and returns the new one, which holds anything.
func (l *List[T]) extend() *T {
	i := uint(l.n)
	if i/listPage == uint(len(l.pages)) {
		l.addPage()
	}
	l.n++
	return &l.pages[i/listPage][i%listPage]
}

func (l *List[T]) addPage() { l.pages = append(l.pages, new([listPage]T)) }

// Pages returns the pages in their order, each as far as it is filled.
func (l *List[T]) Pages() iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		for i, left := 0, l.n; left > 0; i, left = i+1, left-listPage {
			if !yield(l.pages[i][:min(left, listPage)]) {
				return
			}
		}
	}
}

// All returns all of them in their order.
func (l *List[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for page := range l.Pages() {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}

// Paced is All with a step after every so many of them.
func (l *List[T]) Paced(every int, step func()) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for page := range l.Pages() {
			for some := range slices.Chunk(page, every) {
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

// truncate leaves the first n.
func (l *List[T]) truncate(n int) {
	for i := n; i < l.n; i++ {
		var none T
		*l.At(i) = none
	}
	l.n = n
}

// reset empties the list, with a step after each page. It keeps as many pages as were in use and lets those go that were not, so that a list
// forgets a flood one interval after it.
func (l *List[T]) reset(step func()) {
	used := 0
	for page := range l.Pages() {
		clear(page)
		used++
		step()
	}
	clear(l.pages[used:])
	l.pages, l.n = l.pages[:used], 0
}
