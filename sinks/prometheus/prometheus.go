package prometheus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// Kind returns the kind "prometheus".
func Kind() sinks.Kind {
	return sinks.Define("prometheus", DefaultConfig,
		func(c Config, s sinks.Settings) (sinks.MetricSink, error) {
			k, err := newSink(c, s)
			if err != nil {
				return nil, err
			}
			if c.Histograms == asPoints {
				return k, nil
			}
			return &digestSink{k}, nil
		}, nil)
}

// sink adds intervals to a board and serves the page made of it.
type sink struct {
	*server
	name     string
	counters [numReasons]*telemetry.Metric
	removed  [numLeavings]*telemetry.Metric

	mu    sync.Mutex // held by Send and by expiry, never by a scrape
	board *board
	open  bool          // some of an interval is on the board, and more is to come
	until time.Time     // its end
	long  time.Duration // and how long it is
}

// digestSink is a sink that shows summaries or native histograms.
type digestSink struct{ *sink }

// WantsDistributions makes it a sinks.DistributionSink.
func (*digestSink) WantsDistributions() {}

func newSink(c Config, s sinks.Settings) (*sink, error) {
	if c.ExpireAfter > 0 && c.ExpireAfter < 2*s.Interval {
		return nil, fmt.Errorf("expire_after: %s is less than two intervals of %s: what is sent every time would come and go", c.ExpireAfter, s.Interval)
	}
	k := &sink{name: s.Name, board: newBoard(c, s.Interval)}
	k.server = newServer(c, s.Log, s.Telemetry.Counter(&descScrapes, s.Name))
	k.server.show(k.board.page())
	for why := accepted + 1; why < numReasons; why++ {
		k.counters[why] = s.Telemetry.Counter(&descRefused, s.Name, reasonNames[why])
	}
	for why := range numLeavings {
		k.removed[why] = s.Telemetry.Counter(&descRemoved, s.Name, leavingNames[why])
	}
	s.Telemetry.Func(&descSeries, func() float64 {
		held, _ := k.size()
		return float64(held)
	}, s.Name)
	s.Telemetry.Func(&descMerged, func() float64 {
		held, lines := k.size()
		return float64(held - lines)
	}, s.Name)
	return k, nil
}

func (k *sink) size() (held, lines int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.board.entries), k.board.lines
}

// Send adds a chunk. The page changes when its interval is whole. It never waits for a scraper, so ctx does not matter.
func (k *sink) Send(_ context.Context, chunk *sinks.Batch) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open && (!k.until.Equal(chunk.End) || k.long != chunk.Interval) { // span metrics have several that end at once
		k.finish() // what was to come was lost on the way
	}
	k.board.scraped = k.scraped.Load()
	k.board.add(chunk, time.Now())
	k.open, k.until, k.long = true, chunk.End, chunk.Interval
	if !chunk.More {
		k.finish()
	}
	k.count()
	return k.board.refusals.take(&k.counters)
}

func (k *sink) finish() {
	k.board.finish()
	k.open = false
	k.show(k.board.page())
}

// Run serves the page and takes idle series off it until ctx is done.
func (k *sink) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var expiry sync.WaitGroup
	defer expiry.Wait()
	defer cancel()
	expiry.Go(func() { k.expireUntil(ctx) })
	return k.server.Run(ctx)
}

// expireUntil looks for idle series on its own, since an interval in which nobody sends anything is not sent either.
func (k *sink) expireUntil(ctx context.Context) {
	if k.board.expireAfter == 0 {
		return
	}
	ticker := time.NewTicker(max(100*time.Millisecond, min(k.board.expireAfter/10, 30*time.Second)))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			k.expire(now)
		}
	}
}

func (k *sink) expire(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.board.pacer.Begin()
	if k.board.expire(now.Sub(k.board.start), k.board.expireAfter, k.board.step) && !k.open {
		k.show(k.board.page())
	}
	k.count()
}

// count tells the registry what has left.
func (k *sink) count() {
	for why, n := range k.board.gone {
		if n > 0 {
			k.removed[why].Add(uint64(n))
		}
	}
	k.board.gone = [numLeavings]int{}
}
