package prometheus

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// withExpiry runs f beside the part of Run that takes series off the page, with time of its own.
func withExpiry(t *testing.T, change func(*Config), f func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, change)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.expireUntil(ctx)
		f(t, r)
		cancel()
		synctest.Wait()
	})
}

func TestB052IdleSeriesStayAndThenLeave(t *testing.T) {
	withExpiry(t, nil, func(t *testing.T, r *rig) {
		b := timers(map[string][]float64{"t": {1}})
		b.Points = append(b.Points, counter("c", 2), gauge("g", 1), gauge("busy", 1))
		r.interval(b)
		before := r.lines()
		for range 29 {
			time.Sleep(interval)
			r.points(gauge("busy", 1))
		}
		assert.Equal(t, before, r.lines(), "after 290 seconds")
		time.Sleep(time.Minute)
		r.points(gauge("busy", 1))
		assert.Equal(t, []string{"busy 1"}, r.lines())
		assert.Len(t, r.board.claimed, 1)
		assert.EqualValues(t, 1, r.registry.Value("sink.prometheus.series"))

		r.points(counter("c", 5), gauge("t", 1))
		assert.Equal(t, []string{"busy 1", "c_total 5", "t 1"}, r.lines(), "a counter begins anew, and the name t is free")
	})
}

func TestSeriesLeaveWithoutFurtherIntervals(t *testing.T) {
	withExpiry(t, func(c *Config) { c.ExpireAfter = 20 * time.Second }, func(t *testing.T, r *rig) {
		r.points(gauge("g", 1))
		time.Sleep(19 * time.Second)
		synctest.Wait()
		assert.NotEmpty(t, r.lines())
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Empty(t, r.lines())
	})
}

// A series of span metrics that comes every ten minutes is there all the time, and its counter goes on.
func TestSeriesOfLongIntervalsStay(t *testing.T) {
	withExpiry(t, nil, func(t *testing.T, r *rig) {
		for n := range 4 {
			r.interval(&sinks.Batch{Interval: 10 * time.Minute, Points: []metric.Point{counter("long", 1)}})
			for range 60 {
				time.Sleep(interval)
				r.points(gauge("busy", 1))
			}
			assert.Equal(t, []string{"busy 1", fmt.Sprint("long_total ", n+1)}, r.lines())
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		assert.Empty(t, r.lines())
	})
}

func TestSeriesStayForEver(t *testing.T) {
	withExpiry(t, func(c *Config) { c.ExpireAfter = 0 }, func(t *testing.T, r *rig) {
		r.points(gauge("g", 1), at(gauge("old", 1), 1))
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{"g 1", "old 1"}, r.lines())
	})
}

func TestExpiryDoesNotShowHalfAnInterval(t *testing.T) {
	withExpiry(t, nil, func(t *testing.T, r *rig) {
		r.points(gauge("idle", 1))
		time.Sleep(4 * time.Minute)
		require.NoError(t, r.Send(t.Context(), &sinks.Batch{End: time.Unix(1e9, 0), More: true, Points: []metric.Point{counter("c", 1)}}))
		time.Sleep(90 * time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"idle 1"}, r.lines())
		require.NoError(t, r.Send(t.Context(), &sinks.Batch{End: time.Unix(1e9, 0), Points: []metric.Point{counter("c", 1)}}))
		assert.Equal(t, []string{"c_total 2"}, r.lines())
	})
}

func TestSeriesLeavesWithTheLastThatLeadsToIt(t *testing.T) {
	withExpiry(t, nil, func(t *testing.T, r *rig) {
		r.points(counter("a.b", 1), counter("a_b", 1), gauge("g.x", 1), gauge("g_x", 1))
		for range 60 {
			time.Sleep(interval)
			r.points(counter("a.b", 1), gauge("g.x", 2))
		}
		assert.Equal(t, []string{"a_b_total 62", "g_x 2"}, r.lines())
		assert.Zero(t, r.registry.Value("sink.prometheus.merged_series"))
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		assert.Empty(t, r.lines())
		assert.Zero(t, r.board.lines)
	})
}

func TestExpireAfterMustOutlastTheInterval(t *testing.T) {
	c := DefaultConfig()
	c.ListenAddress, c.ExpireAfter = "127.0.0.1:0", 15*time.Second
	r := newRig(t, nil)
	_, err := newSink(c, sinks.Settings{Name: "prom", Interval: interval, Log: r.server.log, Telemetry: r.registry})
	require.ErrorContains(t, err, "expire_after: 15s is less than two intervals of 10s")
}
