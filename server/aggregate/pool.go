package aggregate

import "sync"

// pool keeps what an interval is done with for the next ones. Small and large things are kept apart: a series of few values that got the
// memory of one with many would hold it for nothing, and after some time all would be large.
type pool[T any] struct {
	mu           sync.Mutex
	small, large List[*T]
}

// put makes the pool hold these things, which must be empty, and nothing else: what the last interval did not take out again, the next one
// will not need either. What it held it returns, to let go of.
func (p *pool[T]) put(small, large List[*T]) (oldSmall, oldLarge List[*T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	oldSmall, oldLarge = p.small, p.large
	p.small, p.large = small, large
	return oldSmall, oldLarge
}

// spares are things taken from a pool, for one table.
type spares[T any] struct {
	small []*T
}

const spareBatch = 32

// get returns an empty thing, large if that is wanted and there is one.
func (s *spares[T]) get(p *pool[T], large bool) *T {
	if large {
		if v := p.takeLarge(); v != nil {
			return v
		}
	}
	if len(s.small) == 0 {
		s.small = p.takeSmall(s.small)
	}
	n := len(s.small) - 1
	if n < 0 {
		return new(T)
	}
	v := s.small[n]
	s.small[n] = nil
	s.small = s.small[:n]
	return v
}

func (p *pool[T]) takeLarge() *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.large.Len() - 1
	if n < 0 {
		return nil
	}
	v := *p.large.At(n)
	p.large.truncate(n)
	return v
}

func (p *pool[T]) takeSmall(into []*T) []*T {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.small.Len()
	left := max(0, n-spareBatch)
	for i := left; i < n; i++ {
		into = append(into, *p.small.At(i))
	}
	p.small.truncate(left)
	return into
}
