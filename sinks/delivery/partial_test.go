package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func item(index int, fate sinks.Fate, reason sinks.Reason) sinks.Item {
	return sinks.Item{Index: index, Fate: fate, Reason: reason}
}

func TestPartialAnswers(t *testing.T) {
	const n = 6
	tests := []struct {
		name    string
		answer  sinks.PartialError
		want    delivery.Ledger
		reasons map[string]float64
		again   []int64 // of the second attempt
	}{
		{
			name:    "a reason for each",
			answer:  sinks.PartialError{Items: []sinks.Item{item(1, sinks.Refused, sinks.ReasonConflict), item(4, sinks.Refused, sinks.ReasonLimit)}},
			want:    delivery.Ledger{Sent: 4, Refused: 2},
			reasons: map[string]float64{"conflict": 1, "limit": 1},
		},
		{
			name:   "already there is sent",
			answer: sinks.PartialError{Items: []sinks.Item{item(0, sinks.Existing, ""), item(5, sinks.Existing, "")}},
			want:   delivery.Ledger{Sent: n, Existing: 2},
		},
		{
			name:   "only what is to be tried again is sent again",
			answer: sinks.PartialError{Items: []sinks.Item{item(2, sinks.Retry, ""), item(4, sinks.Retry, "")}},
			want:   delivery.Ledger{Sent: n},
			again:  []int64{2, 4},
		},
		{
			name: "all at once",
			answer: sinks.PartialError{Refused: 1, Items: []sinks.Item{
				item(0, sinks.Retry, ""), item(1, sinks.Existing, ""), item(2, sinks.Refused, sinks.ReasonInvalid),
			}},
			want:    delivery.Ledger{Sent: 4, Existing: 1, Refused: 2},
			reasons: map[string]float64{"invalid": 1, "other": 1},
			again:   []int64{0},
		},
		{
			name: "twice named: retry before refused before existing",
			answer: sinks.PartialError{Items: []sinks.Item{
				item(0, sinks.Retry, ""), item(0, sinks.Refused, sinks.ReasonConflict),
				item(1, sinks.Existing, ""), item(1, sinks.Refused, sinks.ReasonConflict), item(1, sinks.Existing, ""),
			}},
			want:    delivery.Ledger{Sent: 5, Refused: 1},
			reasons: map[string]float64{"conflict": 1},
			again:   []int64{0},
		},
		{
			name:   "places that are not there",
			answer: sinks.PartialError{Items: []sinks.Item{item(-1, sinks.Refused, ""), item(n, sinks.Retry, "")}},
			want:   delivery.Ledger{Sent: n},
		},
		{
			name:    "more refused than there are others",
			answer:  sinks.PartialError{Refused: 99, Items: []sinks.Item{item(3, sinks.Existing, "")}},
			want:    delivery.Ledger{Sent: 1, Existing: 1, Refused: 5},
			reasons: map[string]float64{"other": 5},
		},
		{
			name:    "what says nothing is refused",
			answer:  sinks.PartialError{Items: []sinks.Item{{}, item(1, 77, "my own reason")}},
			want:    delivery.Ledger{Sent: 4, Refused: 2},
			reasons: map[string]float64{"other": 2},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newSpanRig(t, nil)
				tt.answer.Err = errBackend
				r.rec.Answer(fmt.Errorf("bulk: %w", &tt.answer))
				stop := run(t, r.Spans)
				for i := range n {
					r.OfferSpan(span(i))
				}
				time.Sleep(time.Minute)
				stop()
				r.settled(tt.want)
				attempts := r.rec.Attempts()
				if tt.again == nil {
					assert.Len(t, attempts, 1)
				} else if assert.Len(t, attempts, 2) {
					assert.Equal(t, tt.again, ids(attempts[1].Spans))
				}
				var sum float64
				for _, reason := range sinks.Reasons() {
					got := r.reg.Value("sink.refused", "sink:out", "signal:spans", "reason:"+string(reason))
					assert.Equal(t, tt.reasons[string(reason)], got, reason)
					sum += got
				}
				assert.EqualValues(t, tt.want.Refused, sum)
				assert.EqualValues(t, tt.want.Existing, r.reg.Value("sink.existing", "sink:out", "signal:spans"))
			})
		})
	}
}

func TestItemsOfABatchAreNamedByTheirList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := &sinktest.DistributionRecorder{}
		r := newRig(t, rec, func(c *delivery.Config) { c.ChunkItems = 1000 })
		whole := sinktest.Batch()
		rec.Answer(&sinks.PartialError{Err: errBackend, Items: []sinks.Item{
			{List: sinks.Points, Index: 3, Fate: sinks.Retry},
			{List: sinks.Distributions, Index: 1, Fate: sinks.Retry},
			{List: sinks.Events, Index: 0, Fate: sinks.Retry},
			{List: sinks.Events, Index: len(whole.Events), Fate: sinks.Retry},
			{List: sinks.Checks, Index: 2, Fate: sinks.Retry},
			{List: 9, Index: 0, Fate: sinks.Retry},
		}})
		stop := run(t, r)
		r.Offer(whole)
		time.Sleep(time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: uint64(whole.Len())})
		again := rec.Attempts()[1].Batch
		require.Equal(t, &sinks.Batch{
			End: whole.End, Interval: whole.Interval,
			Points: whole.Points[3:4], Distributions: whole.Distributions[1:2], Events: whole.Events[:1], Checks: whole.Checks[2:3],
		}, again)
	})
}

// What is tried again alone waits as a whole chunk would, its backend's wish included, and expires like one.
func TestItemsToRetryWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, nil)
		r.rec.Answer(&sinks.PartialError{
			Items: []sinks.Item{item(1, sinks.Retry, "")}, Err: &sinks.RetryAfter{After: 20 * time.Second, Err: errBackend},
		})
		stop := run(t, r.Spans)
		r.OfferSpan(span(0))
		r.OfferSpan(span(1))
		time.Sleep(time.Minute)
		attempts := r.rec.Attempts()
		require.Len(t, attempts, 2)
		assert.GreaterOrEqual(t, attempts[1].Time.Sub(attempts[0].Time), 20*time.Second)
		_, failing := r.Spans.Failing()
		assert.False(t, failing)

		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error {
			return &sinks.PartialError{Items: []sinks.Item{item(0, sinks.Retry, "")}, Err: errBackend}
		})
		r.OfferSpan(span(2))
		r.OfferSpan(span(3))
		time.Sleep(5 * time.Minute)
		text, failing := r.Spans.Failing()
		assert.True(t, failing, "nothing of it is ever taken")
		assert.Contains(t, text, "503")
		time.Sleep(time.Hour)
		stop()
		r.settled(delivery.Ledger{Sent: 3, Expired: 1})
	})
}

func TestPartsTriedAgainCountAsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSpanRig(t, func(c *delivery.SpanConfig) { c.RetryAttempts = 3 })
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error {
			return &sinks.PartialError{Items: []sinks.Item{item(0, sinks.Retry, "")}, Err: errBackend}
		})
		stop := run(t, r.Spans)
		for i := range 3 {
			r.OfferSpan(span(i))
		}
		time.Sleep(time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: 2, Expired: 1})
		assert.Len(t, r.rec.Attempts(), 3)
	})
}

// However answers name items, at random, every item ends once, and what is sent is what was not named otherwise.
func TestPartialLedgerAddsUp(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	synctest.Test(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		r := newSpanRig(t, func(c *delivery.SpanConfig) { c.ChunkItems = 50 })
		r.rec.AnswerWith(func(_ context.Context, a sinktest.Attempt) error {
			p := &sinks.PartialError{Err: errBackend}
			for range rnd.IntN(2 * a.Len()) {
				p.Items = append(p.Items, item(rnd.IntN(a.Len()+2)-1, sinks.Fate(rnd.IntN(5)), "x"))
			}
			if rnd.IntN(3) == 0 {
				p.Refused = rnd.IntN(a.Len())
			}
			return p
		})
		stop := run(t, r.Spans)
		for i := range 2000 {
			r.OfferSpan(span(i))
			l := r.Spans.Ledger()
			require.Equal(t, l.Offered, l.Sum())
		}
		time.Sleep(time.Hour)
		stop()
		l := r.Spans.Ledger()
		require.Equal(t, uint64(2000), l.Sum())
		require.Equal(t, l.Offered, l.Sent+l.Refused+l.Expired)
		require.NotZero(t, l.Existing)
	})
}

func TestConfigErrorIsSaidLoudlyAndTriedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error {
			return &sinks.ConfigError{Err: fmt.Errorf("401 Unauthorized")}
		})
		stop := run(t, r)
		r.Offer(batch(3, 1))
		time.Sleep(5*time.Minute + time.Second) // no attempt is due then
		synctest.Wait()
		attempts := r.rec.Attempts()
		for i := 1; i < len(attempts); i++ {
			require.GreaterOrEqual(t, attempts[i].Time.Sub(attempts[i-1].Time), 30*time.Second)
		}
		assert.GreaterOrEqual(t, len(attempts), 4)
		text, failing := r.Failing()
		require.True(t, failing)
		assert.Contains(t, text, "401 Unauthorized")
		var errors int
		for _, e := range r.log.AllEntries() {
			if e.Level == logrus.ErrorLevel {
				errors++
			}
		}
		assert.GreaterOrEqual(t, errors, 3, "somebody must see it")
		assert.Equal(t, float64(len(attempts)), r.reg.Value("sink.attempts", "result:config"))
		r.rec.AnswerWith(nil)
		time.Sleep(2 * time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: 3})
	})
}

func TestWholeChunkRefusedForAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.Answer(sinks.Refusal(sinks.ReasonTime, errBackend), sinks.Permanent(errBackend))
		stop := run(t, r)
		r.Offer(batch(3, 1))
		r.Offer(batch(4, 1))
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Refused: 7})
		assert.Equal(t, 3.0, r.reg.Value("sink.refused", "reason:time"))
		assert.Equal(t, 4.0, r.reg.Value("sink.refused", "reason:other"))
	})
}
