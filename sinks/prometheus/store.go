package prometheus

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// store holds what the page shows, between intervals. It has three levels: entries are series as senders know them, and lead to series
// as Prometheus knows them, which belong to families. Several entries lead to one series when their names or tags became equal. It is
// not safe for concurrent use.
type store struct {
	prefix    string
	maxSeries int

	entries  map[string]*entry  // by type, raw name and raw tags
	families map[string]*family // by name
	claimed  map[string]*family // by the names of samples on the page, which no two families may share
	order    []*family          // by name, of those in families; nil when that has changed
	lines    int                // series in all families

	scratch []byte
}

// entry is one series as senders know it.
type entry struct {
	series *series
	seen   time.Time // when it last got a value, or later: see board.now
	round  uint64    // the interval in which it last got one
}

// series is one line of the page, or the few of a summary.
type series struct {
	family  *family
	key     string // of its labels
	labels  []*dto.LabelPair
	created *timestamppb.Timestamp
	entries int // how many lead here

	value value
	time  int64  // unix seconds of a gauge's value
	round uint64 // the interval in which by gave a value
	by    *entry // the last one to do so

	pool   []centroid // of the digests that entries gave in the interval, when there are several entries
	pooled int        // how many digests that is
}

// value is what a snapshot copies of a series; what it points to never changes.
type value struct {
	number    float64       // of a counter or gauge
	exemplar  *dto.Exemplar // of a counter, nil where there is none
	summary   *summary      // of a summary
	histogram *histogram    // of a native histogram
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
	series     map[string]*series
	order      []*series // by labels; nil when that has changed
}

func newStore(prefix string, maxSeries int) *store {
	return &store{
		prefix:    prefix,
		maxSeries: maxSeries,
		entries:   map[string]*entry{},
		families:  map[string]*family{},
		claimed:   map[string]*family{},
	}
}

// find returns the entry, if there is one.
func (s *store) find(typ dto.MetricType, name string, tags []string) *entry {
	b := append(s.scratch[:0], byte(typ))
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	for _, tag := range tags {
		b = binary.AppendUvarint(b, uint64(len(tag)))
		b = append(b, tag...)
	}
	s.scratch = b
	return s.entries[string(b)]
}

// get returns the entry, which it makes if there is room and the name is not another type's.
func (s *store) get(typ dto.MetricType, name string, tags []string) (*entry, reason) {
	if e := s.find(typ, name, tags); e != nil {
		return e, accepted
	}
	if len(s.entries) >= s.maxSeries {
		return nil, seriesLimit
	}
	f := s.family(typ, name)
	if f == nil {
		return nil, typeTaken
	}
	e := &entry{series: f.get(labels(tags))}
	if e.series.entries == 0 {
		s.lines++
	}
	e.series.entries++
	s.entries[string(s.scratch)] = e
	return e, accepted
}

// family returns the family of a name, or nil when another type has it.
func (s *store) family(typ dto.MetricType, raw string) *family {
	name := metricName(s.prefix, raw)
	if typ == dto.MetricType_COUNTER && !strings.HasSuffix(name, "_total") {
		name += "_total"
	}
	if f := s.families[name]; f != nil && f.typ == typ {
		return f
	}
	f := &family{name: name, help: validText(raw), typ: typ, series: map[string]*series{}}
	for _, suffix := range suffixes[typ] {
		if s.claimed[name+suffix] != nil {
			return nil
		}
	}
	for _, suffix := range suffixes[typ] {
		s.claimed[name+suffix] = f
	}
	s.families[name] = f
	s.order = nil
	return f
}

// suffixes are what the names of a family's samples end with.
var suffixes = map[dto.MetricType][]string{
	dto.MetricType_COUNTER:   {""},
	dto.MetricType_GAUGE:     {""},
	dto.MetricType_SUMMARY:   {"", "_sum", "_count"},
	dto.MetricType_HISTOGRAM: {"", "_sum", "_count", "_bucket"},
}

func (f *family) get(labels []*dto.LabelPair) *series {
	key := string(appendLabelsKey(nil, labels))
	k := f.series[key]
	if k == nil {
		k = &series{family: f, key: key, labels: labels, created: timestamppb.Now()}
		f.series[key] = k
		f.order = nil
	}
	return k
}

// expire lets go of the entries that were not seen since, and of what nothing leads to any more. It says whether the page has changed.
func (s *store) expire(since time.Time) bool {
	changed := false
	for key, e := range s.entries {
		if e.seen.After(since) {
			continue
		}
		delete(s.entries, key)
		k := e.series
		if k.by == e {
			k.by = nil
		}
		if k.entries--; k.entries > 0 {
			continue
		}
		changed = true
		s.lines--
		f := k.family
		delete(f.series, k.key)
		f.order = nil
		if len(f.series) > 0 {
			continue
		}
		delete(s.families, f.name)
		for _, suffix := range suffixes[f.typ] {
			delete(s.claimed, f.name+suffix)
		}
		s.order = nil
	}
	return changed
}

// sorted returns the families by name.
func (s *store) sorted() []*family {
	if s.order == nil {
		s.order = make([]*family, 0, len(s.families))
		for _, f := range s.families {
			s.order = append(s.order, f)
		}
		slices.SortFunc(s.order, func(a, b *family) int { return cmp.Compare(a.name, b.name) })
	}
	return s.order
}

// sorted returns the family's series by their labels.
func (f *family) sorted() []*series {
	if f.order == nil {
		f.order = make([]*series, 0, len(f.series))
		for _, k := range f.series {
			f.order = append(f.order, k)
		}
		slices.SortFunc(f.order, func(a, b *series) int { return cmp.Compare(a.key, b.key) })
	}
	return f.order
}
