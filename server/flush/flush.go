package flush

import (
	"context"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
)

// Lane is what the flusher needs of a lane.
type Lane interface {
	// Flip starts a new generation of the lane's table, under the lane's lock.
	Flip()
	// WithLock calls f with the lane's lock held.
	WithLock(f func())
}

// Target is one metric sink, as the flusher sees it.
type Target struct {
	Name               string
	Rules              Rules
	ExcludedTags       []string // keys of tags_exclude entries that name the sink
	WantsDistributions bool
	Offer              func(*sinks.Batch) // never blocks
}

// Settings is what a Flusher works with.
type Settings struct {
	Config    Config
	Lanes     []Lane
	Collector *aggregate.Collector // over the tables of Lanes, in their order
	Targets   []Target
	BeforeEnd func() // called at each tick before the lanes flip, to read what only is known now, such as kernel drops; may be nil
	Telemetry *telemetry.Registry
	Log       logrus.FieldLogger
}

// Flusher ends the intervals: it flips the lanes, collects what they held, makes points and offers each sink its batch.
type Flusher struct {
	s      Settings
	render *renderer
	router *router
	plain  []int // indexes of the targets without rules, which share their points
	ruled  []ruled
	stats  stats
}

// ruled is a target whose rules change the tags of what it gets.
type ruled struct {
	target   int
	rewriter *rewriter
}

// New returns a flusher; it starts nothing.
func New(s Settings) *Flusher {
	f := &Flusher{s: s, render: newRenderer(s.Config)}
	names := make([]string, len(s.Targets))
	for i, target := range s.Targets {
		names[i] = target.Name
		if w := newRewriter(target.Rules, target.ExcludedTags); w != nil {
			f.ruled = append(f.ruled, ruled{i, w})
			continue
		}
		f.plain = append(f.plain, i)
	}
	f.router = newRouter(names, s.Config.MetricSinkRouting)
	f.stats = newStats(s.Telemetry, names)
	return f
}

// Run flushes at every tick until ctx is done, and then once more when the configuration says so.
func (f *Flusher) Run(ctx context.Context) error {
	now := time.Now()
	c := newClock(f.s.Config.Interval, f.s.Config.SynchronizeWithInterval, now)
	timer := time.NewTimer(c.wait(now))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if f.s.Config.FlushOnShutdown {
				f.flush(c.tick(time.Now()))
			}
			return nil
		case <-timer.C:
			f.flush(c.tick(time.Now()))
			timer.Reset(c.wait(time.Now()))
		}
	}
}

func (f *Flusher) flush(t tick) {
	start := time.Now()
	if t.skipped > 0 {
		f.stats.skipped.Add(uint64(t.skipped))
		f.s.Log.WithField("skipped", t.skipped).Warn("intervals ended without a flush; the next points cover the whole time")
	}
	if f.s.BeforeEnd != nil {
		f.s.BeforeEnd()
	}
	for _, lane := range f.s.Lanes {
		lane.Flip()
	}
	iv := f.s.Collector.Collect()
	f.s.Collector.MergeScopes(iv)
	f.render.begin()
	f.share(iv, t)
	for i := range f.ruled {
		f.rewrite(&f.ruled[i], iv, t)
	}
	f.s.Collector.Release(iv)
	f.s.Collector.Expire(func(table int, do func()) { f.s.Lanes[table].WithLock(do) })

	f.stats.flushes.Inc()
	f.stats.duration.Set(time.Since(start).Seconds())
	f.stats.covered.Set(t.covered.Seconds())
}

// share gives the targets without rules their batches, which hold the same series, and keeps the law points = routed + no_sink.
func (f *Flusher) share(iv *aggregate.Interval, t tick) {
	points, conflicting := f.render.render(iv, nil)
	noSink := 0
	for i := range points {
		if !f.router.anywhere(points[i].Name, points[i].Series.Tags, points[i].Series.SinkOnly) {
			noSink++
		}
	}
	f.stats.points.Add(uint64(len(points)))
	f.stats.noSink.Add(uint64(noSink))
	f.stats.somewhere.Add(uint64(len(points) - noSink))
	for _, i := range f.plain {
		routed := selected(points, func(p *metric.Point) bool {
			return f.router.routed(i, p.Name, p.Series.Tags, p.Series.SinkOnly)
		})
		others := f.routedOthers(i, iv)
		if f.s.Targets[i].WantsDistributions {
			others.Histograms = selected(iv.Histograms, func(s *aggregate.HistogramState) bool {
				return f.router.routed(i, s.Series.Name, s.Series.Tags, s.Series.SinkOnly)
			})
		}
		f.offer(i, others, routed, conflicting, t)
	}
}

// rewrite gives a target with rules its batch. Routes go before rules, so that they see the tags that a sender wrote.
func (f *Flusher) rewrite(r *ruled, iv *aggregate.Interval, t tick) {
	mine, columns := f.routedStates(r.target, iv)
	mine = r.rewriter.apply(mine)
	var emit func(*metric.Series, int) bool
	if columns != nil {
		merged := make(map[*metric.Series]uint64, len(columns))
		for s, mask := range columns {
			merged[r.rewriter.done[s]] |= mask
		}
		emit = func(s *metric.Series, column int) bool { return merged[s]&(1<<column) != 0 }
	}
	points, conflicting := f.render.render(mine, emit)
	f.offer(r.target, mine, points, conflicting, t)
}

// offer hands target i its points, and what else the interval holds for it.
func (f *Flusher) offer(i int, others *aggregate.Interval, points []metric.Point, conflicting int, t tick) {
	target := &f.s.Targets[i]
	batch := &sinks.Batch{End: t.end, Interval: t.covered, Points: points, Events: others.Events, Checks: others.Checks}
	if target.WantsDistributions {
		batch.Distributions = distributions(others.Histograms)
	}
	f.stats.routed[i].Add(uint64(len(points)))
	f.stats.conflicting[i].Add(uint64(conflicting))
	target.Offer(batch)
}

// routedOthers returns an interval with the events and checks that go to target i, and nothing else.
func (f *Flusher) routedOthers(i int, iv *aggregate.Interval) *aggregate.Interval {
	return &aggregate.Interval{
		Checks: selected(iv.Checks, func(c *metric.Check) bool { return f.router.routed(i, c.Name, c.Tags, c.SinkOnly) }),
		// Routes go by metric names, and an event has none: it goes to every sink unless it names one.
		Events: selected(iv.Events, func(e *metric.Event) bool {
			return e.SinkOnly == "" || e.SinkOnly == f.s.Targets[i].Name
		}),
	}
}

// routedStates returns the part of an interval that goes to target i. A histogram is in it when any of its points is; columns then says
// which, a bit each, or is nil when all go. Histograms that a rule merges give the points that any of them gives.
func (f *Flusher) routedStates(i int, iv *aggregate.Interval) (mine *aggregate.Interval, columns map[*metric.Series]uint64) {
	routed := func(s *metric.Series) bool { return f.router.routed(i, s.Name, s.Tags, s.SinkOnly) }
	mine = f.routedOthers(i, iv)
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
			if f.router.routed(i, name, s.Series.Tags, s.Series.SinkOnly) {
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
