package flush

import (
	"strconv"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
)

// share gives the outputs without rules their batches, which hold the same points, and keeps the law points = routed + no_sink.
func (f *Flusher) share(iv *aggregate.Interval, t tick) {
	points := f.render.render(iv, nil)
	only := f.account(iv, points.list)
	for i := range iv.Histograms {
		if iv.Histograms[i].Digest.Saturated() {
			f.stats.saturated.Inc()
		}
	}
	for _, o := range f.plain {
		if only[o.Name] {
			f.rewrite(o, iv, t)
			continue
		}
		others := f.routedOthers(o, iv)
		if o.WantsDistributions {
			others.Histograms = selected(iv.Histograms, func(s *aggregate.HistogramState) bool { return f.routed(o, s.Series.Name, s.Series) })
		}
		f.offer(o, others, rendered{
			list: selected(points.list, func(p *metric.Point) bool { return f.routed(o, p.Name, p.Series) }),
			left: selected(points.left, func(p *metric.Point) bool { return f.routed(o, p.Name, p.Series) }),

			gaveWay: selected(points.gaveWay, func(p *metric.Point) bool { return f.routed(o, p.Name, p.Series) }),
		}, t)
	}
}

// account counts what the routes send somewhere and what they do not, and returns the names of the sinks that something is for alone.
func (f *Flusher) account(iv *aggregate.Interval, points []metric.Point) (only map[string]bool) {
	only = map[string]bool{}
	lost := 0
	for i := range points {
		s := points[i].Series
		if s.SinkOnly != "" {
			only[s.SinkOnly] = true
		}
		if !f.router.anywhere(points[i].Name, s.Tags, s.SinkOnly) {
			lost++
		}
	}
	f.stats.points.Add(uint64(len(points)))
	f.stats.noSink.Add(uint64(lost))
	f.stats.somewhere.Add(uint64(len(points) - lost))
	for i := range iv.Checks {
		if c := &iv.Checks[i]; !f.router.anywhere(c.Name, c.Tags, c.SinkOnly) {
			f.stats.noSinkChecks.Inc()
		}
	}
	for i := range iv.Events {
		if !f.router.exists(iv.Events[i].SinkOnly) {
			f.stats.noSinkEvents.Inc()
		}
	}
	return only
}

// rewrite gives an output with rules its batch. Routes go before rules, so that they see the tags that a sender wrote.
func (f *Flusher) rewrite(o *output, iv *aggregate.Interval, t tick) {
	mine, columns := f.routedStates(o, iv)
	mine = o.rewriter.apply(mine)
	var emit func(*metric.Series, int) bool
	if columns != nil {
		merged := make(map[*metric.Series]uint64, len(columns))
		for s, mask := range columns {
			merged[o.rewriter.done[s]] |= mask
		}
		emit = func(s *metric.Series, column int) bool { return merged[s]&(1<<column) != 0 }
	}
	f.offer(o, mine, f.render.render(mine, emit), t)
}

// offer hands an output its points, and what else the interval holds for it.
func (f *Flusher) offer(o *output, others *aggregate.Interval, points rendered, t tick) {
	batch := &sinks.Batch{End: t.end, Interval: t.covered, Points: points.list, Events: others.Events, Checks: others.Checks}
	if o.WantsDistributions {
		batch.Distributions = distributions(others.Histograms)
	}
	f.stats.routed[o.index].Add(uint64(len(points.list)))
	f.stats.conflicting[o.index].Add(uint64(len(points.left)))
	f.stats.gaveWay[o.index].Add(uint64(len(points.gaveWay)))
	f.tellConflict(o, points)
	o.Offer(batch)
}

// tellConflict names, at most once a minute, a metric of which a value is missing because of another of its name and tags: who sends them has to
// know which.
func (f *Flusher) tellConflict(o *output, points rendered) {
	missing, why := points.left, "a point is left out: another of its name and tags has another type"
	if len(missing) == 0 {
		missing, why = points.gaveWay, "a value is replaced: another series gives a gauge of the same name and tags"
	}
	now := time.Now()
	if len(missing) == 0 || !f.told.IsZero() && now.Sub(f.told) < tellPeriod {
		return
	}
	f.told = now
	f.s.Log.WithFields(logrus.Fields{
		"sink": o.Name, "metric": strconv.QuoteToASCII(cutText(missing[0].Name)), "type": missing[0].Type.String(), "points": len(missing),
	}).Warn(why)
}

const (
	tellPeriod = time.Minute
	toldText   = 200 // bytes of a name
)

func cutText(s string) string { return s[:min(len(s), toldText)] }

func (f *Flusher) routed(o *output, name string, s *metric.Series) bool {
	return f.router.routed(o.index, name, s.Tags, s.SinkOnly)
}

// routedOthers returns an interval with the events and checks that go to the output, and nothing else.
func (f *Flusher) routedOthers(o *output, iv *aggregate.Interval) *aggregate.Interval {
	return &aggregate.Interval{
		Checks: selected(iv.Checks, func(c *metric.Check) bool { return f.router.routed(o.index, c.Name, c.Tags, c.SinkOnly) }),
		// Routes go by metric names, and an event has none: it goes to every sink unless it names one.
		Events: selected(iv.Events, func(e *metric.Event) bool { return e.SinkOnly == "" || e.SinkOnly == o.Name }),
	}
}

// routedStates returns the part of an interval that goes to the output. A histogram is in it when any of its points is; columns then says
// which, a bit each, or is nil when all go. Histograms that a rule merges give the points that any of them gives.
func (f *Flusher) routedStates(o *output, iv *aggregate.Interval) (mine *aggregate.Interval, columns map[*metric.Series]uint64) {
	routed := func(s *metric.Series) bool { return f.routed(o, s.Name, s) }
	mine = f.routedOthers(o, iv)
	mine.Counters = selected(iv.Counters, func(s *aggregate.CounterState) bool { return routed(s.Series) })
	mine.Gauges = selected(iv.Gauges, func(s *aggregate.GaugeState) bool { return routed(s.Series) })
	mine.Sets = selected(iv.Sets, func(s *aggregate.SetState) bool { return routed(s.Series) })
	mine.Timed = selected(iv.Timed, func(p *metric.Point) bool { return routed(p.Series) })
	if len(f.router.routes) == 0 {
		mine.Histograms = selected(iv.Histograms, func(s *aggregate.HistogramState) bool { return routed(s.Series) })
		return mine, nil
	}
	columns = make(map[*metric.Series]uint64, len(iv.Histograms))
	mine.Histograms = selected(iv.Histograms, func(s *aggregate.HistogramState) bool {
		for j, name := range f.render.histogramNames(s.Series.Name) {
			if f.routed(o, name, s.Series) {
				columns[s.Series] |= 1 << j
			}
		}
		return columns[s.Series] != 0
	})
	return mine, columns
}

// distributions returns copies of the digests, since those of the interval go back to their pool while the sink may still be sending.
func distributions(histograms []aggregate.HistogramState) []metric.DigestPoint {
	out := make([]metric.DigestPoint, len(histograms))
	for i := range histograms {
		digest := histograms[i].Digest.Clone()
		digest.Freeze()
		out[i] = metric.DigestPoint{Series: histograms[i].Series, Digest: digest}
	}
	return out
}

// selected returns the items that keep says yes to, sharing the array when that is all of them.
func selected[T any](items []T, keep func(*T) bool) []T {
	n := 0
	for n < len(items) && keep(&items[n]) {
		n++
	}
	if n == len(items) {
		return items
	}
	out := append(make([]T, 0, len(items)), items[:n]...)
	for i := n + 1; i < len(items); i++ {
		if keep(&items[i]) {
			out = append(out, items[i])
		}
	}
	return out
}
