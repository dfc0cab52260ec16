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
	defer points.list.lease.release()
	only := f.account(iv, &points.list)
	for h := range iv.Histograms.Paced(stepPoints, f.step) {
		if h.Digest.Saturated() {
			f.stats.saturated.Inc()
		}
	}
	everywhere := f.everywhere(iv)
	for _, o := range f.plain {
		if f.skips(o) {
			continue
		}
		if only[o.Name] {
			f.rewrite(o, iv, t)
			continue
		}
		if everywhere {
			points.list.lease.hold()
			f.offer(o, iv, points, t)
			continue
		}
		others := f.routedOthers(o, iv)
		if o.WantsDistributions {
			others.Histograms = selected(f, &iv.Histograms, func(s *aggregate.HistogramState) bool { return f.routed(o, s.Series.Name, s.Series) })
		}
		routed := func(p *metric.Point) bool { return f.routed(o, p.Name, p.Series) }
		f.offer(o, others, rendered{
			list:    points.list.selected(f.render.lease, f.step, routed),
			left:    selected(f, &points.left, routed),
			gaveWay: selected(f, &points.gaveWay, routed),
		}, t)
	}
}

// account counts what the routes send somewhere and what they do not, and returns the names of the sinks that something is for alone.
func (f *Flusher) account(iv *aggregate.Interval, points *pieces[metric.Point]) (only map[string]bool) {
	only = map[string]bool{}
	lost := 0
	if !f.everywhere(iv) {
		for p := range points.paced(stepSketches, f.step) {
			s := p.Series
			if s.SinkOnly != "" {
				only[s.SinkOnly] = true
			}
			if !f.router.anywhere(p.Name, s.Tags, s.SinkOnly) {
				lost++
			}
		}
	}
	f.stats.points.Add(uint64(points.len()))
	f.stats.noSink.Add(uint64(lost))
	f.stats.somewhere.Add(uint64(points.len() - lost))
	for c := range iv.Checks.Paced(stepSketches, f.step) {
		if !f.router.anywhere(c.Name, c.Tags, c.SinkOnly) {
			f.stats.noSinkChecks.Inc()
		}
	}
	for e := range iv.Events.All() {
		if !f.router.exists(e.SinkOnly) {
			f.stats.noSinkEvents.Inc()
		}
	}
	return only
}

// everywhere says whether every target without rules gets every point, event and check, as is usual.
func (f *Flusher) everywhere(iv *aggregate.Interval) bool {
	if !iv.ForAll || len(f.router.routes) > 0 || len(f.s.Targets) == 0 {
		return false
	}
	for e := range iv.Events.All() {
		if e.SinkOnly != "" {
			return false
		}
	}
	for c := range iv.Checks.All() {
		if c.SinkOnly != "" {
			return false
		}
	}
	return true
}

// rewrite gives an output with rules its batch. Routes go before rules, so that they see the tags that a sender wrote.
func (f *Flusher) rewrite(o *output, iv *aggregate.Interval, t tick) {
	if f.skips(o) {
		return
	}
	mine, columns := f.routedStates(o, iv)
	mine = o.rewriter.apply(mine, f.step)
	var emit func(*metric.Series, int) bool
	if columns != nil {
		merged := map[*metric.Series]uint64{}
		for s, mask := range columns {
			merged[o.rewriter.done[s]] |= mask
			f.step()
		}
		emit = func(s *metric.Series, column int) bool { return merged[s]&(1<<column) != 0 }
	}
	f.offer(o, mine, f.render.render(mine, emit), t)
}

// offer hands an output its points, of whose lease it takes over one hold, and what else the interval holds for it.
func (f *Flusher) offer(o *output, others *aggregate.Interval, points rendered, t tick) {
	var digests pieces[metric.DigestPoint]
	if o.WantsDistributions {
		digests = f.distributions(&others.Histograms)
	}
	f.stats.routed[o.index].Add(uint64(points.list.len()))
	f.stats.conflicting[o.index].Add(uint64(points.left.Len()))
	f.stats.gaveWay[o.index].Add(uint64(points.gaveWay.Len()))
	f.tellConflict(o, points)
	interval := batches(points.list.all, digests.all, others, t)
	interval[len(interval)-1].Exemplars = f.exemplarsOf(o)
	if !f.left.offer(o.index) {
		points.list.lease.release()
		return
	}
	o.Offer(points.list.lease.release, f.tellingOf(o), interval...)
}

// batches returns an interval as one batch or, where there are many items of some sort, as several. The first is there in any case.
func batches(points [][]metric.Point, digests [][]metric.DigestPoint, others *aggregate.Interval, t tick) []*sinks.Batch {
	var interval []*sinks.Batch
	batch := func(i int) *sinks.Batch {
		if i == len(interval) {
			if i > 0 {
				interval[i-1].More = true
			}
			interval = append(interval, &sinks.Batch{End: t.end, Interval: t.covered})
		}
		return interval[i]
	}
	batch(0)
	for i, piece := range points {
		batch(i).Points = piece
	}
	for i, piece := range digests {
		batch(i).Distributions = piece
	}
	i := 0
	for piece := range others.Events.Pages() {
		batch(i).Events = piece
		i++
	}
	i = 0
	for piece := range others.Checks.Pages() {
		batch(i).Checks = piece
		i++
	}
	return interval
}

// tellConflict names, at most once a minute, a metric of which a value is missing because of another of its name and tags: who sends them has to
// know which.
func (f *Flusher) tellConflict(o *output, points rendered) {
	missing, why := &points.left, "a point is left out: another of its name and tags has another type"
	if missing.Len() == 0 {
		missing, why = &points.gaveWay, "a value is replaced: another series gives a gauge of the same name and tags"
	}
	now := time.Now()
	if missing.Len() == 0 || !f.told.IsZero() && now.Sub(f.told) < tellPeriod {
		return
	}
	f.told = now
	f.s.Log.WithFields(logrus.Fields{
		"sink": o.Name, "metric": strconv.QuoteToASCII(cutText(missing.At(0).Name)), "type": missing.At(0).Type.String(), "points": missing.Len(),
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
		Checks: selected(f, &iv.Checks, func(c *metric.Check) bool { return f.router.routed(o.index, c.Name, c.Tags, c.SinkOnly) }),
		// Routes go by metric names, and an event has none: it goes to every sink unless it names one.
		Events: selected(f, &iv.Events, func(e *metric.Event) bool { return e.SinkOnly == "" || e.SinkOnly == o.Name }),
	}
}

// routedStates returns the part of an interval that goes to the output. A histogram is in it when any of its points is; columns then says
// which, a bit each, or is nil when all go. Histograms that a rule merges give the points that any of them gives.
func (f *Flusher) routedStates(o *output, iv *aggregate.Interval) (mine *aggregate.Interval, columns map[*metric.Series]uint64) {
	routed := func(s *metric.Series) bool { return f.routed(o, s.Name, s) }
	mine = f.routedOthers(o, iv)
	mine.Counters = selected(f, &iv.Counters, func(s *aggregate.CounterState) bool { return routed(s.Series) })
	mine.Gauges = selected(f, &iv.Gauges, func(s *aggregate.GaugeState) bool { return routed(s.Series) })
	mine.Sets = selected(f, &iv.Sets, func(s *aggregate.SetState) bool { return routed(s.Series) })
	mine.Timed = selected(f, &iv.Timed, func(p *metric.Point) bool { return routed(p.Series) })
	if len(f.router.routes) == 0 {
		mine.Histograms = selected(f, &iv.Histograms, func(s *aggregate.HistogramState) bool { return routed(s.Series) })
		return mine, nil
	}
	columns = map[*metric.Series]uint64{}
	mine.Histograms = selected(f, &iv.Histograms, func(s *aggregate.HistogramState) bool {
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
func (f *Flusher) distributions(histograms *aggregate.List[aggregate.HistogramState]) pieces[metric.DigestPoint] {
	out := pieces[metric.DigestPoint]{room: histograms.Len()}
	for h := range histograms.Paced(stepSketches, f.step) {
		digest := h.Digest.Clone()
		digest.Freeze()
		out.add(metric.DigestPoint{Series: h.Series, Digest: digest})
	}
	return out
}

// selected returns the items that keep says yes to, sharing the memory when that is all of them.
func selected[T any](f *Flusher, items *aggregate.List[T], keep func(*T) bool) (out aggregate.List[T]) {
	n := 0
	for item := range items.Paced(stepSketches, f.step) {
		if !keep(item) {
			break
		}
		n++
	}
	if n == items.Len() {
		return *items
	}
	i := 0
	for item := range items.Paced(stepSketches, f.step) {
		if i < n || i > n && keep(item) {
			out.Push(*item)
		}
		i++
	}
	return out
}
