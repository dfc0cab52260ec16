package flush

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/pace"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
)

// Lane is what the flusher needs of a lane.
type Lane interface {
	// Flip starts a new generation of the lane's table, under the lane's lock, and returns how many items the one before holds: series with
	// values, points with times, events and checks.
	Flip() int
	// Held returns how many items the present generation holds. It takes the lane's lock.
	Held() int
	// WithLock calls f with the lane's lock held.
	WithLock(f func())
}

// Target is one metric sink, as the flusher sees it.
type Target struct {
	Name               string
	Rules              Rules
	ExcludedTags       []string // keys of tags_exclude entries that name the sink
	WantsDistributions bool
	// Offer takes one interval over, as one batch or as several, and never blocks. It calls free when the arrays of points are not read any more,
	// since they are used again, and done when the interval is delivered or given up, see package delivery: each at most once, from any goroutine.
	// done may be nil.
	Offer func(free, done func(), interval ...*sinks.Batch)
}

// Settings is what a Flusher works with.
type Settings struct {
	Config    Config
	Lanes     []Lane
	Collector *aggregate.Collector // over the tables of Lanes, in their order
	Targets   []Target
	BeforeEnd func() // called at each tick, by Run's goroutine, before the lanes flip; may be nil
	Telemetry *telemetry.Registry
	Log       logrus.FieldLogger
}

// Flusher ends the intervals: it flips the lanes, collects what they held, makes points and offers each sink its batch.
type Flusher struct {
	s      Settings
	render *renderer
	router *router
	plain  []*output // outputs without rules, which share their points
	ruled  []*output
	stats  stats
	pacer  pace.Pacer
	step   func() // the pacer's
	left   leftovers

	told    time.Time    // when a conflict was last logged
	flushed atomic.Int64 // when the last flush ended, since begun
	begun   time.Time

	// Of an Extra: what is told which target is done with the interval, which targets are not to have it, and exemplars of it.
	done      func(target string)
	had       []string
	exemplars []metric.Exemplar
}

// output is a target and what is made for it.
type output struct {
	*Target
	index int // in Settings.Targets and in the router
	// rewriter applies the rules, and merges what is for this sink only with what is for everybody. An output without rules uses it
	// in the intervals that hold something for this sink only.
	rewriter *rewriter
}

// New returns a flusher; it starts nothing.
func New(s Settings) *Flusher {
	f := &Flusher{s: s, begun: time.Now()}
	f.pacer.Most = s.Config.Interval / restShare
	f.step = f.pacer.Step
	if s.Collector != nil {
		s.Collector.Pace(f.step)
	}
	f.render = newRenderer(s.Config, f.step)
	names := make([]string, len(s.Targets))
	for i := range s.Targets {
		target := &s.Targets[i]
		names[i] = target.Name
		o := &output{target, i, newRewriter(target.Rules, target.ExcludedTags)}
		if o.rewriter.hasRules() {
			f.ruled = append(f.ruled, o)
		} else {
			f.plain = append(f.plain, o)
		}
	}
	f.router = newRouter(names, s.Config.MetricSinkRouting)
	f.stats = newStats(s.Telemetry, names)
	f.left.init(f)
	return f
}

// Run flushes at every tick until ctx is done, and then once more when the configuration says so.
func (f *Flusher) Run(ctx context.Context) error {
	now := time.Now()
	c := newClock(f.s.Config.Interval, f.s.Config.SynchronizeWithInterval, now)
	f.flushed.Store(int64(now.Sub(f.begun)))
	f.pacer.Hurry = ctx.Done()
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
	if t.setBack > 0 {
		f.s.Log.WithField("by", t.setBack).Warn("the wall clock was set back: the times of points go back too")
	}
	if f.s.BeforeEnd != nil {
		f.s.BeforeEnd()
	}
	f.left.flip()
	f.pacer.Begin()
	iv := f.s.Collector.Collect()
	f.s.Collector.MergeScopes(iv)
	f.render.begin()
	f.share(iv, t)
	for _, o := range f.ruled {
		f.rewrite(o, iv, t)
	}
	f.left.offeredAll()
	f.s.Collector.Release(iv)
	// At a stop all that would be forgotten goes with the process, and the interval after this one may have to be flushed in the same time.
	gaveBack := !f.stopping() && f.s.Collector.Expire(func(table int, do func()) {
		f.s.Lanes[table].WithLock(do)
	})

	f.flushed.Store(int64(time.Since(f.begun)))
	f.stats.flushes.Inc()
	f.stats.duration.Set(time.Since(start).Seconds())
	f.stats.covered.Set(t.covered.Seconds())
	if gaveBack {
		// Each waits here, and the lanes do not. What the first one frees goes back to the system bit by bit, by the runtime's scavenger,
		// which leaves alone what was in use at the collection before the last one: hence a second one, of what little is left.
		runtime.GC()
		runtime.GC()
	}
}

// restShare is the part of an interval that rests may take: a flush shall end before the next one.
const restShare = 10

func (f *Flusher) stopping() bool {
	select {
	case <-f.pacer.Hurry:
		return true
	default:
		return false
	}
}
