package delivery_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestB154LedgerIsFilledFromTheAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.MaxTags = 2 })
		r.rec.Answer(&sinks.PartialError{Refused: 1, Err: errBackend})
		b := batch(10, 1)
		b.Points[3].Series.Tags = []string{"a", "b", "c"}
		stop := run(t, r)
		r.Offer(b)
		synctest.Wait()
		r.settled(delivery.Ledger{Sent: 8, Refused: 1, Filtered: 1})
		assert.Equal(t, 10.0, r.reg.Value("sink.offered", "sink:out", "signal:points"))
		assert.Equal(t, 8.0, r.reg.Value("sink.points", "sink:out", "outcome:sent"))
		assert.Equal(t, 1.0, r.reg.Value("sink.points", "sink:out", "outcome:refused"))
		assert.Equal(t, 1.0, r.reg.Value("sink.points", "sink:out", "outcome:filtered"))
		assert.Equal(t, 10.0, r.reg.Value("sink.points", "sink:out"))
		assert.Equal(t, 1.0, r.reg.Value("sink.filtered", "sink:out", "reason:tags"))
		assert.Equal(t, float64(time.Now().Unix()), r.reg.Value("sink.last_success", "sink:out"))
		stop()
	})
}

func TestChunksHoldEverythingOnceAndInOrder(t *testing.T) {
	for _, size := range []int{1, 3, 7, 1000} {
		synctest.Test(t, func(t *testing.T) {
			rec := &sinktest.DistributionRecorder{}
			r := newRig(t, rec, func(c *delivery.Config) { c.ChunkItems = size })
			whole := sinktest.Batch()
			stop := run(t, r)
			r.Offer(whole)
			synctest.Wait()
			stop()
			got := &sinks.Batch{End: whole.End, Interval: whole.Interval}
			chunks := rec.Batches()
			for i, c := range chunks {
				require.Equal(t, i < len(chunks)-1, c.More)
				require.LessOrEqual(t, c.Len(), size)
				require.Equal(t, whole.End, c.End)
				require.Equal(t, whole.Interval, c.Interval)
				got.Points = append(got.Points, c.Points...)
				got.Distributions = append(got.Distributions, c.Distributions...)
				got.Events = append(got.Events, c.Events...)
				got.Checks = append(got.Checks, c.Checks...)
			}
			require.Equal(t, whole, got)
			r.settled(delivery.Ledger{Sent: uint64(whole.Len())})
		})
	}
}

func TestB096ChunksByBytesToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkBytes = 10_000 })
		b := batch(100, 1)
		for i := range b.Points {
			b.Points[i].Series.Tags = []string{strings.Repeat("t", 1000)}
		}
		b.Points[50].Series.Tags = []string{strings.Repeat("t", 20_000)}
		stop := run(t, r)
		r.Offer(b)
		synctest.Wait()
		stop()
		for _, c := range r.rec.Batches() {
			assert.LessOrEqual(t, c.Len(), 9)
		}
		assert.GreaterOrEqual(t, len(r.rec.Batches()), 13)
		r.settled(delivery.Ledger{Sent: 100})
	})
}

func TestFullQueueDropsItsOldestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 100, 50 })
		for i := range 5 {
			r.Offer(batch(40, float64(i)))
		}
		l := r.lawful()
		assert.EqualValues(t, 120, l.Overflow)
		assert.EqualValues(t, 80, l.Waiting)
		stop := run(t, r)
		synctest.Wait()
		stop()
		assert.Equal(t, []float64{3, 4}, r.values())
		r.settled(delivery.Ledger{Sent: 80, Overflow: 120})
	})
}

func TestQueueIsBoundedByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.QueueBytes, c.ChunkBytes = 20_000, 10_000 })
		for i := range 5 {
			b := batch(1, float64(i))
			b.Events = []metric.Event{{Title: "t", Text: strings.Repeat("x", 9_000)}}
			r.Offer(b)
			assert.LessOrEqual(t, r.lawful().WaitingBytes, uint64(20_000))
		}
		stop := run(t, r)
		synctest.Wait()
		stop()
		assert.Equal(t, []float64{3, 4}, r.values())
		r.settled(delivery.Ledger{Sent: 4, Overflow: 6})
	})
}

func TestNewestIntervalIsAlwaysTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 100, 100 })
		r.Offer(batch(40, 1))
		r.Offer(batch(1000, 2))
		stop := run(t, r)
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Sent: 1000, Overflow: 40})
	})
}

func TestB109SlowSinkHarmsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := newRig(t, nil, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 300, 100 })
		slow.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { <-release; return nil }) // deaf to its deadline
		healthy := newRig(t, nil, nil)
		stopSlow, stopHealthy := run(t, slow), run(t, healthy)
		for i := range 20 {
			b := batch(100, float64(i))
			start := time.Now()
			slow.Offer(b)
			healthy.Offer(b)
			require.Zero(t, time.Since(start), "offering waits for nobody")
			synctest.Wait()
			require.EqualValues(t, 100*(i+1), healthy.lawful().Sent, "on time")
			require.LessOrEqual(t, slow.lawful().Waiting, uint64(300))
			time.Sleep(interval)
		}
		text, failing := slow.Failing()
		require.True(t, failing)
		assert.Equal(t, "an attempt has not returned 3m10s after its deadline", text)
		assert.Equal(t, 1.0, slow.reg.Value("sink.failing"))
		fields, ok := slow.logged("the sink lost data")
		require.True(t, ok)
		assert.NotZero(t, fields["overflow"])

		stopHealthy()
		assert.LessOrEqual(t, stopSlow(), drain+3*time.Second)
		slow.settled(delivery.Ledger{Overflow: 1700, Expired: 300})
		fields, ok = slow.logged("stopped before everything was sent")
		require.True(t, ok)
		assert.EqualValues(t, 300, fields["items"])
		_, ok = slow.logged("the sink did not return from its last attempt; it is left behind, not closed")
		assert.True(t, ok)

		close(release) // it returns after all: nothing is counted twice
		synctest.Wait()
		slow.settled(delivery.Ledger{Overflow: 1700, Expired: 300})
	})
}

func TestOfferFromManyGoroutines(t *testing.T) {
	r := newRig(t, nil, nil)
	stop := run(t, r)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				r.Offer(batch(3, 1))
				if l := r.Ledger(); l.Sum() != l.Offered {
					t.Errorf("%+v", l)
				}
			}
		})
	}
	wg.Wait()
	stop()
	r.settled(delivery.Ledger{Sent: 8 * 50 * 3})
}

func TestEmptyBatchIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		stop := run(t, r)
		r.Offer(batch(0, 0))
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{})
		assert.Empty(t, r.rec.Attempts())
	})
}

func TestDistributionsAreOfferedOnlyToThoseWhoWantThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wants := &sinktest.DistributionRecorder{}
		with, without := newRig(t, wants, nil), newRig(t, nil, nil)
		stopWith, stopWithout := run(t, with), run(t, without)
		b := sinktest.Batch()
		with.Offer(b)
		without.Offer(b)
		synctest.Wait()
		stopWith()
		stopWithout()
		n := len(b.Distributions)
		require.NotZero(t, n)
		with.settled(delivery.Ledger{Sent: uint64(b.Len())})
		without.settled(delivery.Ledger{Sent: uint64(b.Len() - n)})
		assert.Len(t, wants.Batches()[0].Distributions, n)
		assert.Nil(t, without.rec.Batches()[0].Distributions)
		assert.Len(t, b.Distributions, n, "the shared batch is as it was")
	})
}
