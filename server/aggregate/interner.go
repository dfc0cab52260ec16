package aggregate

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
)

// Settings is what the daemon gives an Interner.
type Settings struct {
	Config    Config
	Telemetry *telemetry.Registry
	Log       logrus.FieldLogger
}

// Interner knows every series of the daemon by one number and is shared by all tables. Its lock is taken where a key is new to a table,
// never for one that is known. Its methods may be called at once from any goroutine.
type Interner struct {
	config Config
	log    logrus.FieldLogger
	rules  *tagRules
	seeds  *seeds
	stats  stats

	mu  sync.Mutex
	ids *ids // those that a table which starts afresh takes

	offenders offenders

	// What waits for a flush, in all tables.
	timed, eventItems, eventBytes atomic.Int64

	digests  pool[digest]
	sketches pool[sketch]
}

// NewInterner returns an interner that knows no series.
func NewInterner(s Settings) *Interner {
	in := &Interner{config: s.Config, log: s.Log, rules: newTagRules(s.Config), seeds: newSeeds(), ids: newIDs()}
	in.stats = newStats(s.Telemetry, in)
	return in
}

// NewTable returns an empty table, for one lane.
func (in *Interner) NewTable() *Table {
	in.mu.Lock()
	defer in.mu.Unlock()
	return newTable(in, in.ids)
}

// SetListeners gives the listeners their names, by the index that samples come with, for the report of who exceeds a limit.
func (in *Interner) SetListeners(names []string) { in.offenders.setListeners(slices.Clone(names)) }

// hold notes that t has an entry of a series, unless it has one already. The interner's lock is held.
func (t *Table) hold(n uint32) {
	if t.store.primary.get(n) == 0 {
		t.store.ids.records.at(n).holds++
	}
}

// release ends the hold of a table and says whether the number has become free. The interner's lock is held.
func (in *Interner) release(s *ids, n uint32, name []byte) bool {
	freed := s.release(n, in.seeds.nameHash(name), in.seeds.base(name))
	if freed {
		in.stats.expired.Inc()
	}
	return freed
}

// translate returns the number that series n of ids from has in ids to, which t then holds. The interner's lock is held.
func (in *Interner) translate(t *Table, from *ids, n uint32, name []byte) uint32 {
	to := t.store.ids
	if to != from {
		forward := from.forward.at(n)
		if *forward == 0 {
			r := from.records.get(n)
			id := identity{lo: r.lo, hi: r.hi, class: r.class, scope: r.scope, name: in.seeds.nameHash(name), base: in.seeds.base(name)}
			if *forward = to.find(&id); *forward == 0 {
				*forward = to.create(&id)
			}
		}
		n = *forward
	}
	t.hold(n)
	return n
}

// nameFlags says whether any series has a flag, and how often flags of series that were there have changed.
func (in *Interner) nameFlags(s *ids) (any bool, changes uint32) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return s.contested || s.manyScopes, s.flagChanges
}

// nameFlag says whether the points of a series can meet those of another, and whether its name has series of several scopes.
func (in *Interner) nameFlag(s *ids, series *metric.Series) (contested, manyScopes bool) {
	name := []byte(series.Name)
	hash, base := in.seeds.nameHash(name), in.seeds.base(name)
	in.mu.Lock()
	defer in.mu.Unlock()
	return s.isContested(series.Kind.Class(), hash, base), several(s.names[hash].scopes)
}
