package aggregate

// paged is an array without end whose pages are made when first written to. What was never written is zero.
type paged[T any] struct {
	pages []*[pageLen]T
}

// pageLen is how many values a page has: fewer are more spans of memory, whose records stay when a flood is over.
const pageLen = 2 << 10

// get returns the value at i.
func (p *paged[T]) get(i uint32) (v T) {
	if at := p.peek(i); at != nil {
		v = *at
	}
	return v
}

// peek returns where i is, or nil when its page was never written to.
func (p *paged[T]) peek(i uint32) *T {
	page := int(i / pageLen)
	if page >= len(p.pages) || p.pages[page] == nil {
		return nil
	}
	return &p.pages[page][i%pageLen]
}

// at returns where i is, making its page.
func (p *paged[T]) at(i uint32) *T {
	page := int(i / pageLen)
	for page >= len(p.pages) {
		p.pages = append(p.pages, nil)
	}
	if p.pages[page] == nil {
		p.pages[page] = new([pageLen]T)
	}
	return &p.pages[page][i%pageLen]
}
