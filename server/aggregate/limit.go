package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// verdict says what the limits make of a series.
type verdict uint8

const (
	admitted verdict = iota
	overName         // its name has as many series as it may, or the daemon has and the name has some
	overAll          // the daemon has as many series as it may, and the name has none
)

// resolve returns the number of a series, which table t from then on holds once. When the series is new, the limits are asked; size is that
// of its key. An overflow series may go beyond the limits by a reserve, since it stands for many that were kept out.
func (in *Interner) resolve(t *Table, id *identity, size int, overflow bool) (uint32, verdict) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := t.store.ids
	n := s.find(id)
	if t.store.primary.get(n) == 0 && !t.roomFor(size, overflow) {
		return 0, over(s, id)
	}
	if n == 0 {
		if v := in.admit(s, id, overflow); v != admitted {
			return 0, v
		}
		n = s.create(id)
		in.stats.interned.Inc()
	}
	t.hold(n)
	return n, admitted
}

func (in *Interner) admit(s *ids, id *identity, overflow bool) verdict {
	limit := in.config.MaxSeries
	if overflow {
		if s.live >= limit+overflowReserve(limit) {
			return overAll
		}
		return admitted
	}
	series := int(s.names[id.name].series)
	switch {
	case series >= in.config.MaxSeriesPerName:
		return overName
	case s.live < limit:
		return admitted
	default:
		return over(s, id)
	}
}

// over is the verdict on a series for which there is no room.
func over(s *ids, id *identity) verdict {
	if s.names[id.name].series > 0 {
		return overName
	}
	return overAll
}

// overflowReserve is how many overflow series there may be when the daemon is full. Senders choose their names, scopes and sinks, so they
// need a bound as well.
func overflowReserve(limit int) int { return limit/8 + 64 }

// keySize is what a key counts in the budget of keys: its text, and what its tags take beside, of which the strings of a series' tags
// are most.
func keySize(form metric.TagForm, name, tags []byte) int {
	return len(name) + len(tags) + keyTagBytes*metric.CountTags(form, tags)
}

// roomFor says whether the table may take one more key of the given size. Series are bounded by their number, and this bounds what their
// keys take, which senders choose as well. Overflow series have a reserve here too.
func (t *Table) roomFor(size int, overflow bool) bool {
	limit := int64(t.in.config.MaxSeries)*keyBytes + minKeyBytes
	if overflow {
		limit *= 2
	}
	return int64(t.store.keySize+size) <= limit && t.store.texts.room() && t.store.live < maxNumber-1
}

const (
	keyBytes    = 256
	minKeyBytes = 1 << 20
	keyTagBytes = 16 // of one tag, beside its text
)

// roomForAlias says whether the table may take one more alias. Keys whose series were kept out by a limit get only half of the room: they
// are many, and must not push out other tag orders of series that were let in.
func (t *Table) roomForAlias(size int, overflow bool) bool {
	limit := t.in.config.MaxSeries/4 + minAliases
	if overflow {
		limit /= 2
	}
	return t.store.aliases < limit && t.roomFor(size, false)
}

const minAliases = 1024
