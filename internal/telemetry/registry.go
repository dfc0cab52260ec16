package telemetry

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Registry holds the metrics of one daemon. All methods may be called at once from any goroutine.
type Registry struct {
	mu       sync.Mutex
	families map[string]*family
	sets     []set
}

// set is a family whose members come and go; see Registry.FuncSet.
type set struct {
	desc *Desc
	read func(emit func(value float64, tagValues ...string))
}

type family struct {
	desc    *Desc
	metrics map[string]*Metric
}

// New returns an empty registry.
func New() *Registry {
	return &Registry{families: map[string]*family{}}
}

// Metric is one value: a description and the values of its tags. For a counter it is the total since the start; for a gauge the present
// value.
type Metric struct {
	_    [64]byte // no two metrics share a cache line: readers on different cores count side by side
	bits atomic.Uint64
	_    [56]byte

	desc   *Desc
	values []string
	read   func() float64 // set for metrics that are asked rather than told
}

// Counter returns the counter with the given tag values, one for each of d.Tags, making it if need be. The same arguments give the same
// counter. It panics when d is no counter, the number of values differs, or the name is known with another kind or other tags: a mistake in
// the calling code.
func (r *Registry) Counter(d *Desc, tagValues ...string) *Metric {
	return r.metric(d, Counter, tagValues)
}

// Gauge is Counter for gauges.
func (r *Registry) Gauge(d *Desc, tagValues ...string) *Metric {
	return r.metric(d, Gauge, tagValues)
}

// Func makes a metric whose value is what read returns when somebody looks. read is called without locks held, possibly by
// several goroutines at once. A later Func with the same arguments takes the place of an earlier one.
func (r *Registry) Func(d *Desc, read func() float64, tagValues ...string) {
	m := r.metric(d, d.Kind, tagValues)
	r.mu.Lock()
	defer r.mu.Unlock()
	m.read = read
}

// FuncSet makes a family whose members change: each time somebody looks, read calls emit once a member. The caller bounds their
// number. Members with equal tag values, of one set or of several with one description, add up. It is for short lists of names that
// the configuration does not hold, such as the worst offenders against a limit.
func (r *Registry) FuncSet(d *Desc, read func(emit func(value float64, tagValues ...string))) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sets = append(r.sets, set{d, read})
}

func (r *Registry) metric(d *Desc, kind Kind, values []string) *Metric {
	if d.Kind != kind || len(values) != len(d.Tags) {
		panic(fmt.Sprintf("telemetry: %s is a %s with tags %v, used as a %s with %v", d.Name, d.Kind, d.Tags, kind, values))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.families[d.Name]
	if f == nil {
		f = &family{desc: d, metrics: map[string]*Metric{}}
		r.families[d.Name] = f
	} else if f.desc.Kind != d.Kind || !slices.Equal(f.desc.Tags, d.Tags) {
		panic(fmt.Sprintf("telemetry: %s is described as a %s with tags %v and as a %s with %v", d.Name, f.desc.Kind, f.desc.Tags, d.Kind, d.Tags))
	}
	key := strings.Join(values, "\x00")
	m := f.metrics[key]
	if m == nil {
		m = &Metric{desc: d, values: slices.Clone(values)}
		f.metrics[key] = m
	}
	return m
}

// Add adds n to a counter.
func (m *Metric) Add(n uint64) { m.bits.Add(n) }

// Inc adds one to a counter.
func (m *Metric) Inc() { m.bits.Add(1) }

// Set sets a gauge.
func (m *Metric) Set(v float64) { m.bits.Store(math.Float64bits(v)) }

// Count returns a counter's total.
func (m *Metric) Count() uint64 { return m.bits.Load() }

func (m *Metric) value() float64 {
	if m.desc.Kind == Counter {
		return float64(m.bits.Load())
	}
	return math.Float64frombits(m.bits.Load())
}

// Reading is the value of one metric at one moment.
type Reading struct {
	Desc   *Desc
	Values []string // of Desc.Tags; read-only
	Value  float64
}

// Gather reads every metric, ordered by name and tag values, each pair of them once.
func (r *Registry) Gather() []Reading {
	type pending struct {
		Reading
		metric *Metric
		read   func() float64
	}
	var all []pending
	r.mu.Lock()
	for _, f := range r.families {
		for _, m := range f.metrics {
			all = append(all, pending{Reading{Desc: f.desc, Values: m.values}, m, m.read})
		}
	}
	sets := slices.Clone(r.sets)
	r.mu.Unlock()
	readings := make([]Reading, 0, len(all))
	for _, p := range all {
		p.Value = p.metric.value()
		if p.read != nil {
			p.Value = p.read()
		}
		readings = append(readings, p.Reading)
	}
	for _, s := range sets {
		s.read(func(value float64, tagValues ...string) {
			if len(tagValues) != len(s.desc.Tags) {
				panic(fmt.Sprintf("telemetry: %s has tags %v, emitted with %v", s.desc.Name, s.desc.Tags, tagValues))
			}
			readings = append(readings, Reading{Desc: s.desc, Values: slices.Clone(tagValues), Value: value})
		})
	}
	slices.SortFunc(readings, func(a, b Reading) int {
		if c := strings.Compare(a.Desc.Name, b.Desc.Name); c != 0 {
			return c
		}
		return slices.Compare(a.Values, b.Values)
	})
	return addEqual(readings)
}

// addEqual adds up neighbours that are one metric: a page with a series twice is refused whole by those who read it.
func addEqual(readings []Reading) []Reading {
	out := readings[:0]
	for _, r := range readings {
		if n := len(out); n > 0 && out[n-1].Desc.Name == r.Desc.Name && slices.Equal(out[n-1].Values, r.Values) {
			out[n-1].Value += r.Value
			continue
		}
		out = append(out, r)
	}
	return out
}

// Value returns the sum of the metrics called name whose tags include every given "key:value", and 0 when there is none. It is what
// tests ask.
func (r *Registry) Value(name string, tags ...string) float64 {
	var sum float64
	for _, reading := range r.Gather() {
		if reading.Desc.Name == name && reading.has(tags) {
			sum += reading.Value
		}
	}
	return sum
}

func (r *Reading) has(tags []string) bool {
	for _, tag := range tags {
		key, value, _ := strings.Cut(tag, ":")
		i := slices.Index(r.Desc.Tags, key)
		if i < 0 || r.Values[i] != value {
			return false
		}
	}
	return true
}
