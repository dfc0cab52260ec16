package aggregate

// Expire forgets what was idle for long. It works in small steps: lock calls f with the lock of the given table's lane held, and is called
// with an f that takes some ten microseconds, as often as need be. A large table is gone through within sixteen calls of Expire.
//
// When most of what tables and numbering had room for has become empty, it arranges for a fresh start at the next flip, and after that moves
// what is left.
func (c *Collector) Expire(lock func(table int, f func())) {
	if !c.finishFreshStart(lock) {
		return
	}
	var totals tableTotals
	for i, t := range c.tables {
		c.sweep(i, t, lock, &totals)
	}
	c.forgetIdleSeries()
	c.in.mu.Lock()
	hollow := totals.hollow || c.in.ids.hollow()
	c.in.stats.idBytes.Set(float64(c.in.ids.bytes() + 8*pageLen*len(c.places.pages)))
	c.in.mu.Unlock()
	c.in.stats.aliases.Set(float64(totals.aliases))
	c.in.stats.tableBytes.Set(float64(totals.bytes))
	if hollow {
		c.startFresh(lock)
	}
}

const (
	sweepStep = 256  // entries a step
	sweepMin  = 4096 // entries a call, if there are as many
	sweepPart = 16   // calls for all entries of a large table
)

type tableTotals struct {
	aliases, bytes int
	hollow         bool
}

// sweep looks at a part of a table's entries and removes the idle ones.
func (c *Collector) sweep(i int, t *Table, lock func(int, func()), totals *tableTotals) {
	left := 1
	for first := true; left > 0; first = false {
		lock(i, func() {
			if first {
				entries := int(t.store.used) - 1
				left = min(entries, max(sweepMin, entries/sweepPart))
				totals.aliases += t.store.aliases
				totals.bytes += t.store.bytes()
				totals.hollow = totals.hollow || t.store.hollow()
			}
			n := min(left, sweepStep)
			c.sweepSome(t, n)
			left -= n
		})
	}
}

// sweepSome looks at the next n entries. The lane's lock is held.
func (c *Collector) sweepSome(t *Table, n int) {
	idle := c.idleBefore(t)
	for range n {
		if t.sweep++; t.sweep >= t.store.used {
			t.sweep = 1
		}
		e := t.store.entry(t.sweep)
		if e.id != 0 && e.last() < idle {
			c.expire(t, e, t.sweep)
		}
	}
}

// idleBefore returns the first epoch that is not too long ago.
func (c *Collector) idleBefore(t *Table) uint32 {
	epochs := 2 * uint32(c.in.config.SeriesIdleIntervals)
	return max(t.epoch-1, epochs) - epochs
}

// expire removes an entry, and its series if no other table has it.
func (c *Collector) expire(t *Table, e *entry, n uint32) {
	if e.meta&metaAlias == 0 {
		id := e.id
		s := e.sample(t.store.texts.pages)
		c.in.mu.Lock()
		if c.in.release(t.store.ids, id, s.Name) {
			c.forget(id)
		}
		c.in.mu.Unlock()
	}
	t.store.remove(n)
}

// forget clears what is known by a number that is free now.
func (c *Collector) forget(id uint32) {
	if at := c.series.peek(id); at != nil {
		*at = nil
	}
	if at := c.kept.peek(id); at != nil {
		*at = 0
	}
	if p := c.places.peek(id); p != nil {
		*p = place{}
	}
}
