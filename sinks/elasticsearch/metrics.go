package elasticsearch

import (
	"context"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// Mappings by which Elasticsearch makes the field of a metric that is new. Its own templates have these names, and so have those of this
// sink. Counters are gauges there: ours are what accrued in an interval, and a counter of a time series only grows.
const (
	mappingGauge     = "gauge_double"
	mappingHistogram = "histogram"
)

// Send indexes a document for every point, distribution, event and service check.
func (k *sink) Send(ctx context.Context, chunk *sinks.Batch) error {
	if err := k.prepare(ctx); err != nil {
		return err
	}
	k.period = period{chunk.End, chunk.Interval}
	for i := range chunk.Points {
		if err := k.addPoint(ctx, i, &chunk.Points[i]); err != nil {
			return err
		}
	}
	for i := range chunk.Distributions {
		if err := k.addDigest(ctx, i, &chunk.Distributions[i]); err != nil {
			return err
		}
	}
	for i := range chunk.Events {
		if err := k.addEvent(ctx, i, &chunk.Events[i]); err != nil {
			return err
		}
	}
	for i := range chunk.Checks {
		if err := k.addCheck(ctx, i, &chunk.Checks[i]); err != nil {
			return err
		}
	}
	return k.bulk.send(ctx)
}

// place finds where a document with tags of a series goes.
func (k *sink) place(of family, seconds int64, tags []string) *stream {
	return k.streams.of(of, seconds, func(key string) string { return tagOf(tags, key) })
}

func (k *sink) addPoint(ctx context.Context, i int, p *metric.Point) error {
	to := k.place(points, pointTime(p, k.period.end), p.Series.Tags)
	d := document{item: item{sinks.Points, i}, stream: to}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	b := &k.bulk
	start := len(b.body)
	switch b.id = b.id[:0]; {
	case k.writer.fields:
		b.fieldAction(to, p.Name, mappingGauge)
	case k.auto:
		b.action(to, nil)
	default:
		b.id = k.ids.appendPoint(b.id, p, k.period.end)
		b.action(to, b.id)
	}
	body, err := k.layout.point(b.body, p, &k.period, k.filter.seriesTags(p.Series.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}

func (k *sink) addDigest(ctx context.Context, i int, p *metric.DigestPoint) error {
	to := k.place(points, k.period.end.Unix(), p.Series.Tags)
	d := document{item: item{sinks.Distributions, i}, stream: to}
	b := &k.bulk
	if k.backend.openSearch {
		b.drop(d, reasonUnsupported, "OpenSearch has no type for distributions")
		return nil
	}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	start := len(b.body)
	switch b.id = b.id[:0]; {
	case k.writer.fields:
		b.fieldAction(to, p.Series.Name, mappingHistogram)
	case k.auto:
		b.action(to, nil)
	default:
		b.id = k.ids.appendDigest(b.id, p, k.period.end)
		b.action(to, b.id)
	}
	body, err := k.layout.digest(b.body, p, &k.period, k.filter.seriesTags(p.Series.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}

func (k *sink) addEvent(ctx context.Context, i int, e *metric.Event) error {
	to := k.place(logs, e.Time, e.Tags)
	d := document{item: item{sinks.Events, i}, stream: to}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	b := &k.bulk
	if b.id = b.id[:0]; !k.auto {
		b.id = k.ids.appendEvent(b.id, e)
	}
	start := len(b.body)
	b.action(to, b.id)
	body, err := k.layout.event(b.body, e, k.filter.seriesTags(e.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}

func (k *sink) addCheck(ctx context.Context, i int, c *metric.Check) error {
	to := k.place(logs, c.Time, c.Tags)
	d := document{item: item{sinks.Checks, i}, stream: to}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	b := &k.bulk
	if b.id = b.id[:0]; !k.auto {
		b.id = k.ids.appendCheck(b.id, c)
	}
	start := len(b.body)
	b.action(to, b.id)
	body, err := k.layout.check(b.body, c, k.filter.seriesTags(c.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}
