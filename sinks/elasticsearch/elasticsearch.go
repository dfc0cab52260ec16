// Package elasticsearch is the sink that indexes spans, points, events and service checks as documents of Elasticsearch or OpenSearch, by the
// bulk protocol.
//
// A Send turns a chunk into documents (document.go and the layouts otel.go, ecs.go, jaeger.go), says for each where it goes (streams.go) and
// what its id is (ids.go), sends them (bulk.go) and reads what became of each (answer.go). What the other side is, and whether it has a
// template for what is to come, is found out before (backend.go).
package elasticsearch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/httpsend"
	"github.com/veneurd/veneur/ssf"
)

// Kind returns the kind "elasticsearch".
func Kind() sinks.Kind {
	return sinks.Define("elasticsearch", DefaultConfig,
		func(c Config, s sinks.Settings) (sinks.MetricSink, error) {
			if c.Layout == layoutJaeger {
				return nil, fmt.Errorf("layout jaeger: %w", sinks.ErrNoMetrics)
			}
			k, err := newSink(&c, s, "points")
			if err != nil || !c.Histograms {
				return k, err
			}
			return distributions{k}, nil
		},
		func(c Config, s sinks.Settings) (sinks.SpanSink, error) { return newSink(&c, s, "spans") })
}

// sink is used by one goroutine at a time, as every sink is.
type sink struct {
	config   *Config
	log      logrus.FieldLogger
	backend  backend
	streams  *streams
	writer   *writer
	layout   layout
	filter   keyFilter
	ids      ids
	auto     bool // ids are the backend's
	counts   *counts
	bulk     bulk
	bulkPath string
	said     [numReasons]time.Time // when one of a reason was last logged
	period   period
}

// distributions is a sink that wants whole distributions.
type distributions struct{ *sink }

// WantsDistributions makes it a sinks.DistributionSink.
func (distributions) WantsDistributions() {}

func newSink(c *Config, s sinks.Settings, signal string) (*sink, error) {
	client, err := httpsend.New(c.Config, httpsend.Settings{Name: s.Name, Telemetry: s.Telemetry})
	if err != nil {
		return nil, err
	}
	k := &sink{
		config:  c,
		log:     s.Log,
		backend: backend{client: client, config: c},
		streams: newStreams(c),
		writer:  newWriter(c, s.Hostname),
		filter:  newKeyFilter(c),
		ids:     ids{host: s.Hostname, short: s.Interval < time.Second},
		auto:    c.IDs == idsAuto,
		counts:  newCounts(s.Telemetry, s.Name, signal),
	}
	for i, name := range leftNames {
		k.filter.left[i] = s.Telemetry.Counter(&descTags, s.Name, signal, name)
	}
	switch c.Layout {
	case layoutECS:
		k.layout = ecs{k.writer}
	case layoutJaeger:
		k.layout = jaeger{k.writer, c.JaegerTagsAsFields}
	default:
		k.layout = otel{k.writer}
	}
	k.bulk.sink = k
	return k, nil
}

// Close lets go of the connections.
func (k *sink) Close() error { return k.backend.client.Close() }

// prepare makes sure that it is known how to write.
func (k *sink) prepare(ctx context.Context) error {
	if k.bulkPath == "" || !k.backend.installed {
		if err := k.backend.prepare(ctx); err != nil {
			return err
		}
		k.bulkPath = k.backend.bulkPath()
		k.writer.fields = metricsAsFields(k.config, &k.backend)
	}
	k.bulk.reset()
	return nil
}

// metricsAsFields is the setting metrics with what auto means. The version is the first whose own templates have the mappings by name.
func metricsAsFields(c *Config, b *backend) bool {
	if c.Metrics == metricsAuto {
		return c.Layout == layoutOTel && c.target() == targetDataStream && b.atLeast(8, 16)
	}
	return c.Metrics == metricsFields
}

// SendSpans indexes a document for every span, and one for each sample that it carries.
func (k *sink) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	if err := k.prepare(ctx); err != nil {
		return err
	}
	own := k.config.Samples == samplesDocuments && k.config.Layout != layoutJaeger
	for i, s := range spans {
		if err := k.addSpan(ctx, i, s); err != nil {
			return err
		}
		for j := range s.Metrics {
			if !own {
				break
			}
			if err := k.addSample(ctx, i, s, j); err != nil {
				return err
			}
		}
	}
	return k.bulk.send(ctx)
}

const nanosPerSecond = 1_000_000_000

func (k *sink) addSpan(ctx context.Context, i int, s *ssf.SSFSpan) error {
	to := k.streams.of(traces, s.StartTimestamp/nanosPerSecond, func(key string) string {
		value, _ := s.Tag(key)
		return value
	})
	d := document{item: item{index: i}, stream: to}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	b := &k.bulk
	if b.id = b.id[:0]; !k.auto {
		b.id = k.ids.appendSpan(b.id, s)
	}
	start := len(b.body)
	b.action(to, b.id)
	body, err := k.layout.span(b.body, s, k.filter.spanTags(s.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}

func (k *sink) addSample(ctx context.Context, i int, s *ssf.SSFSpan, j int) error {
	m := &s.Metrics[j]
	to := k.streams.of(samples, sampleTime(s, m)/nanosPerSecond, func(key string) string {
		value, _ := s.Tag(key)
		return value
	})
	d := document{item: item{index: i}, stream: to, extra: true}
	if ok, err := k.open(ctx, d); !ok {
		return err
	}
	b := &k.bulk
	if b.id = b.id[:0]; !k.auto {
		b.id = k.ids.appendSample(b.id, s, j)
	}
	start := len(b.body)
	b.action(to, b.id)
	body, err := k.layout.sample(b.body, s, m, k.filter.spanTags(m.Tags, to), to)
	b.body = body
	b.end(start, d, err)
	return nil
}

// open makes sure of the stream of a document. ok is false when there is no template for it, or, with an error, when the whole chunk has to
// wait.
func (k *sink) open(ctx context.Context, d document) (ok bool, err error) {
	if d.stream.ready {
		return true, nil
	}
	if d.stream.problem == nil {
		d.stream.problem = k.backend.ensure(ctx, d.stream)
		if d.stream.problem == nil {
			d.stream.ready = true
			return true, nil
		}
		k.bulk.troubled = append(k.bulk.troubled, d.stream)
	}
	var misfit *sinks.ConfigError
	if !errors.As(d.stream.problem, &misfit) {
		return false, d.stream.problem
	}
	k.bulk.misfit = d.stream.problem
	k.bulk.homeless = append(k.bulk.homeless, d)
	return false, nil
}

// sayEvery is how often one of each sort of trouble is logged.
const sayEvery = time.Minute

// complain logs one of each reason a minute: counters tell how many, but not what.
func (k *sink) complain(why reason, s *stream, text string) {
	now := time.Now()
	if now.Sub(k.said[why]) < sayEvery {
		return
	}
	k.said[why] = now
	log := k.log.WithField("reason", why.String()).WithField("index", s.name).WithField("error", shorten(text))
	if reasons[why].loud {
		log.Error("documents are dropped until somebody changes something")
		return
	}
	log.Warn("documents are dropped")
}

const shownBytes = 512

func shorten(text string) string {
	if len(text) > shownBytes {
		text = text[:shownBytes] + "…"
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
}
