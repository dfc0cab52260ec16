package prometheus

import (
	"encoding/binary"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// store holds what the page shows, between intervals. It has three levels: entries are series as senders know them, and lead to series
// as Prometheus knows them, which belong to families. Several entries lead to one series when their names or tags became equal. It is
// not safe for concurrent use.
type store struct {
	prefix    string
	maxSeries int

	entries  map[string]*entry  // by type, raw name and raw tags
	claimed  map[string]*family // by the names of samples on the page, which no two families may share; its own is among them
	families ordered[*family]
	lines    int // series in all families

	moment  moment // of the chunk at hand
	latest  latest
	scraped uint32 // the last interval of which a scraper has the page
	short   uint32 // the interval in which everything that could be let go was
	gone    [numLeavings]int

	scratch []byte
	tagsAt  int // where the tags begin in what find has left there
}

// moment is when something came, by three clocks.
type moment struct {
	seen  time.Duration // since the start, by a clock that nobody sets
	end   int64         // of its interval, unix seconds
	every uint32        // how long its interval is, in milliseconds; never 0
	round uint32        // number of the interval
}

// entry is one series as senders know it. Its moment is that in which it last got a value; a gauge of an older time than it has leaves
// the round.
type entry struct {
	series *series
	moment
}

// series is one line of the page, or the few of a summary. What a page reads of it (family, labels, created) never changes.
type series struct {
	family  *family
	labels  string // see appendLabels
	created int64  // unix nanoseconds

	value   value
	time    int64  // unix seconds of a gauge's value
	by      *entry // the last one to give a value
	round   uint32 // the interval in which it did
	entries uint32 // how many lead here
}

func (k *series) key() string { return k.labels }

// value is what a page copies of a series; what it points to never changes.
type value struct {
	number float64 // of a counter or gauge
	detail any     // the *exemplar of a counter, where there is one, a *summary or a *histogram
}

// exemplar is the id of a trace to look at, what its span took, and when, unix seconds, 0 where nobody knows.
type exemplar struct {
	trace int64
	value float64
	time  int64
}

// summary is the value of a summary.
type summary struct {
	count, sum float64   // since the series is on the page
	quantiles  []float64 // of the last interval with samples
}

// family is what the page has under one name and type.
type family struct {
	name, help string
	typ        dto.MetricType
	series     ordered[*series]
}

func (f *family) key() string { return f.name }

func newStore(prefix string, maxSeries int) *store {
	return &store{
		prefix:    prefix,
		maxSeries: maxSeries,
		entries:   map[string]*entry{},
		claimed:   map[string]*family{},
	}
}

// lengths marks the key of an entry whose tags have their lengths in front, since one of them has an endOfLabel in it. In all others each ends with
// one, so that the labels of most series are a part of this text, and no memory of their own.
const lengths = 0x80

// find returns the entry, if there is one.
func (s *store) find(typ dto.MetricType, name string, tags []string) *entry {
	b := append(s.scratch[:0], byte(typ))
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	s.tagsAt = len(b)
	for _, tag := range tags {
		if strings.IndexByte(tag, endOfLabel) >= 0 {
			b[0] |= lengths
		}
		b = append(append(b, tag...), endOfLabel)
	}
	if b[0]&lengths != 0 {
		b = b[:s.tagsAt]
		for _, tag := range tags {
			b = binary.AppendUvarint(b, uint64(len(tag)))
			b = append(b, tag...)
		}
	}
	s.scratch = b
	return s.entries[string(b)]
}

// get returns the entry, which it makes, of the moment at hand, if there is room, or can be made (see makeRoom), and the name is not another
// type's.
func (s *store) get(typ dto.MetricType, name string, tags []string) (*entry, reason) {
	if e := s.find(typ, name, tags); e != nil {
		return e, accepted
	}
	if len(s.entries) >= s.maxSeries && !s.makeRoom() {
		return nil, seriesLimit
	}
	key := string(s.scratch) // and nothing of the sender's own text is kept, which may be a part of something large
	f := s.family(typ, key[s.tagsAt-len(name):s.tagsAt])
	if f == nil {
		return nil, typeTaken
	}
	labels := key[s.tagsAt:]
	if !areLabels(tags) {
		labels = string(appendLabels(nil, tags))
	}
	e := &entry{series: s.line(f, labels), moment: s.moment}
	e.series.entries++
	s.entries[key] = e
	return e, accepted
}

// family returns the family of a name, or nil when another type has it.
func (s *store) family(typ dto.MetricType, raw string) *family {
	name := metricName(s.prefix, raw)
	if typ == dto.MetricType_COUNTER && !strings.HasSuffix(name, "_total") {
		name += "_total"
	}
	if f := s.claimed[name]; f != nil && f.typ == typ && f.name == name {
		return f
	}
	f := &family{name: name, help: validText(raw), typ: typ}
	for _, suffix := range suffixes[typ] {
		if s.claimed[name+suffix] != nil {
			return nil
		}
	}
	for _, suffix := range suffixes[typ] {
		s.claimed[name+suffix] = f
	}
	s.families.insert(f)
	return f
}

// suffixes are what the names of a family's samples end with.
var suffixes = map[dto.MetricType][]string{
	dto.MetricType_COUNTER:   {""},
	dto.MetricType_GAUGE:     {""},
	dto.MetricType_SUMMARY:   {"", "_sum", "_count"},
	dto.MetricType_HISTOGRAM: {"", "_sum", "_count", "_bucket"},
}

// line returns the family's series of the labels.
func (s *store) line(f *family, labels string) *series {
	if k, ok := f.series.find(labels); ok {
		return k
	}
	k := &series{family: f, labels: labels, created: time.Now().UnixNano()}
	f.series.insert(k)
	s.lines++
	return k
}

// remove lets go of an entry and of what nothing leads to any more, for a reason that is counted. It says whether the page has changed.
func (s *store) remove(key string, e *entry, why leaving) bool {
	delete(s.entries, key)
	s.gone[why]++
	k := e.series
	if k.by == e {
		k.by = nil
	}
	if k.entries--; k.entries > 0 {
		return false
	}
	s.lines--
	f := k.family
	f.series.remove(k.labels)
	if f.series.len() > 0 {
		return true
	}
	s.families.remove(f.name)
	for _, suffix := range suffixes[f.typ] {
		delete(s.claimed, f.name+suffix)
	}
	return true
}

// expire lets go of the entries that got no value for so long, or for two of their own intervals if these are longer: what comes once in ten
// minutes, as span metrics may, stays until it can come again. It says whether the page has changed. step is called after each.
func (s *store) expire(now, after time.Duration, step func(i int)) bool {
	changed := false
	i := 0
	for key, e := range s.entries {
		step(i)
		i++
		if now-e.seen >= max(after, 2*e.interval()) && s.remove(key, e, expired) {
			changed = true
		}
	}
	return changed
}

// interval returns how long the interval is that it came with.
func (m moment) interval() time.Duration { return time.Duration(m.every) * time.Millisecond }
