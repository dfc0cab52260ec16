package prometheus

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// FuzzPage reads its input as lines of the form name|type|tag,tag and sends each three times, two of them under names that become equal.
// Whatever stands in them, both forms of the page can be read and say the same, no line of it stands twice, and no counter's part is lost.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		"a.b|c|x:1\na_b|c|x:1\na_b|g|x:1\na-b|h|x:1",
		"a|c|k:1,k:2\na|c|k,k:\na|c|:v\na|c|:\na|c|",
		"a|c|a.b:1,a_b:2\na|h|le:1,quantile:x,__name__:y,job:z",
		"t|h|\nt.sum|g|\nt_count|c|\nt_count_total|g|\nt_bucket|g|",
		"ключ|g|größe:日本\n\xff\xfe|c|\xc3\x28:\xa0\n\x00|c|\x00:\x00",
		"9|c|9:9\n|g|\n_|g|_:_\n__|c|__:__",
		"x|s|\nx|e|\nveneur.events|c|alert_type:\n\"\\|g|n:\"\\",
		"x_total|g|\nx|c|\nx.total|c|",
	} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, input string, native bool) {
		r := newRig(t, func(c *Config) {
			if native {
				c.Histograms = asNative
			}
		})
		sent, refused := 0.0, 0
		for _, line := range strings.SplitN(input, "\n", 50) {
			b, counted := fuzzBatch(line)
			for range 3 {
				sent += float64(counted)
				refused += r.interval(b)
			}
		}
		text, err := encoded(r.current.Load(), textForm)
		require.NoError(t, err)
		proto, err := encoded(r.current.Load(), protoForm)
		require.NoError(t, err)

		want, got := decoded(t, proto), parsed(t, text)
		requireUnique(t, want)
		requireUnique(t, got)
		require.Equal(t, counters(want), counters(got))
		total := 0.0
		for _, v := range counters(got) {
			total += v
		}
		require.LessOrEqual(t, total, sent)
		require.GreaterOrEqual(t, total, sent-float64(refused))
		if refused == 0 {
			require.Equal(t, sent, total)
		}
		require.Equal(t, len(r.board.entries) > 0, len(got) > 0)
	})
}

// fuzzBatch makes an item of a line, and says how much it adds to counters.
func fuzzBatch(line string) (b *sinks.Batch, counted int) {
	name, rest, _ := strings.Cut(line, "|")
	typ, list, _ := strings.Cut(rest, "|")
	var tags []string
	if list != "" {
		tags = strings.Split(list, ",")
		slices.Sort(tags)
	}
	switch typ {
	case "g":
		return &sinks.Batch{Points: []metric.Point{gauge(name, math.Inf(1), tags...), gauge(name, 1, tags...)}}, 0
	case "h":
		s := &metric.Series{Name: name, Tags: tags, Kind: metric.Histogram}
		d := sinktest.NewDigest(-1, 0, 2)
		return &sinks.Batch{
			Points: aggregates(s, d)[:2], Distributions: []metric.DigestPoint{{Series: s, Digest: d}},
		}, 0
	case "s":
		return &sinks.Batch{Checks: []metric.Check{{Name: name, Host: name, Status: metric.Warning, Tags: tags}}}, 0
	case "e":
		return &sinks.Batch{Events: []metric.Event{{Title: name, AlertType: name, Tags: tags}}}, 1
	default:
		return &sinks.Batch{Points: []metric.Point{counter(name, 1, tags...), counter(name+".", 1, tags...), counter(name+"-", 1, tags...)}}, 3
	}
}

// requireUnique asserts what Prometheus asks of a page: no series twice, no label twice.
func requireUnique(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	for name, f := range families {
		seen := map[string]bool{}
		for _, m := range f.Metric {
			key := ""
			for i, l := range m.Label {
				require.NotEmpty(t, l.GetValue(), "no label")
				require.NotContains(t, []string{"le", "quantile"}, l.GetName())
				require.False(t, strings.HasPrefix(l.GetName(), "__"), l.GetName())
				require.True(t, i == 0 || m.Label[i-1].GetName() < l.GetName(), "%s: %v", name, m.Label)
				key += fmt.Sprintf("%q%q", l.GetName(), l.GetValue())
			}
			require.False(t, seen[key], "%s{%s} stands twice", name, key)
			seen[key] = true
		}
		for _, suffix := range suffixes[f.GetType()] {
			require.True(t, suffix == "" || families[name+suffix] == nil, "%s%s is of two families", name, suffix)
		}
	}
}

func counters(families map[string]*dto.MetricFamily) map[string]float64 {
	values := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			if m.Counter != nil {
				values[name+fmt.Sprint(m.Label)] = m.Counter.GetValue()
			}
		}
	}
	return values
}

func BenchmarkSend(b *testing.B) {
	for _, histograms := range []string{asSummary, asNative} {
		b.Run("10k series, "+histograms, func(b *testing.B) {
			r := newRig(b, func(c *Config) { c.Histograms = histograms })
			batch := tenThousand()
			b.ReportAllocs()
			for b.Loop() {
				batch.End = batch.End.Add(interval)
				if err := r.Send(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch.Len()), "items/op")
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	r := newRig(b, nil)
	if err := r.Send(b.Context(), tenThousand()); err != nil {
		b.Fatal(err)
	}
	p := r.current.Load()
	for _, tt := range []struct {
		name string
		form form
	}{{"text", textForm}, {"OpenMetrics", openForm}, {"protobuf", protoForm}} {
		b.Run("10k series, "+tt.name, func(b *testing.B) {
			size := &counting{}
			b.ReportAllocs()
			for b.Loop() {
				size.n = 0
				if err := p.encode(size, tt.form); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(size.n))
		})
	}
}

type counting struct{ n int }

func (c *counting) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// tenThousand returns an interval of 4,500 counters and as many gauges, and 500 timers with all their points.
func tenThousand() *sinks.Batch {
	b := &sinks.Batch{End: time.Unix(1_700_000_000, 0), Interval: interval}
	for i := range 4500 {
		tags := []string{"env:prod", "region:eu-central-1", fmt.Sprintf("route:/api/v1/%d", i/10), fmt.Sprintf("status:%d", i%10)}
		b.Points = append(b.Points, counter("http.requests", 1, tags...), gauge("queue.depth", float64(i), tags...))
	}
	values := make([]float64, 100)
	for i := range values {
		values[i] = float64(i*i) / 7
	}
	d := sinktest.NewDigest(values...)
	for i := range 500 {
		s := &metric.Series{Name: "http.latency", Tags: []string{"env:prod", fmt.Sprintf("route:/api/v1/%d", i)}, Kind: metric.Timer}
		b.Points = append(b.Points, aggregates(s, d)...)
		b.Distributions = append(b.Distributions, metric.DigestPoint{Series: s, Digest: d})
	}
	return b
}
