package spanmetrics

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	api "github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/prometheus"
	"github.com/veneurd/veneur/ssf"
)

// fullBucket returns a bucket in which there is all that the limits allow, and something past each of them in each service; no name is in a
// bucket of another number.
func fullBucket(t *testing.T, c Config, number int, interval time.Duration, end time.Time) *Closed {
	l := c.Limits
	s := New(Settings{Config: c, Telemetry: telemetry.New()})
	r := s.NewRecorder()
	add := func(service, kind, name int) {
		request := requestSpan(fmt.Sprint("service", number, ".", service), fmt.Sprint("operation", number, ".", name), time.Second)
		request.Tags = []ssf.Tag{{Key: "span.kind", Value: fmt.Sprint("kind", kind)}, {Key: "env", Value: "prod"}, {Key: "region", Value: "eu"}}
		r.Add(request, end.Unix())
		call := requestSpan(request.Service, request.Name, time.Second)
		call.Id, call.Tags = 8, []ssf.Tag{{Key: "peer.service", Value: fmt.Sprint("target", name)}, request.Tags[1], request.Tags[2]}
		call.ParentId = 7
		r.Add(call, end.Unix())
	}
	each := l.Operations / l.Services
	require.Equal(t, l.Dependencies, l.Operations, "the test fills both by the same spans")
	for name := range each + 1 { // the last one is past the limits
		for service := range l.Services + 1 {
			kinds := l.Kinds / l.Services
			if name == each {
				add(service, kinds, name)
			} else {
				add(service, name%kinds, name)
			}
		}
	}
	set, _ := r.take(s.known)
	require.Len(t, set.Services(), l.Services)
	for i := range set.Services() {
		require.NotNil(t, set.Excess(i))
	}
	return &Closed{Bucket: store.Bucket{Interval: int64(interval / time.Second), Start: end.Add(-interval).Unix()}, Set: set, Ended: end}
}

// Services that fill every limit with names that are new in every interval, beside 50,000 plain series: at the default limits and the default max_series
// of a page of Prometheus nothing is refused, not even where all intervals end at once.
func TestPageHasRoomForAllSpanMetrics(t *testing.T) {
	const plain, tick = 50_000, 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		registry, c := telemetry.New(), DefaultConfig()
		log, _ := logtest.NewNullLogger()
		var limit int
		kind, err := prometheus.Kind().Configure(func(into any) error {
			page := into.(*prometheus.Config)
			page.ListenAddress, limit = "127.0.0.1:0", page.MaxSeries
			return nil
		})
		require.NoError(t, err)
		sink, err := kind.Metrics(api.Settings{Name: "prom", Interval: tick, Log: log, Telemetry: registry})
		require.NoError(t, err)
		send := func(batches ...*api.Batch) {
			for i, b := range batches {
				b.More = i < len(batches)-1
				require.NoError(t, sink.Send(t.Context(), b))
			}
		}
		held := func() int { return int(registry.Value("sink.prometheus.series")) }
		extra := flush.NewExtra(flush.Settings{
			Config: flush.DefaultConfig(), Telemetry: registry, Log: log,
			Targets: []flush.Target{{Name: "prom", WantsDistributions: true, Offer: func(_, _ func(), batches ...*api.Batch) { send(batches...) }}},
		})
		buckets, most := 0, 0
		emit := func(interval time.Duration) {
			closed := fullBucket(t, c, buckets, interval, time.Now().Truncate(time.Second))
			buckets++
			points, exemplars := New(Settings{Config: c, Telemetry: telemetry.New()}).Points(closed)
			before := held()
			extra.Offer(flush.Interval{Interval: points, Exemplars: exemplars, End: closed.Ended, Covered: interval}, nil)
			most = max(most, held()-before)
		}
		own := &api.Batch{Interval: tick}
		for i := range plain {
			s := &metric.Series{Name: "plain", Tags: []string{fmt.Sprint("n:", i)}, Kind: metric.Counter}
			own.Points = append(own.Points, metric.Point{Series: s, Name: s.Name, Value: 1, Type: metric.CounterPoint})
		}
		flushPlain := func() {
			own.End = time.Now().Truncate(time.Second)
			send(own)
		}
		wait := func(d time.Duration) {
			time.Sleep(d - tick)
			flushPlain()
			time.Sleep(tick)
		}

		flushPlain()
		emit(c.Intervals[2])
		wait(50 * time.Minute)
		emit(c.Intervals[1])
		wait(8 * time.Minute)
		emit(c.Intervals[0])
		wait(time.Minute)
		emit(c.Intervals[0])
		wait(time.Minute)
		for _, interval := range c.Intervals {
			emit(interval)
		}
		flushPlain()
		for range 3 {
			wait(time.Minute)
			emit(c.Intervals[0])
		}
		flushPlain()
		t.Logf("%d series of a bucket, %d of all that may come again", most, 2*len(c.Intervals)*most)
		assert.LessOrEqual(t, 2*len(c.Intervals)*most+plain, limit*9/10, "and there is room beside")
		assert.Positive(t, registry.Value("sink.prometheus.removed_series", "reason:evicted_unscraped"))
		assert.Zero(t, registry.Value("sink.prometheus.refused"))
		l := c.Limits
		assert.Equal(t, 5*(l.Operations+l.Services+1)+6*(l.Kinds+l.Services+1)+2*(l.Dependencies+l.Services+1)+l.Services+3*(l.Services+1)+1, most)
	})
}
