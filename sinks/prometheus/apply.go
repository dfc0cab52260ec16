package prometheus

import (
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/veneurd/veneur/internal/pace"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// board adds what intervals bring to a store. It is not safe for concurrent use.
type board struct {
	*store
	percentiles []float64
	digests     dto.MetricType // what a digest becomes; a counter when there are none
	expireAfter time.Duration
	interval    time.Duration // of the daemon

	start    time.Time // of the clock
	fresh    bool      // nothing of the interval has come yet
	refusals refusals

	waiting blocks[metric.Point] // aggregates that a digest of the interval says too, if it comes
	pools   map[*series]*pool    // of the digests of the interval, where several entries give one

	exemplars bool // some counter has had one

	pacer pace.Pacer // a page of many series is long work
}

// pool is digests that entries of one series gave in an interval.
type pool struct {
	centroids []centroid
	digests   int
}

// newBoard returns an empty one of a daemon that has such an interval.
func newBoard(c Config, interval time.Duration) *board {
	b := &board{
		store:       newStore(c.Prefix, c.MaxSeries),
		percentiles: c.Percentiles,
		expireAfter: c.ExpireAfter,
		interval:    interval,
		start:       time.Now(),
		fresh:       true,
		pools:       map[*series]*pool{},
	}
	b.moment.round = 1
	switch c.Histograms {
	case asSummary:
		b.digests = dto.MetricType_SUMMARY
	case asNative:
		b.digests = dto.MetricType_HISTOGRAM
	}
	return b
}

// add adds a chunk of an interval. It keeps series, which never change, and nothing else of it.
func (b *board) add(chunk *sinks.Batch, now time.Time) {
	b.pacer.Begin()
	b.moment.seen, b.moment.end = now.Sub(b.start), chunk.End.Unix()
	// The first interval of a daemon is short, and what comes in it comes again when the usual time has passed.
	every := max(chunk.Interval, b.interval, time.Millisecond)
	b.moment.every = uint32(min(every/time.Millisecond, math.MaxUint32))
	if b.fresh {
		b.latest.take(b.moment)
		b.fresh = false
	}
	for i := range chunk.Points {
		p := &chunk.Points[i]
		if b.digests != dto.MetricType_COUNTER && saidByDigest(p) {
			b.waiting.add(*p)
			continue
		}
		b.point(p)
		b.step(i)
	}
	for i := range chunk.Exemplars {
		b.exemplar(&chunk.Exemplars[i])
	}
	// All of them first, so that each is known to be shared before it is read. What is here again makes no room for those behind it.
	for i := range chunk.Distributions {
		s := chunk.Distributions[i].Series
		if e, _ := b.get(b.digests, s.Name, s.Tags); e != nil {
			e.moment = b.moment
		}
	}
	for i := range chunk.Distributions {
		b.digest(&chunk.Distributions[i])
		b.step(i)
	}
	for i := range chunk.Events {
		b.event(&chunk.Events[i])
	}
	for i := range chunk.Checks {
		b.check(&chunk.Checks[i])
	}
}

// step lets the pacer rest from time to time, with the lock of the sink held: what waits for that lock is no reader of sockets, and no scrape.
func (b *board) step(i int) {
	if i%stepSeries == stepSeries-1 {
		b.pacer.Step()
	}
}

const stepSeries = 32 // a microsecond each, about

// finish ends the interval. Points of histograms whose digests went elsewhere are shown after all.
func (b *board) finish() {
	b.pacer.Begin()
	i := 0
	for p := range b.waiting.all() {
		b.step(i)
		i++
		if e := b.find(b.digests, p.Series.Name, p.Series.Tags); e == nil || e.round != b.moment.round {
			b.point(p)
		}
	}
	b.waiting.clear()
	for k, p := range b.pools {
		if p.digests > 1 {
			whole := *k.value.detail.(*summary)
			whole.quantiles = quantiles(p.centroids, b.percentiles)
			k.value.detail = &whole
		}
	}
	clear(b.pools)
	b.moment.round++
	b.fresh = true
}

// saidByDigest says whether a summary or a native histogram shows what p does. It does not show the least and the greatest value, nor the
// harmonic mean.
func saidByDigest(p *metric.Point) bool {
	if p.Series.Kind.Class() != metric.Histogram {
		return false
	}
	suffix, ok := strings.CutPrefix(p.Name, p.Series.Name)
	switch suffix {
	case ".count", ".sum", ".avg", ".median":
		return ok
	}
	return ok && strings.HasSuffix(suffix, "percentile")
}

func (b *board) point(p *metric.Point) {
	if p.Type == metric.CounterPoint {
		b.count(p.Name, p.Series.Tags, p.Value)
		return
	}
	at := b.moment.end
	if p.Time != 0 {
		at = min(p.Time, at) // a time in the future would keep out what comes until then
	}
	if b.expireAfter > 0 && b.moment.end-at > int64(b.expireAfter/time.Second) {
		b.refusals.add(tooOld, p.Name)
		return
	}
	b.set(p.Name, p.Series.Tags, p.Value, at, p.Time != 0)
}

// count adds to a counter, whenever that happened: a page has no past to put it in.
func (b *board) count(name string, tags []string, by float64) {
	if !(by >= 0) {
		b.refusals.add(negative, name)
		return
	}
	e, why := b.get(dto.MetricType_COUNTER, name, tags)
	if e == nil {
		b.refusals.add(why, name)
		return
	}
	e.series.value.number = saturatingAdd(e.series.value.number, by)
	b.touch(e)
}

// exemplar gives a counter that is there its exemplar, in place of the one before.
func (b *board) exemplar(x *metric.Exemplar) {
	e := b.find(dto.MetricType_COUNTER, x.Series.Name, x.Series.Tags)
	if e == nil {
		return
	}
	e.series.value.detail = &exemplar{trace: x.TraceID, value: x.Value, time: x.Time}
	b.exemplars = true
}

// set gives a gauge its value, unless it is a timed one and the gauge has a newer value. What came without a time is always new.
func (b *board) set(name string, tags []string, to float64, at int64, timed bool) {
	e, why := b.get(dto.MetricType_GAUGE, name, tags)
	if e == nil {
		b.refusals.add(why, name)
		return
	}
	k := e.series
	if k.by != nil && k.by != e && k.round == b.moment.round {
		b.refusals.add(overwritten, name) // whichever of the two it is
	}
	round := e.round
	e.moment = b.moment
	if timed && at < k.time && k.time <= b.moment.end { // later than the end is what was set before the clock was put back
		e.round = round // the page goes on as it was
		return
	}
	k.value.number, k.time = to, at
	b.touch(e)
}

func (b *board) digest(p *metric.DigestPoint) {
	e, why := b.get(b.digests, p.Series.Name, p.Series.Tags)
	if e == nil {
		b.refusals.add(why, p.Series.Name)
		return
	}
	k := e.series
	if b.digests == dto.MetricType_HISTOGRAM {
		before, _ := k.value.detail.(*histogram)
		k.value.detail = before.plus(p.Digest)
		b.touch(e)
		return
	}
	s := &summary{count: p.Digest.Count(), sum: p.Digest.Sum(), quantiles: make([]float64, len(b.percentiles))}
	if before, ok := k.value.detail.(*summary); ok {
		s.count = saturatingAdd(s.count, before.count)
		s.sum = saturatingAdd(s.sum, before.sum)
	}
	for i, q := range b.percentiles {
		s.quantiles[i] = p.Digest.Quantile(q)
	}
	k.value.detail = s
	if k.entries > 1 {
		all := b.pools[k]
		if all == nil {
			all = new(pool)
			b.pools[k] = all
		}
		all.centroids = appendCentroids(all.centroids, p.Digest)
		if len(all.centroids) > maxPool {
			all.centroids = thinned(all.centroids)
		}
		all.digests++
	}
	b.touch(e)
}

// What becomes of events and service checks, which Prometheus does not have.
const (
	eventsName = "veneur.events"
	checkName  = "veneur.service_check.status"
)

// event counts one: a page has no place for its text.
func (b *board) event(e *metric.Event) {
	b.count(eventsName, []string{"alert_type:" + e.AlertType}, 1)
}

// check shows the status of the last one to arrive.
func (b *board) check(c *metric.Check) {
	tags := make([]string, 0, len(c.Tags)+2)
	tags = append(tags, "check:"+c.Name)
	if c.Host != "" {
		tags = append(tags, "host:"+c.Host)
	}
	b.set(checkName, append(tags, c.Tags...), float64(c.Status), b.moment.end, false)
}

func (b *board) touch(e *entry) {
	e.moment = b.moment
	e.series.by, e.series.round = e, b.moment.round
}

// saturatingAdd keeps to finite numbers: a counter at infinity would never move again, and its rate would be no number.
func saturatingAdd(a, b float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, a+b))
}
