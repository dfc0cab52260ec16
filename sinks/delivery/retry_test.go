package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

var errBackend = errors.New("503 Service Unavailable")

func TestAnswers(t *testing.T) {
	const n = 8
	again := func(err error) []error { return []error{err, nil} }
	tests := []struct {
		name     string
		answers  []error
		want     delivery.Ledger
		attempts int
	}{
		{"taken", nil, delivery.Ledger{Sent: n}, 1},
		{"refused", []error{sinks.Permanent(errBackend)}, delivery.Ledger{Refused: n}, 1},
		{"refused, wrapped", []error{fmt.Errorf("post: %w", sinks.Permanent(errBackend))}, delivery.Ledger{Refused: n}, 1},
		{"some refused", []error{&sinks.PartialError{Refused: 3, Err: errBackend}}, delivery.Ledger{Sent: n - 3, Refused: 3}, 1},
		{"more refused than there were", []error{&sinks.PartialError{Refused: 99, Err: errBackend}}, delivery.Ledger{Refused: n}, 1},
		{"less than none refused", []error{&sinks.PartialError{Refused: -1, Err: errBackend}}, delivery.Ledger{Sent: n}, 1},
		{"fails once", again(errBackend), delivery.Ledger{Sent: n}, 2},
		{"fails often", []error{errBackend, errBackend, errBackend, errBackend, nil}, delivery.Ledger{Sent: n}, 5},
		{"asks to wait", again(&sinks.RetryAfter{After: time.Second, Err: errBackend}), delivery.Ledger{Sent: n}, 2},
		{"asks to wait less than nothing", again(&sinks.RetryAfter{After: -1, Err: errBackend}), delivery.Ledger{Sent: n}, 2},
		{"fails, then refuses", []error{errBackend, sinks.Permanent(errBackend)}, delivery.Ledger{Refused: n}, 2},
		{"B096 too large once", []error{&sinks.TooLargeError{Err: errBackend}}, delivery.Ledger{Sent: n}, 3},
		{
			"B096 one half is too large too",
			[]error{&sinks.TooLargeError{Err: errBackend}, &sinks.TooLargeError{Err: errBackend}},
			delivery.Ledger{Sent: n},
			5,
		},
		{
			"B096 a half is refused, the other stands alone",
			[]error{&sinks.TooLargeError{Err: errBackend}, sinks.Permanent(errBackend)},
			delivery.Ledger{Sent: n / 2, Refused: n / 2},
			3,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, nil)
				r.rec.Answer(tt.answers...)
				stop := run(t, r)
				r.Offer(batch(n, 1))
				time.Sleep(time.Minute)
				stop()
				r.settled(tt.want)
				assert.Len(t, r.rec.Attempts(), tt.attempts)
				assert.Equal(t, float64(tt.attempts), r.reg.Value("sink.attempts", "sink:out", "signal:points"))
			})
		})
	}
}

func TestB096TooLargeItemIsRefusedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.AnswerWith(func(_ context.Context, a sinktest.Attempt) error {
			sum := 0.0
			for _, p := range a.Batch.Points {
				sum += p.Value
			}
			if sum > 100 {
				return &sinks.TooLargeError{Err: errBackend}
			}
			return nil
		})
		b := batch(1000, 1)
		b.Points[333].Value = 101
		stop := run(t, r)
		r.Offer(b)
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Sent: 999, Refused: 1})
		text, failing := r.Failing()
		require.False(t, failing, text)
	})
}

func TestB107EachChunkStandsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems = 10 })
		r.rec.Answer(sinks.Permanent(errBackend))
		stop := run(t, r)
		r.Offer(batch(30, 1))
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Sent: 20, Refused: 10})
	})
}

// A chunk that a backend chokes on uses up its interval's time, but not the turn of the other chunks.
func TestB107ChunkThatNeverGoesDoesNotTakeOthersWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems = 10 })
		r.rec.AnswerWith(func(_ context.Context, a sinktest.Attempt) error {
			if a.Batch.Points[0].Value == 666 {
				return errBackend
			}
			return nil
		})
		b := batch(30, 1)
		b.Points[0].Value = 666
		stop := run(t, r)
		r.Offer(b)
		time.Sleep(time.Hour)
		stop()
		r.settled(delivery.Ledger{Sent: 20, Expired: 10})
	})
}

func TestBackoffIsBoundedAndRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.RetryMax = 10 * time.Second })
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errBackend })
		stop := run(t, r)
		r.Offer(batch(1, 1))
		time.Sleep(time.Hour)
		stop()
		r.settled(delivery.Ledger{Expired: 1})
		attempts := r.rec.Attempts()
		var longest time.Duration
		for i := 1; i < len(attempts); i++ {
			wait := attempts[i].Time.Sub(attempts[i-1].Time)
			bound := min(10*time.Second, 100*time.Millisecond<<min(i-1, 20))
			assert.LessOrEqual(t, wait, bound, "before attempt %d", i)
			longest = max(longest, wait)
		}
		last := attempts[len(attempts)-1].Time.Sub(attempts[0].Time)
		assert.LessOrEqual(t, last, 10*time.Minute)
		assert.Greater(t, last, 10*time.Minute-10*time.Second, "it is tried as long as it has not expired")
		assert.Greater(t, longest, 5*time.Second, "of some 120 waits up to 10 s")
		assert.Greater(t, len(attempts), 75)
		assert.Less(t, len(attempts), 250, "a dead backend is not hammered")
	})
}

func TestBackoffGoesOnFromChunkToChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems, c.RetryAttempts = 1, 1 })
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errBackend })
		stop := run(t, r)
		r.Offer(batch(40, 1))
		time.Sleep(20 * time.Second)
		assert.Less(t, len(r.rec.Attempts()), 25, "it is the backend that needs the rest")
		stop()
		r.settled(delivery.Ledger{Expired: 40})
	})
}

func TestRetryAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.RetryAttempts = 3 })
		r.rec.Answer(errBackend, errBackend, errBackend)
		stop := run(t, r)
		r.Offer(batch(5, 1))
		r.Offer(batch(7, 2))
		time.Sleep(time.Minute)
		stop()
		r.settled(delivery.Ledger{Expired: 5, Sent: 7})
		assert.Len(t, r.rec.Attempts(), 4)
	})
}

func TestB097RetryAfterHoldsBackEveryChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems, c.RetryAttempts = 1, 1 })
		r.rec.Answer(&sinks.RetryAfter{After: 30 * time.Second, Err: errBackend})
		stop := run(t, r)
		start := time.Now()
		r.Offer(batch(3, 1))
		time.Sleep(time.Minute)
		stop()
		r.settled(delivery.Ledger{Expired: 1, Sent: 2})
		assert.GreaterOrEqual(t, r.rec.Attempts()[1].Time.Sub(start), 30*time.Second)
	})
}

func TestRetryAfterPastExpiryIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.Answer(&sinks.RetryAfter{After: 10 * time.Minute, Err: errBackend})
		stop := run(t, r)
		r.Offer(batch(3, 1))
		time.Sleep(time.Second)
		assert.EqualValues(t, 3, r.lawful().Expired)
		r.Offer(batch(2, 2))
		time.Sleep(598 * time.Second)
		assert.Len(t, r.rec.Attempts(), 1, "the backend asked for ten minutes")
		time.Sleep(2 * time.Second)
		stop()
		r.settled(delivery.Ledger{Expired: 3, Sent: 2})
	})
}

// A backend that asks for a day, by mistake or as an attack, is asked again once what it refused has expired.
func TestB097RetryAfterIsBoundedByExpiry(t *testing.T) {
	for _, after := range []time.Duration{24 * time.Hour, math.MaxInt64} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil, func(c *delivery.Config) { c.ExpireAfter = 5 * time.Minute })
			r.rec.Answer(&sinks.RetryAfter{After: after, Err: errBackend})
			stop := run(t, r)
			for i := range 60 {
				r.Offer(batch(1, float64(i)))
				time.Sleep(interval)
			}
			stop()
			r.settled(delivery.Ledger{Sent: 59, Expired: 1})
			attempts := r.rec.Attempts()
			assert.InDelta(t, 300, attempts[1].Time.Sub(attempts[0].Time).Seconds(), 1)
		})
	}
}

func TestB097DeadlineOfAnAttempt(t *testing.T) {
	tests := []struct {
		name              string
		timeout, interval time.Duration
		want              time.Duration
	}{
		{"the timeout", 3 * time.Second, 10 * time.Second, 3 * time.Second},
		{"the interval bounds it", time.Minute, 10 * time.Second, 10 * time.Second},
		{"but not below a second", time.Minute, 10 * time.Millisecond, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newSettings(t)
				r.set.Interval = tt.interval
				cfg := delivery.DefaultConfig()
				cfg.Timeout = tt.timeout
				r.Delivery = delivery.New(r.rec, cfg, r.set)
				slow := true
				var took time.Duration
				r.rec.AnswerWith(func(ctx context.Context, a sinktest.Attempt) error {
					if !slow {
						return nil
					}
					slow = false
					<-ctx.Done()
					took = time.Since(a.Time)
					return fmt.Errorf("post: %w", ctx.Err())
				})
				stop := run(t, r)
				r.Offer(batch(4, 1))
				time.Sleep(2 * time.Minute)
				stop()
				assert.Equal(t, tt.want, took)
				r.settled(delivery.Ledger{Sent: 4})
				assert.Equal(t, 1.0, r.reg.Value("sink.attempts", "result:timeout"))
				assert.InDelta(t, tt.want.Seconds(), r.reg.Value("sink.send_seconds"), 0.001)
			})
		})
	}
}

func TestExpiredInTheQueueIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ExpireAfter = 30 * time.Second })
		r.Offer(batch(5, 1))
		time.Sleep(31 * time.Second)
		r.Offer(batch(6, 2))
		stop := run(t, r)
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Expired: 5, Sent: 6})
		assert.Equal(t, []float64{2}, r.values())
	})
}
