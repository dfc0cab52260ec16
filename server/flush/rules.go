package flush

import (
	"maps"
	"slices"
	"strings"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
)

// Rules change the tags of what one sink gets. Series that become equal by them are merged as series, before points are made: two
// counters add up, and an average or a percentile is that of all their values.
type Rules struct {
	// StripTags removes the tags that any of these matches.
	StripTags []TagMatch `yaml:"strip_tags"`
	// AddTags adds tags; one whose key a series already has is left alone.
	AddTags map[string]string `yaml:"add_tags"`
}

// Validate reports every faulty matcher and every tag that could not be told from two.
func (r *Rules) Validate() error {
	var faults config.Faults
	for i := range r.StripTags {
		faults.AddIn(index("strip_tags", i), r.StripTags[i].Validate())
		if r.StripTags[i].Unset {
			faults.Add(index("strip_tags", i)+".unset", "has no meaning here")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.AddTags)) {
		if key == "" {
			faults.Add("add_tags", "a tag needs a key")
		}
		if strings.ContainsAny(key, ":,\n") {
			faults.Add("add_tags", "key %q holds a colon, a comma or a newline", key)
		}
	}
	return faults.Err()
}

// rewriter applies the rules of one sink. It remembers what it made of each series, so that a known series costs one look.
type rewriter struct {
	strip    []test
	excluded map[string]bool // tag keys of tags_exclude entries that name the sink
	add      []string
	keys     map[string]bool // of add

	done  map[*metric.Series]*metric.Series // to what a series becomes
	fresh map[*metric.Series]*metric.Series // the same for the interval at hand
	equal map[string]*metric.Series         // rewritten series by identity, of the interval at hand
}

// newRewriter returns nil when there is nothing to rewrite.
func newRewriter(rules Rules, excluded []string) *rewriter {
	if len(rules.StripTags) == 0 && len(rules.AddTags) == 0 && len(excluded) == 0 {
		return nil
	}
	w := &rewriter{excluded: map[string]bool{}, keys: map[string]bool{}, done: map[*metric.Series]*metric.Series{}}
	for _, tag := range rules.StripTags {
		w.strip = append(w.strip, newTest(tag.Kind, tag.Value))
	}
	for _, key := range excluded {
		w.excluded[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(rules.AddTags)) {
		w.keys[key] = true
		w.add = append(w.add, key+":"+rules.AddTags[key])
	}
	return w
}

// tags returns what the rules make of tags: sorted, unique, and never the slice it was given unless nothing changed.
func (w *rewriter) tags(tags []string) []string {
	out := make([]string, 0, len(tags)+len(w.add))
	for _, tag := range tags {
		if !w.cut(tag) {
			out = append(out, tag)
		}
	}
	kept := out
	for _, tag := range w.add {
		key := metric.TagKey(tag)
		if !slices.ContainsFunc(kept, func(t string) bool { return metric.TagKey(t) == key }) {
			out = append(out, tag)
		}
	}
	if slices.Equal(out, tags) {
		return tags
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (w *rewriter) cut(tag string) bool {
	if w.excluded[metric.TagKey(tag)] {
		return true
	}
	return slices.ContainsFunc(w.strip, func(matches test) bool { return matches(tag) })
}

// begin starts an interval: what was made of series no longer seen is let go.
func (w *rewriter) begin() {
	w.fresh = make(map[*metric.Series]*metric.Series, len(w.done))
	w.equal = make(map[string]*metric.Series, len(w.done))
}

// end makes the interval's answers the ones remembered.
func (w *rewriter) end() { w.done, w.fresh, w.equal = w.fresh, nil, nil }

// series returns what s becomes. Within an interval, series that become equal become the same pointer.
func (w *rewriter) series(s *metric.Series) *metric.Series {
	if r, ok := w.fresh[s]; ok {
		return r
	}
	r := w.done[s]
	if r == nil {
		r = s
		if tags := w.tags(s.Tags); !slices.Equal(tags, s.Tags) {
			r = &metric.Series{Name: s.Name, Tags: tags, Kind: s.Kind, Scope: s.Scope, SinkOnly: s.SinkOnly}
		}
	}
	key := identity(r)
	if first, ok := w.equal[key]; ok {
		r = first
	} else {
		w.equal[key] = r
	}
	w.fresh[s] = r
	return r
}

func identity(s *metric.Series) string {
	return s.Kind.Class().String() + "\x00" + s.Name + "\x00" + s.SinkOnly + "\x00" + strings.Join(s.Tags, "\x00")
}

// apply returns the interval as the rules make it. Merged digests and sets are copies: the ones given are shared with other sinks.
func (w *rewriter) apply(iv *aggregate.Interval) *aggregate.Interval {
	w.begin()
	defer w.end()
	out := &aggregate.Interval{
		Counters:   mergeStates(iv.Counters, w.counter, addCounters),
		Gauges:     mergeStates(iv.Gauges, w.gauge, lastGauge),
		Histograms: mergeStates(iv.Histograms, w.histogram, mergeHistograms),
		Sets:       mergeStates(iv.Sets, w.set, mergeSets),
		Timed:      slices.Clone(iv.Timed),
		Events:     slices.Clone(iv.Events),
		Checks:     slices.Clone(iv.Checks),
	}
	for i := range out.Timed {
		out.Timed[i].Series = w.series(out.Timed[i].Series)
	}
	for i := range out.Events {
		out.Events[i].Tags = w.tags(out.Events[i].Tags)
	}
	for i := range out.Checks {
		out.Checks[i].Tags = w.tags(out.Checks[i].Tags)
	}
	return out
}

func (w *rewriter) counter(s *aggregate.CounterState) *metric.Series {
	s.Series = w.series(s.Series)
	return s.Series
}

func (w *rewriter) gauge(s *aggregate.GaugeState) *metric.Series {
	s.Series = w.series(s.Series)
	return s.Series
}

func (w *rewriter) histogram(s *aggregate.HistogramState) *metric.Series {
	s.Series = w.series(s.Series)
	return s.Series
}

func (w *rewriter) set(s *aggregate.SetState) *metric.Series {
	s.Series = w.series(s.Series)
	return s.Series
}

// mergeStates copies states, gives each its new series, and folds those whose series are the same into the first of them.
func mergeStates[S any](states []S, rewrite func(*S) *metric.Series, merge func(into *S, from S, first bool)) []S {
	out := make([]S, 0, len(states))
	index := make(map[*metric.Series]int, len(states))
	merged := map[int]bool{}
	for _, state := range states {
		series := rewrite(&state)
		if i, ok := index[series]; ok {
			merge(&out[i], state, !merged[i])
			merged[i] = true
			continue
		}
		index[series] = len(out)
		out = append(out, state)
	}
	return out
}

func addCounters(into *aggregate.CounterState, from aggregate.CounterState, _ bool) {
	into.Value = saturatingAdd(into.Value, from.Value)
	into.Contested = into.Contested || from.Contested
}

func lastGauge(into *aggregate.GaugeState, from aggregate.GaugeState, _ bool) {
	if from.Stamp >= into.Stamp {
		into.Value, into.Stamp = from.Value, from.Stamp
	}
	into.Contested = into.Contested || from.Contested
}

func mergeHistograms(into *aggregate.HistogramState, from aggregate.HistogramState, first bool) {
	if first {
		into.Digest = into.Digest.Clone()
	}
	into.Digest.Merge(from.Digest)
	into.Contested = into.Contested || from.Contested
}

func mergeSets(into *aggregate.SetState, from aggregate.SetState, first bool) {
	if first {
		into.Sketch = into.Sketch.Clone()
	}
	into.Sketch.Merge(from.Sketch)
	into.Contested = into.Contested || from.Contested
}
