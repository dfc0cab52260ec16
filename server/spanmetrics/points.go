package spanmetrics

import (
	"slices"
	"strings"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/sketch/tdigest"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/ssf"
)

// other is what everything is called that has no key of its own. Nothing else is: see escaped.
const other = "_other"

// Names of metrics, after the prefix.
const (
	operationRequests  = "operation.requests"
	operationSeconds   = "operation.seconds"
	operationDuration  = "operation.duration"
	serviceRequests    = "service.requests"
	serviceErrors      = "service.errors"
	serviceSeconds     = "service.seconds"
	serviceDuration    = "service.duration"
	serviceAlive       = "service.alive"
	dependencyRequests = "dependency.requests"
	dependencySeconds  = "dependency.seconds"
	overflowKeys       = "overflow.keys"
	overflowServices   = "overflow.services"
)

// Points makes of a bucket what is flushed: counters, gauges and histograms, whose durations are in seconds. It keeps nothing of the bucket, and is the
// caller's. Exemplars are of the requests of operations: the slowest, of failed ones the latest.
func (s *Stage) Points(c *Closed) (*aggregate.Interval, []metric.Exemplar) {
	p := points{config: &s.s.Config, extend: s.s.ExtendTags, out: &aggregate.Interval{}, names: map[string]string{}}
	if interval := intervalName(c.Duration()); p.config.IntervalIn == inName {
		p.suffix = "." + interval
	} else {
		p.interval = tag("interval", interval)
	}
	for i := range c.Set.Services() {
		m := &c.Set.Services()[i]
		p.begin(escaped(m.Name), m.Tags)
		p.service(m)
		p.excess(c.Set.Excess(i))
	}
	if e, services := c.Set.Overall(); e != nil {
		p.begin(other, nil)
		p.excess(e)
		p.gauge(overflowServices, float64(services), p.tags())
	}
	return p.out, p.exemplars
}

// points is the interval in the making.
type points struct {
	config   *Config
	extend   []string // tags that every series has
	interval string   // the tag, or ""
	suffix   string   // of names, or ""
	out      *aggregate.Interval
	names    map[string]string // whole names by those of the constants
	base     []string          // tags that every series of the service at hand has

	exemplars []metric.Exemplar
}

func (p *points) service(m *partial.Service) {
	p.gauge(serviceAlive, 1, p.tags())
	for i := range m.Operations {
		o := &m.Operations[i]
		tags := p.tags(tag("operation", escaped(o.Name)), errorTag(o.Failed))
		p.counter(operationRequests, weight(o.Duration.Weight()), tags)
		p.exemplar(o)
		p.counter(operationSeconds, seconds(o.Duration.Sum), tags)
		p.histogram(operationDuration, &o.Duration, tags)
	}
	for i := range m.Kinds {
		k := &m.Kinds[i]
		p.kind(&k.Duration, k.Ok, k.Failed, p.tags(tag("kind", escaped(k.Kind))))
	}
	for i := range m.Dependencies {
		d := &m.Dependencies[i]
		tags := p.tags(tag("operation", escaped(d.Name)), errorTag(d.Failed), tag("target_kind", escaped(d.TargetKind)), tag("target", escaped(d.Target)))
		p.counter(dependencyRequests, weight(d.Weight), tags)
		p.counter(dependencySeconds, seconds(d.Sum), tags)
	}
}

// exemplar adds an exemplar of the counter made last.
func (p *points) exemplar(o *partial.Operation) {
	e := metric.Exemplar{Series: p.out.Counters.At(p.out.Counters.Len() - 1).Series, TraceID: int64(o.SlowestTrace), Value: seconds(o.Slowest)}
	if o.LatestTrace != 0 {
		e.TraceID, e.Value, e.Time = int64(o.LatestTrace), seconds(o.LatestTook), int64(o.Latest)
	}
	if e.TraceID != 0 {
		p.exemplars = append(p.exemplars, e)
	}
}

func (p *points) kind(duration *loghist.Sketch, ok, failed uint64, tags []string) {
	p.counter(serviceRequests, weight(loghist.Plus(ok, failed)), tags)
	p.counter(serviceErrors, weight(failed), tags)
	p.counter(serviceSeconds, seconds(duration.Sum), tags)
	p.histogram(serviceDuration, duration, tags)
}

// excess makes the points of what has no key of its own, and says how many keys those are.
func (p *points) excess(e *partial.Excess) {
	if e == nil {
		return
	}
	m := &e.Sums
	if n := m.OperationDuration.Weight(); n > 0 {
		tags := p.tags(tag("operation", other))
		p.counter(operationRequests, weight(n), tags)
		p.counter(operationSeconds, seconds(m.OperationDuration.Sum), tags)
		p.histogram(operationDuration, &m.OperationDuration, tags)
	}
	if loghist.Plus(m.Ok, m.Failed) > 0 {
		p.kind(&m.KindDuration, m.Ok, m.Failed, p.tags(tag("kind", other)))
	}
	if m.DependencyWeight > 0 {
		tags := p.tags(tag("operation", other), tag("target_kind", other), tag("target", other))
		p.counter(dependencyRequests, weight(m.DependencyWeight), tags)
		p.counter(dependencySeconds, seconds(m.DependencySum), tags)
	}
	for _, f := range partial.Families() {
		if keys := e.Keys(f); keys > 0 {
			p.gauge(overflowKeys, float64(keys), p.tags(tag("family", f.String())))
		}
	}
}

// begin goes on to a service. The tags of the configuration override its own.
func (p *points) begin(service string, resource []ssf.Tag) {
	p.base = append(append(p.base[:0], p.extend...), p.interval, tag("service", service))
	for _, t := range resource {
		if !slices.ContainsFunc(p.extend, func(tag string) bool { return metric.TagKey(tag) == t.Key }) {
			p.base = append(p.base, tag(t.Key, t.Value))
		}
	}
}

// tags returns the tags of a series of the service, sorted: those that all of them have and the given ones, empty ones left out.
func (p *points) tags(own ...string) []string {
	tags := make([]string, 0, len(p.base)+len(own))
	tags = append(append(tags, p.base...), own...)
	tags = slices.DeleteFunc(tags, func(tag string) bool { return tag == "" })
	slices.Sort(tags)
	return slices.Compact(tags)
}

// tag returns a tag, "" for one without a value.
func tag(key, value string) string {
	if value == "" {
		return ""
	}
	return key + ":" + value
}

func errorTag(failed bool) string {
	if failed {
		return "error:true"
	}
	return "error:false"
}

// escaped returns what somebody called something, with one more "_" where it would be taken for what has no key of its own, or for one of these.
func escaped(name string) string {
	if len(name) >= len(other) && name[0] == '_' && strings.TrimLeft(name, "_") == other[1:] {
		return "_" + name
	}
	return name
}

func (p *points) series(name string, kind metric.Kind, tags []string) *metric.Series {
	whole, ok := p.names[name]
	if !ok {
		whole = p.config.Prefix + name + p.suffix
		p.names[name] = whole
	}
	return &metric.Series{Name: whole, Tags: tags, Kind: kind}
}

func (p *points) counter(name string, value float64, tags []string) {
	p.out.Counters.Push(aggregate.CounterState{Series: p.series(name, metric.Counter, tags), Value: value})
}

func (p *points) gauge(name string, value float64, tags []string) {
	p.out.Gauges.Push(aggregate.GaugeState{Series: p.series(name, metric.Gauge, tags), Value: value})
}

func (p *points) histogram(name string, m *loghist.Sketch, tags []string) {
	// The buckets stay points of their own, up to twice the compression: a coarser digest would add its error to theirs.
	digest := tdigest.New(tdigest.MaxCompression)
	m.Each(func(index uint32, count uint64) {
		digest.Add(seconds(loghist.Value(index)), weight(count))
	})
	p.out.Histograms.Push(aggregate.HistogramState{Series: p.series(name, metric.Histogram, tags), Digest: digest})
}

func weight(w uint64) float64 { return float64(w) / loghist.One }

func seconds(ns uint64) float64 { return float64(ns) / float64(time.Second) }
