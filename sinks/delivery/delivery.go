package delivery

import (
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/pace"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// Settings is what the daemon gives a Delivery, beside what its user wrote.
type Settings struct {
	Name      string        // the sink's; in errors, logs and telemetry
	Interval  time.Duration // the daemon's; see Common.Timeout
	Log       logrus.FieldLogger
	Telemetry *telemetry.Registry
	// DrainTimeout is for how long, once told to stop, Run goes on sending what waits; 0 expires it at once, and leaves it on disk where it
	// is there. Run returns at most
	// three seconds after that, whatever the sink does.
	DrainTimeout time.Duration
}

// Delivery delivers intervals to one metric sink. Offer, Ledger and Failing may be called at any time by any goroutine; Start, Run and Close
// are its life, as package lifecycle has it.
type Delivery struct {
	*core
	sink          sinks.MetricSink
	filter        filter
	distributions bool
	filtered      map[Reason]*telemetry.Metric
}

// New wraps a sink. The configuration must be valid. Nothing is opened or started.
func New(sink sinks.MetricSink, cfg Config, s Settings) *Delivery {
	d := &Delivery{
		core:     newCore(sink, "points", cfg.Common, 0, s, decodeBatch(sink)),
		sink:     sink,
		filter:   filter{cfg.MaxNameLength, cfg.MaxTagLength, cfg.MaxTags},
		filtered: filteredBy(s),
	}
	_, d.distributions = sink.(sinks.DistributionSink)
	return d
}

// Offer takes an interval over for delivery, in as many batches as it has: they are queued, dropped and given up together. It costs one pass
// over them, with rests between batches, waits for nobody, and keeps them; they must not change any more. A full queue drops its oldest interval. After Run has returned
// everything offered is expired.
func (d *Delivery) Offer(interval ...*sinks.Batch) { d.OfferUntil(nil, nil, interval...) }

// OfferUntil is Offer, and says when it is done with the interval. free is called when the arrays of points are not read any more and may be
// used for something else; done when it was sent, refused, dropped, given up, or is on disk. Each may be nil and is called once at most: not for what
// is lost because Run ends, which whoever offers it may then offer again. They are called from any goroutine, with a lock held: they must not block,
// nor call the delivery.
func (d *Delivery) OfferUntil(free, done func(), interval ...*sinks.Batch) {
	dropped := 0
	drop := func(r Reason) {
		dropped++
		d.filtered[r].Inc()
	}
	p := &parcel{born: time.Now(), free: free, done: done}
	var pacer pace.Pacer
	pacer.Begin()
	var kept []*sinks.Batch
	var lent [][]metric.Point // the points of each of kept as they were offered
	for _, given := range interval {
		b := given
		if !d.distributions && b.Distributions != nil {
			without := *b
			without.Distributions = nil
			b = &without
		}
		b = d.filter.apply(b, drop) // which makes it our own, its arrays not
		cuts, bytes := cut(b, d.cfg.ChunkItems, d.cfg.ChunkBytes)
		if len(cuts) == 0 {
			continue
		}
		for _, end := range cuts {
			p.cuts = append(p.cuts, p.items+end)
		}
		p.items += b.Len()
		p.bytes += bytes
		b.More = true
		kept, lent = append(kept, b), append(lent, given.Points)
		pacer.Step()
	}
	if dropped > 0 {
		// What is held must be what is counted: a few items kept of a million would hold the memory of all as long as the sink hangs.
		for i, b := range kept {
			if len(b.Points) > 0 && &b.Points[0] == &lent[i][0] {
				b.Points = slices.Clone(b.Points)
			}
		}
		p.letGo()
	}
	if len(kept) == 0 {
		d.queue.push(nil, dropped)
		p.tell()
		return
	}
	kept[len(kept)-1].More = interval[len(interval)-1].More
	p.cargo = batch{kept[0], d.sink, kept[1:]}
	d.queue.push(p, dropped)
}
