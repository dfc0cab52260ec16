package prometheus

import (
	"math"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// board adds what intervals bring to a store. It is not safe for concurrent use.
type board struct {
	*store
	percentiles []float64
	digests     dto.MetricType // what a digest becomes; a counter when there are none
	expireAfter time.Duration

	round    uint64    // number of the interval
	now      time.Time // of the Send, or later: what it brings stays as if it had come then
	end      int64     // of its interval, unix seconds
	refusals refusals

	waiting []metric.Point // aggregates that a digest of the interval says too, if it comes
	pools   []*series      // those with a pool

	exemplars bool // some counter has had one
}

func newBoard(c Config) *board {
	b := &board{
		store:       newStore(c.Prefix, c.MaxSeries),
		percentiles: c.Percentiles,
		expireAfter: c.ExpireAfter,
		round:       1,
	}
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
	b.now, b.end = now, chunk.End.Unix()
	// What comes once in ten minutes, as span metrics may, stays until it can come again, whatever expire_after says of the others.
	if more := 2*chunk.Interval - b.expireAfter; more > 0 {
		b.now = now.Add(more)
	}
	for i := range chunk.Points {
		p := &chunk.Points[i]
		if b.digests != dto.MetricType_COUNTER && saidByDigest(p) {
			b.waiting = append(b.waiting, *p)
			continue
		}
		b.point(p)
	}
	for i := range chunk.Exemplars {
		b.exemplar(&chunk.Exemplars[i])
	}
	// All of them first, so that each is known to be shared before it is read.
	for i := range chunk.Distributions {
		s := chunk.Distributions[i].Series
		_, _ = b.get(b.digests, s.Name, s.Tags)
	}
	for i := range chunk.Distributions {
		b.digest(&chunk.Distributions[i])
	}
	for i := range chunk.Events {
		b.event(&chunk.Events[i])
	}
	for i := range chunk.Checks {
		b.check(&chunk.Checks[i])
	}
}

// finish ends the interval. Points of histograms whose digests went elsewhere are shown after all.
func (b *board) finish() {
	for i := range b.waiting {
		p := &b.waiting[i]
		if e := b.find(b.digests, p.Series.Name, p.Series.Tags); e == nil || e.round != b.round {
			b.point(p)
		}
	}
	if cap(b.waiting) > maxKept {
		b.waiting = nil
	}
	clear(b.waiting)
	b.waiting = b.waiting[:0]
	for _, k := range b.pools {
		if k.pooled > 1 {
			whole := *k.value.summary
			whole.quantiles = quantiles(k.pool, b.percentiles)
			k.value.summary = &whole
		}
		k.pool, k.pooled = nil, 0
	}
	clear(b.pools)
	b.pools = b.pools[:0]
	b.round++
}

const maxKept = 1 << 16 // points; a list that one huge interval has grown is let go

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
	at := b.end
	if p.Time != 0 {
		at = min(p.Time, b.end) // a time in the future would keep out what comes until then
	}
	if b.expireAfter > 0 && b.end-at > int64(b.expireAfter/time.Second) {
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
	name, trace := "trace_id", strconv.FormatInt(x.TraceID, 10)
	m := &dto.Exemplar{Label: []*dto.LabelPair{{Name: &name, Value: &trace}}, Value: &x.Value}
	if x.Time > 0 {
		m.Timestamp = timestamppb.New(time.Unix(x.Time, 0))
	}
	e.series.value.exemplar = m
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
	if k.by != nil && k.by != e && k.round == b.round {
		b.refusals.add(overwritten, name) // whichever of the two it is
	}
	e.seen = b.now
	if timed && at < k.time && k.time <= b.end { // later than the end is what was set before the clock was put back
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
		k.value.histogram = k.value.histogram.plus(p.Digest)
		b.touch(e)
		return
	}
	s := &summary{count: p.Digest.Count(), sum: p.Digest.Sum(), quantiles: make([]float64, len(b.percentiles))}
	if before := k.value.summary; before != nil {
		s.count = saturatingAdd(s.count, before.count)
		s.sum = saturatingAdd(s.sum, before.sum)
	}
	for i, q := range b.percentiles {
		s.quantiles[i] = p.Digest.Quantile(q)
	}
	k.value.summary = s
	if k.entries > 1 {
		if k.pooled == 0 {
			b.pools = append(b.pools, k)
		}
		k.pool = appendCentroids(k.pool, p.Digest)
		k.pooled++
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
	b.set(checkName, append(tags, c.Tags...), float64(c.Status), b.end, false)
}

func (b *board) touch(e *entry) {
	e.seen, e.round = b.now, b.round
	e.series.by, e.series.round = e, b.round
}

// saturatingAdd keeps to finite numbers: a counter at infinity would never move again, and its rate would be no number.
func saturatingAdd(a, b float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, a+b))
}
