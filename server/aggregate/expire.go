package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// Expire forgets what was idle for long. lock calls f with the lock of the given table's lane held, and is called with an f that takes some ten
// microseconds, as often as need be. A large table is gone through within sixteen calls of Expire.
//
// When most of what tables and numbering had room for has become empty, it arranges for a fresh start at the next flip, and after that moves
// what is left. gaveBack says that this is done, and much memory is nobody's: with so little left the garbage collector could take minutes to
// notice.
func (c *Collector) Expire(lock func(table int, f func())) (gaveBack bool) {
	done, gaveBack := c.finishFreshStart(lock)
	if !done {
		return false
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
	return gaveBack
}

const (
	sweepStep  = 256  // entries a step that only looks
	expireStep = 16   // entries a step that go
	sweepMin   = 4096 // entries a call, if there are as many
	sweepPart  = 16   // calls for all entries of a large table
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
				if c.seen[i] < t.store.live/2 {
					left = entries // after a flood, or most are sent seldom: there is something to find
				}
				totals.aliases += t.store.aliases
				totals.bytes += t.store.bytes()
				totals.hollow = totals.hollow || t.store.hollow()
			}
			left -= c.sweepSome(t, min(left, sweepStep))
		})
		c.step()
	}
}

// sweepSome looks at the next n entries, or at fewer if many of them have to go, which takes a microsecond each. It returns how many it was. The
// lane's lock is held.
func (c *Collector) sweepSome(t *Table, n int) (looked int) {
	idle := c.idleness(t)
	for gone := 0; looked < n && gone < expireStep; looked++ {
		if t.sweep++; t.sweep >= t.store.used {
			t.sweep = 1
		}
		e := t.store.entry(t.sweep)
		if e.id != 0 && idle.holds(e) {
			c.expire(t, e, t.sweep)
			gone++
		}
	}
	return looked
}

// idleness says which entries were idle for long: the epochs before which they were last used.
type idleness struct{ known, once uint32 }

// onceIdle is for how many intervals, at most, an entry that was used in one only is kept: who sends a million series once shall not have their
// memory for ten minutes. A gauge is kept for as long as others, since changes go on from its value.
const onceIdle = 4

func (c *Collector) idleness(t *Table) idleness {
	before := func(intervals int) uint32 {
		epochs := 2 * uint32(intervals)
		return max(t.epoch-1, epochs) - epochs
	}
	intervals := c.in.config.SeriesIdleIntervals
	return idleness{known: before(intervals), once: before(min(intervals, onceIdle))}
}

func (i idleness) holds(e *entry) bool {
	// Of a second interval the other half tells, or, every other time, nothing: then the entry goes early, and comes back when it is sent.
	if (e.epochs[0] == 0 || e.epochs[1] == 0) && e.meta.kind() != metric.Gauge {
		return e.last() < i.once
	}
	return e.last() < i.known
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
	if f := c.flags.peek(id); f != nil {
		*f = 0
	}
}
