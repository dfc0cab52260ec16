package delivery_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// spanRig is a rig whose delivery takes spans.
type spanRig struct {
	*rig
	*delivery.Spans
}

func newSpanRig(t *testing.T, change func(*delivery.SpanConfig)) *spanRig {
	t.Helper()
	r := newSettings(t)
	cfg := delivery.DefaultSpanConfig()
	if change != nil {
		change(&cfg)
	}
	require.NoError(t, cfg.Validate())
	return &spanRig{r, delivery.NewSpans(r.rec, cfg, r.set)}
}

func (r *spanRig) settled(want delivery.Ledger) {
	r.t.Helper()
	want.Offered = want.Sum()
	require.Equal(r.t, want, r.Spans.Ledger())
}

func span(id int) *ssf.SSFSpan {
	return &ssf.SSFSpan{TraceId: 1, Id: int64(id), StartTimestamp: 1, EndTimestamp: 2, Name: "x"}
}

func ids(spans []*ssf.SSFSpan) []int64 {
	var ids []int64
	for _, s := range spans {
		ids = append(ids, s.Id)
	}
	return ids
}

func TestSpansLingerForCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, nil)
		stop := run(t, r.Spans)
		r.OfferSpan(span(1))
		time.Sleep(999 * time.Millisecond)
		r.OfferSpan(span(2))
		synctest.Wait()
		require.Empty(t, r.rec.Attempts())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, []int64{1, 2}, ids(r.rec.Spans()))
		require.Len(t, r.rec.Attempts(), 1)
		r.OfferSpan(span(3))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, r.rec.Attempts(), 2)
		assert.Zero(t, stop())
		r.settled(delivery.Ledger{Sent: 3})
		assert.Equal(t, 3.0, r.reg.Value("sink.spans", "sink:out", "outcome:sent"))
		assert.Equal(t, 3.0, r.reg.Value("sink.offered", "sink:out", "signal:spans"))
	})
}

func TestSpansLeaveWhenAChunkIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, func(c *delivery.SpanConfig) { c.ChunkItems, c.ChunkBytes = 10, 10_000 })
		stop := run(t, r.Spans)
		for i := range 25 {
			r.OfferSpan(span(i))
		}
		synctest.Wait()
		assert.Len(t, r.rec.Spans(), 20, "by count")
		for i := range 4 {
			s := span(100 + i)
			s.Name = strings.Repeat("n", 4_000)
			r.OfferSpan(s)
		}
		synctest.Wait()
		assert.Len(t, r.rec.Spans(), 20+5+2, "by size")
		huge := span(200)
		huge.Name = strings.Repeat("n", 40_000)
		r.OfferSpan(huge)
		assert.Zero(t, stop(), "the last do not linger at a stop")
		r.settled(delivery.Ledger{Sent: 30})
		for _, a := range r.rec.Attempts() {
			assert.LessOrEqual(t, a.Len(), 10)
		}
	})
}

func TestSpansWithoutLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, func(c *delivery.SpanConfig) { c.Linger = 0 })
		stop := run(t, r.Spans)
		r.OfferSpan(span(1))
		synctest.Wait()
		require.Len(t, r.rec.Spans(), 1)
		stop()
	})
}

func TestFullQueueDropsItsOldestSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, func(c *delivery.SpanConfig) { c.QueueItems, c.ChunkItems = 100, 10 })
		for i := range 1000 {
			r.OfferSpan(span(i))
			l := r.Spans.Ledger()
			require.Equal(t, l.Offered, l.Sum())
			require.LessOrEqual(t, l.Waiting, uint64(100))
		}
		l := r.Spans.Ledger()
		assert.EqualValues(t, 900, l.Overflow)
		stop := run(t, r.Spans)
		synctest.Wait()
		stop()
		assert.Equal(t, int64(900), r.rec.Spans()[0].Id)
		r.settled(delivery.Ledger{Sent: 100, Overflow: 900})
	})
}

func TestSpansAreBoundedByBytes(t *testing.T) {
	r := newSpanRig(t, func(c *delivery.SpanConfig) { c.QueueBytes, c.ChunkBytes = 100_000, 10_000 })
	for i := range 1000 {
		s := span(i)
		s.Service = strings.Repeat("s", 1_000)
		r.OfferSpan(s)
		require.LessOrEqual(t, r.Spans.Ledger().WaitingBytes, uint64(100_000))
	}
	require.NoError(t, r.Spans.Close())
	l := r.Spans.Ledger()
	assert.EqualValues(t, 1000, l.Overflow+l.Expired)
	assert.Zero(t, l.WaitingBytes)
}

func TestSpansAreRetriedAsAChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, nil)
		r.rec.Answer(errBackend, errBackend)
		stop := run(t, r.Spans)
		for i := range 5 {
			r.OfferSpan(span(i))
		}
		time.Sleep(time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: 5})
		assert.Equal(t, []int64{0, 1, 2, 3, 4}, ids(r.rec.Spans()))
		assert.Len(t, r.rec.Attempts(), 3)
	})
}

func TestB109SlowSpanSinkLosesItsOwnSpansOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := newSpanRig(t, func(c *delivery.SpanConfig) { c.QueueItems, c.ChunkItems = 50, 10 })
		slow.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { <-release; return nil })
		healthy := newSpanRig(t, nil)
		stopSlow, stopHealthy := run(t, slow.Spans), run(t, healthy.Spans)
		for i := range 500 {
			s := span(i)
			slow.OfferSpan(s)
			healthy.OfferSpan(s)
			time.Sleep(10 * time.Millisecond)
		}
		stopHealthy()
		healthy.settled(delivery.Ledger{Sent: 500})
		assert.LessOrEqual(t, stopSlow(), drain+3*time.Second)
		slow.settled(delivery.Ledger{Overflow: 450, Expired: 50})
		close(release)
	})
}

func TestOfferSpanFromManyGoroutines(t *testing.T) {
	r := newSpanRig(t, func(c *delivery.SpanConfig) { c.ChunkItems = 7 })
	stop := run(t, r.Spans)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 500 {
				r.OfferSpan(span(i))
			}
		})
	}
	wg.Wait()
	stop()
	r.settled(delivery.Ledger{Sent: 4000})
}

func TestOfferSpanAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, nil)
		run(t, r.Spans)()
		r.OfferSpan(span(1))
		r.OfferSpan(span(2))
		r.settled(delivery.Ledger{Expired: 2})
	})
}

// A parcel that is still open when the end comes is dead: nothing is added to it, and it keeps no span.
func TestOfferSpanAfterTheEndOfAnOpenParcel(t *testing.T) {
	r := newSpanRig(t, nil)
	kept := make(chan struct{})
	for i := range 2 {
		s := span(i)
		if i == 0 {
			runtime.AddCleanup(s, func(struct{}) { close(kept) }, struct{}{})
		}
		r.OfferSpan(s)
	}
	require.NoError(t, r.Spans.Close())
	r.settled(delivery.Ledger{Expired: 2})
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-kept:
			return true
		default:
			return false
		}
	}, time.Minute, time.Millisecond, "the dead parcel keeps its spans")
	for i := range 3 {
		r.OfferSpan(span(10 + i))
		r.settled(delivery.Ledger{Expired: uint64(3 + i)})
	}
}
