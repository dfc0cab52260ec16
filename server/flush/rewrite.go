package flush

import (
	"maps"
	"slices"
	"strings"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
)

// rewriter makes the series of one sink: tags as its rules have them, and no SinkOnly, since all it gets is for this sink. It remembers what
// it made of each series, so that a known series costs one look.
type rewriter struct {
	strip    []test
	excluded map[string]bool // tag keys of tags_exclude entries that name the sink
	add      []string

	done  map[*metric.Series]*metric.Series // what a series becomes
	fresh map[*metric.Series]*metric.Series // the same for the interval at hand
	equal map[string]*metric.Series         // series made, by identity, for the interval at hand
}

func newRewriter(rules Rules, excluded []string) *rewriter {
	w := &rewriter{excluded: map[string]bool{}, done: map[*metric.Series]*metric.Series{}}
	for _, tag := range rules.StripTags {
		w.strip = append(w.strip, newTest(tag.Kind, tag.Value))
	}
	for _, key := range excluded {
		w.excluded[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(rules.AddTags)) {
		w.add = append(w.add, key+":"+rules.AddTags[key])
	}
	return w
}

// hasRules says whether tags are changed at all.
func (w *rewriter) hasRules() bool { return len(w.strip)+len(w.excluded)+len(w.add) > 0 }

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

// series returns what s becomes. Within an interval, series that become equal become the same pointer.
func (w *rewriter) series(s *metric.Series) *metric.Series {
	if r, ok := w.fresh[s]; ok {
		return r
	}
	r := w.done[s]
	if r == nil {
		r = s
		if tags := w.tags(s.Tags); s.SinkOnly != "" || !slices.Equal(tags, s.Tags) {
			r = &metric.Series{Name: s.Name, Tags: tags, Kind: s.Kind, Scope: s.Scope}
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
	return s.Kind.Class().String() + "\x00" + s.Name + "\x00" + strings.Join(s.Tags, "\x00")
}

// apply returns the interval as this sink sees it. Merged digests and sets are copies: the ones given are shared with other sinks. What was
// made of series that are no longer seen is let go. step is called every some ten microseconds, and may sleep.
func (w *rewriter) apply(iv *aggregate.Interval, step func()) *aggregate.Interval {
	// Maps that grow do so by a little at a time; one made for a million series would take milliseconds at once.
	w.fresh = map[*metric.Series]*metric.Series{}
	w.equal = map[string]*metric.Series{}
	out := &aggregate.Interval{
		Counters:   mergeStates(w, step, &iv.Counters, counterSeries, mergeCounters),
		Gauges:     mergeStates(w, step, &iv.Gauges, gaugeSeries, mergeGauges),
		Histograms: mergeStates(w, step, &iv.Histograms, histogramSeries, mergeHistograms),
		Sets:       mergeStates(w, step, &iv.Sets, setSeries, mergeSets),
		Timed:      w.timed(step, &iv.Timed),
	}
	for e := range iv.Events.Paced(stepSketches, step) {
		event := *e
		event.Tags = w.tags(event.Tags)
		out.Events.Push(event)
	}
	for c := range iv.Checks.Paced(stepSketches, step) {
		check := *c
		check.Tags = w.tags(check.Tags)
		out.Checks.Push(check)
	}
	w.done, w.fresh, w.equal = w.fresh, nil, nil
	return out
}

// timed merges points that become equal in everything, time included.
func (w *rewriter) timed(step func(), points *aggregate.List[metric.Point]) (out aggregate.List[metric.Point]) {
	type place struct {
		series *metric.Series
		typ    metric.PointType
		time   int64
	}
	at := map[place]*metric.Point{}
	for point := range points.Paced(stepSketches, step) {
		p := *point
		p.Series = w.series(p.Series)
		key := place{p.Series, p.Type, p.Time}
		if first := at[key]; first != nil {
			first.Value = fold(p.Type, first.Value, p.Value)
			continue
		}
		at[key] = out.At(out.Push(p))
	}
	return out
}

// mergeStates copies states, gives each its new series, and folds those whose series are the same into the first of them. merge is told
// whether it is the first time that something is folded into a state, which until then holds what others hold too.
func mergeStates[S any](w *rewriter, step func(), states *aggregate.List[S], seriesOf func(*S) **metric.Series, merge func(into *S, from S, first bool)) (out aggregate.List[S]) {
	at := map[*metric.Series]int{}
	merged := map[int]bool{}
	for given := range states.Paced(stepSketches, step) {
		state := *given
		series := seriesOf(&state)
		*series = w.series(*series)
		i, met := at[*series]
		if !met {
			at[*series] = out.Push(state)
			continue
		}
		merge(out.At(i), state, !merged[i])
		merged[i] = true
	}
	return out
}

func counterSeries(s *aggregate.CounterState) **metric.Series     { return &s.Series }
func gaugeSeries(s *aggregate.GaugeState) **metric.Series         { return &s.Series }
func histogramSeries(s *aggregate.HistogramState) **metric.Series { return &s.Series }
func setSeries(s *aggregate.SetState) **metric.Series             { return &s.Series }

func mergeCounters(into *aggregate.CounterState, from aggregate.CounterState, _ bool) {
	into.Value = fold(metric.CounterPoint, into.Value, from.Value)
	into.Contested = into.Contested || from.Contested
}

func mergeGauges(into *aggregate.GaugeState, from aggregate.GaugeState, _ bool) {
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
