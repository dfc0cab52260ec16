package prometheus

import (
	"bufio"
	"bytes"
	"cmp"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

const interval = 10 * time.Second

// rig is a sink with what surrounds it.
type rig struct {
	*sink
	t        testing.TB
	registry *telemetry.Registry
	log      *logtest.Hook
	end      time.Time // of the next interval
}

func newRig(t testing.TB, change func(*Config)) *rig {
	t.Helper()
	c := DefaultConfig()
	c.ListenAddress = "127.0.0.1:0"
	if change != nil {
		change(&c)
	}
	require.NoError(t, c.Validate())
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	registry := telemetry.New()
	k, err := newSink(c, sinks.Settings{Name: "prom", Interval: interval, Log: log, Telemetry: registry})
	require.NoError(t, err)
	return &rig{sink: k, t: t, registry: registry, log: hook, end: time.Unix(1_700_000_000, 0)}
}

// interval sends one whole interval and returns how many of its items were refused.
func (r *rig) interval(b *sinks.Batch) int {
	r.t.Helper()
	b.End, b.Interval = r.end, cmp.Or(b.Interval, interval)
	r.end = r.end.Add(interval)
	err := r.Send(r.t.Context(), b)
	if err == nil {
		return 0
	}
	var partial *sinks.PartialError
	require.ErrorAs(r.t, err, &partial)
	return partial.Refused
}

func (r *rig) points(points ...metric.Point) int {
	r.t.Helper()
	return r.interval(&sinks.Batch{Points: points})
}

// lines returns the samples of the page as text.
func (r *rig) lines() []string {
	r.t.Helper()
	body, err := encoded(r.current.Load(), textForm)
	require.NoError(r.t, err)
	parsed(r.t, body)
	var lines []string
	for line := range strings.Lines(string(body)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// encoded returns the page in one form, as a scraper gets it that does not take it compressed.
func encoded(p *page, f form) ([]byte, error) {
	b, err := p.body(f)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	err = b.writePlain(&buf)
	return buf.Bytes(), err
}

func (r *rig) refused(why reason) float64 {
	return r.registry.Value("sink.prometheus.refused", "reason:"+reasonNames[why])
}

// parsed reads a page as a scraper does that knows the old names only.
func parsed(t testing.TB, body []byte) map[string]*dto.MetricFamily {
	t.Helper()
	require.NotContains(t, string(body), "\x00", "Prometheus stops reading there")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	require.NoError(t, err, "%s", body)
	return families
}

// decoded reads a page of delimited messages.
func decoded(t testing.TB, body []byte) map[string]*dto.MetricFamily {
	t.Helper()
	families := map[string]*dto.MetricFamily{}
	dec := expfmt.NewDecoder(bufio.NewReader(bytes.NewReader(body)), expfmt.FmtProtoDelim)
	for {
		var f dto.MetricFamily
		if err := dec.Decode(&f); err != nil {
			require.EqualError(t, err, "EOF")
			return families
		}
		require.NotContains(t, families, f.GetName())
		families[f.GetName()] = &f
	}
}

func counter(name string, value float64, tags ...string) metric.Point {
	return metric.Point{
		Series: &metric.Series{Name: name, Tags: tags, Kind: metric.Counter}, Name: name, Value: value, Type: metric.CounterPoint,
	}
}

func gauge(name string, value float64, tags ...string) metric.Point {
	return metric.Point{
		Series: &metric.Series{Name: name, Tags: tags, Kind: metric.Gauge}, Name: name, Value: value, Type: metric.GaugePoint,
	}
}

func at(p metric.Point, unix int64) metric.Point {
	p.Time = unix
	return p
}

// aggregates returns the points that a histogram gives, as the daemon does.
func aggregates(s *metric.Series, d metric.Digest) []metric.Point {
	return []metric.Point{
		{Series: s, Name: s.Name + ".min", Value: d.Min(), Type: metric.GaugePoint},
		{Series: s, Name: s.Name + ".max", Value: d.Max(), Type: metric.GaugePoint},
		{Series: s, Name: s.Name + ".count", Value: d.Count(), Type: metric.CounterPoint},
		{Series: s, Name: s.Name + ".99percentile", Value: d.Quantile(0.99), Type: metric.GaugePoint},
	}
}
