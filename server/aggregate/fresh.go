package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// A fresh start gives back what a flood of series took. Every table leaves its store for an empty one, all at the same flip, and the numbers
// begin anew. What lives moves over: an entry whose key comes in moves at once, and the rest is moved by Expire, a few at a time. At that
// point the old entries have no values any more, since the generation that the flip ended is collected: only keys move.

// startFresh makes the tables leave their stores at the next flip.
func (c *Collector) startFresh(lock func(int, func())) {
	ids := newIDs()
	for i, t := range c.tables {
		lock(i, func() { t.next = ids })
	}
	c.in.stats.fresh.Inc()
}

// finishFreshStart moves what is left in old stores, if there are any. It is not done while a start is arranged that not every table has made
// yet.
func (c *Collector) finishFreshStart(lock func(int, func())) (done, moved bool) {
	var to *ids
	moving := false
	for i, t := range c.tables {
		waiting := false
		lock(i, func() {
			waiting = t.next != nil
			moving = moving || t.old != nil
			to = t.store.ids
		})
		if waiting {
			return false, false
		}
	}
	if !moving {
		return true, false
	}
	for i, t := range c.tables {
		c.move(i, t, lock)
	}
	c.renumber(to)
	return true, true
}

const moveStep = 32 // entries

// move moves all of a table's old entries that are not idle.
func (c *Collector) move(i int, t *Table, lock func(int, func())) {
	idle := c.idleness(t)
	for n := uint32(1); n != 0; {
		lock(i, func() {
			for end := n + moveStep; n < end; n++ {
				if n >= t.old.used {
					t.old, n, t.sweep = nil, 0, 0
					return
				}
				if e := t.old.entry(n); e.id != 0 && !idle.holds(e) {
					t.adopt(e)
				}
			}
		})
		c.step()
	}
}

// adopt moves an entry of the old store, unless it has been moved, and returns where it is. It returns nil for an alias that leads
// nowhere.
func (t *Table) adopt(old *entry) (*entry, uint32) {
	s := old.sample(t.old.texts.pages)
	key := old.meta & metaKey
	if e, n := t.store.find(old.hash, key, s.Name, s.Tags); e != nil {
		return e, n
	}
	if old.meta&metaAlias != 0 {
		own, _ := t.old.ownEntry(old)
		if own == nil {
			return nil, 0
		}
		_, n := t.adopt(own)
		return t.adoptAlias(old, &s, n)
	}
	t.in.mu.Lock()
	id := t.in.translate(t, t.old.ids, old.id, s.Name)
	t.in.mu.Unlock()
	if n := t.store.primary.get(id); n != 0 {
		return t.adoptAlias(old, &s, n)
	}
	e, n := t.store.insert(old.hash, key, s.Name, s.Tags, id)
	e.epochs = old.epochs
	return e, n
}

// adoptAlias moves an entry as an alias of the entry n, or of what that leads to.
func (t *Table) adoptAlias(old *entry, s *metric.Sample, n uint32) (*entry, uint32) {
	own := t.store.entry(n)
	if own.meta&metaAlias != 0 {
		if own, n = t.store.ownEntry(own); own == nil {
			return nil, 0
		}
	}
	e, number := t.store.insertAlias(old.hash, old.meta&(metaKey|metaOver), s.Name, s.Tags, n)
	e.epochs = old.epochs
	return e, number
}

// renumber takes what the collector knows by the old numbers over to the new ones.
func (c *Collector) renumber(to *ids) {
	from := c.ids // no table uses them any more
	var places paged[place]
	var kept paged[float64]
	var series paged[*metric.Series]
	for i, page := range from.forward.pages {
		if page == nil {
			continue
		}
		for j, n := range page {
			if n == 0 {
				continue
			}
			old := uint32(i*pageLen + j)
			*places.at(n) = c.places.get(old)
			if v := c.kept.get(old); v != 0 {
				*kept.at(n) = v
			}
			if s := c.series.get(old); s != nil {
				*series.at(n) = s
			}
		}
		c.step()
	}
	c.places, c.kept, c.series = places, kept, series
	c.flags = paged[nameFlags]{}
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	// What has not moved has expired.
	c.in.stats.expired.Add(c.in.stats.interned.Count() - c.in.stats.expired.Count() - uint64(to.live))
	c.ids, c.in.ids = to, to
}
