package trace_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

// B067: a sample holds a float32, and totals are exact all the same.
func TestB067CountersAreExact(t *testing.T) {
	for _, tt := range []struct {
		n       int64
		samples int
	}{
		{0, 0},
		{1, 1},
		{-1, 1},
		{1 << 24, 1},
		{1<<24 + 1, 2},
		{-(1<<24 + 1), 2},
		{123456789012345678, 3},
		{1 << 62, 1},
		{math.MaxInt64, 3},
		{math.MinInt64, 1},
		{math.MinInt64 + 1, 3},
	} {
		t.Run(fmt.Sprint(tt.n), func(t *testing.T) {
			c, recorder := tracetest.New(t)
			c.Counter("n", nil).Add(tt.n)
			samples := recorder.Samples("n")
			require.Len(t, samples, tt.samples)
			var sum int64
			for _, s := range samples {
				require.InDelta(t, 1, s.SampleRate, 0)
				sum += int64(s.Value)
			}
			require.Equal(t, tt.n, sum)
		})
	}
}

func TestB067ManyIncrements(t *testing.T) {
	c, recorder := tracetest.New(t, trace.WithMetricsInterval(time.Millisecond), trace.WithFlushInterval(time.Millisecond))
	counter := c.Counter("n", map[string]string{"a": "b"}, ssf.Scope(ssf.SSFSample_GLOBAL))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100_000 {
				counter.Inc()
			}
		})
	}
	wg.Wait()
	recorder.HasCount("n", 800_000)
	s := recorder.Samples("n")[0]
	require.Equal(t, ssf.SSFSample_GLOBAL, s.Scope)
	require.Equal(t, []ssf.Tag{{Key: "a", Value: "b"}}, s.Tags)
	require.NoError(t, ssf.ValidateSample(&s))
}

func values(samples []ssf.SSFSample) []float32 {
	var v []float32
	for _, s := range samples {
		v = append(v, s.Value)
	}
	return v
}

func TestHandlesSendEachInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, recorder := tracetest.New(t)
		sent := func(name string) []ssf.SSFSample { return tracetest.Samples(recorder.Sent(), name) }
		counter, gauge, set := c.Counter("counter", nil), c.Gauge("gauge", nil), c.Set("set", nil)
		histogram, timer := c.Histogram("histogram", nil), c.Timer("timer", nil)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		require.Empty(t, recorder.Sent(), "nothing was counted")

		counter.Add(2)
		counter.Add(3)
		gauge.Set(1)
		gauge.Set(2.5)
		gauge.Set(math.NaN())
		gauge.Set(1e300)
		set.Add("a")
		set.Add("b")
		set.Add("a")
		set.Add("")
		histogram.Observe(3)
		histogram.Observe(1)
		histogram.Observe(1)
		histogram.Observe(math.Inf(1))
		timer.ObserveDuration(1500 * time.Microsecond)
		synctest.Wait()
		require.Empty(t, recorder.Sent(), "the interval is not over")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []float32{5}, values(sent("counter")))
		require.Equal(t, []float32{2.5}, values(sent("gauge")))
		require.Equal(t, []float32{3, 1, 1}, values(sent("histogram")))
		require.Equal(t, []float32{1.5}, values(sent("timer")))
		require.Equal(t, "ms", sent("timer")[0].Unit)
		var members []string
		for _, s := range sent("set") {
			members = append(members, s.Message)
		}
		slices.Sort(members)
		require.Equal(t, []string{"a", "b"}, members)
		require.Len(t, recorder.Sent(), 1, "all in one packet")

		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, recorder.Sent(), 1, "nothing new")
	})
}

// What comes faster than the interval is sent before it.
func TestHandlesDoNotGrow(t *testing.T) {
	c, recorder := tracetest.New(t, trace.WithMetricsInterval(time.Hour), trace.WithMaxSpan(1000))
	histogram, set := c.Histogram("histogram", nil), c.Set("set", nil)
	for i := range 10_000 {
		histogram.Observe(float64(i))
		set.Add(fmt.Sprint(i))
	}
	require.NotZero(t, requireLaw(t, c).Recorded)
	var want []float32
	for i := range 10_000 {
		want = append(want, float32(i))
	}
	got := values(recorder.Samples("histogram"))
	slices.Sort(got)
	require.Equal(t, want, got)
	require.Len(t, recorder.Samples("set"), 10_000)
	require.Zero(t, c.Stats().Lost())
}

// Counts wait in their handles while the daemon is away, and none is lost however long that is.
func TestCountersOutliveAnOutage(t *testing.T) {
	collector := tracetest.Listen(t, "unix")
	c := newClient(t, collector.Address(), trace.WithFlushInterval(time.Millisecond), trace.WithMetricsInterval(time.Millisecond), trace.WithMemory(64<<10))
	counter := c.Counter("n", nil)
	counter.Inc()
	collector.Wait(1)
	collector.Stop()
	recordFrom8(c, 40_000) // far more than may wait
	require.NotZero(t, c.Stats().Dropped[trace.ReasonFull])
	for range 1000 {
		counter.Inc()
	}
	collector.Start()
	flush(t, c)
	closeWithin(c, patience)
	eventually(t, "all counts", func() bool {
		sum := float32(0)
		for _, s := range tracetest.Samples(collector.Spans(), "n") {
			sum += s.Value
		}
		return sum == 1001
	})
}

// A rate would have the daemon scale up what is complete.
func TestHandlesIgnoreSampleRates(t *testing.T) {
	c, recorder := tracetest.New(t)
	rate := ssf.SampleRate(0.1)
	c.Counter("counter", nil, rate).Add(3)
	c.Gauge("gauge", nil, rate).Set(3)
	c.Histogram("histogram", nil, rate).Observe(3)
	c.Timer("timer", nil, rate).ObserveDuration(3 * time.Millisecond)
	c.Set("set", nil, rate).Add("a")
	for _, name := range []string{"counter", "gauge", "histogram", "timer", "set"} {
		require.InDelta(t, 1, recorder.Samples(name)[0].SampleRate, 0, name)
	}
	recorder.HasCount("counter", 3)
}

func TestNilHandles(t *testing.T) {
	var none *trace.Client
	none.Counter("a", nil).Inc()
	none.Gauge("a", nil).Set(1)
	none.Histogram("a", nil).Observe(1)
	none.Timer("a", nil).ObserveDuration(1)
	none.Set("a", nil).Add("a")
	require.NoError(t, none.Report(ssf.Count("a", 1, nil)))
	require.NoError(t, none.Record(&ssf.SSFSpan{}))
	require.Zero(t, none.Stats().Recorded)
	require.Equal(t, t.Context(), none.Attach(t.Context()))
}

func TestRecordOfNoSpan(t *testing.T) {
	c := newClient(t, "udp://127.0.0.1:1")
	require.NoError(t, c.Record(nil))
	require.Zero(t, c.Stats().Recorded)
}

func TestReport(t *testing.T) {
	c, recorder := tracetest.New(t, trace.WithMaxSpan(200))
	var samples []ssf.SSFSample
	for i := range 100 {
		samples = append(samples, ssf.Gauge("g", float32(i), nil))
	}
	require.NoError(t, c.Report())
	require.NoError(t, c.Report(samples...))
	require.Len(t, recorder.Samples("g"), 100)
	require.Zero(t, requireLaw(t, c).Lost())
	recorded := c.Stats().Recorded
	require.Greater(t, recorded, uint64(100*10/200))
	require.Less(t, recorded, uint64(40), "they are packed")

	huge := ssf.Gauge(string(make([]byte, 300)), 1, nil)
	require.ErrorIs(t, c.Report(samples[0], huge, samples[1]), trace.ReasonTooLarge)
	require.Len(t, recorder.Samples("g"), 102, "only the one that is too large is dropped")
	require.EqualValues(t, 1, requireLaw(t, c).Dropped[trace.ReasonTooLarge])
}

func TestStatisticsAsSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, recorder := tracetest.New(t, trace.WithStatistics(), trace.WithMaxSpan(1000))
		c.StartTrace("span").Finish()
		_ = c.Record(&ssf.SSFSpan{Name: string(make([]byte, 2000))})
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		sum := func(name string) (n float32) {
			for _, s := range tracetest.Samples(recorder.Sent(), "veneur.trace_client."+name) {
				require.NoError(t, ssf.ValidateSample(&s))
				n += s.Value
			}
			return n
		}
		require.InDelta(t, 2, sum("recorded_total"), 0)
		require.InDelta(t, 1, sum("sent_total"), 0)
		require.InDelta(t, 1, sum("flushes_total"), 0)
		require.InDelta(t, 1, sum("dropped_total"), 0)
		require.NotZero(t, sum("bytes_total"))
		reason, _ := tracetest.Samples(recorder.Sent(), "veneur.trace_client.dropped_total")[0].Tag("reason")
		require.Equal(t, "too_large", reason)
	})
}

// What a client did last is in its last statistics, but for those themselves.
func TestLastStatistics(t *testing.T) {
	c, recorder := tracetest.New(t, trace.WithStatistics(), trace.WithFlushInterval(time.Hour))
	c.StartTrace("span").Finish()
	require.NoError(t, closeWithin(c, patience))
	for _, name := range []string{"recorded_total", "sent_total", "flushes_total"} {
		samples := tracetest.Samples(recorder.Sent(), "veneur.trace_client."+name)
		require.Len(t, samples, 1)
		require.InDelta(t, 1, samples[0].Value, 0, name)
	}
}

func TestStatsAsText(t *testing.T) {
	s := trace.Stats{Recorded: 14, Sent: 10, Waiting: 1, Bytes: 999, Flushes: 2, Reconnects: 1}
	require.Equal(t, "recorded 14, sent 10, dropped 0, waiting 1, bytes 999, flushes 2, reconnects 1", s.String())
	s.Dropped = map[trace.Reason]uint64{trace.ReasonTooLarge: 1, trace.ReasonFull: 2, trace.ReasonClosed: 0}
	require.Equal(t, "recorded 14, sent 10, dropped 3 (full 2, too_large 1), waiting 1, bytes 999, flushes 2, reconnects 1", fmt.Sprint(s))
}
