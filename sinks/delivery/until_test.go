package delivery_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// Whoever waits is told once, when the delivery is done with the interval; not when Run ended before.
func TestOfferUntil(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []error
		change  func(*delivery.Config)
		wait    time.Duration // until it is told
		told    int
	}{
		{"sent", nil, nil, 0, 1},
		{"refused", []error{sinks.Permanent(errBackend)}, nil, 0, 1},
		{"sent by the second attempt", []error{errBackend}, nil, 30 * time.Second, 1},
		{"given up by its age", []error{errBackend, errBackend, errBackend, errBackend, errBackend, errBackend}, func(c *delivery.Config) { c.Timeout, c.ExpireAfter = time.Second, 3*time.Second }, time.Minute, 1},
		{"filtered away", nil, func(c *delivery.Config) { c.MaxNameLength = 1 }, 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, tt.change)
				for _, answer := range tt.answers {
					r.rec.Answer(answer)
				}
				stop := run(t, r)
				var told atomic.Int64
				r.OfferUntil(nil, func() { told.Add(1) }, batch(10, 1))
				synctest.Wait()
				if tt.wait > 0 {
					assert.Zero(t, told.Load())
					time.Sleep(tt.wait)
				}
				assert.EqualValues(t, tt.told, told.Load())
				stop()
				assert.EqualValues(t, tt.told, told.Load(), "once")
			})
		})
	}
}

// The arrays are free as soon as nothing of them is read: with the delivery, or at once where the filter made others.
func TestOfferUntilFree(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*delivery.Config)
		early  int64
		sent   int
	}{
		{"nothing filtered", nil, 0, 4},
		{"one filtered", func(c *delivery.Config) { c.MaxNameLength = 6 }, 1, 3},
		{"all filtered", func(c *delivery.Config) { c.MaxNameLength = 1 }, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, tt.change)
				series := &metric.Series{Name: "x"}
				points := func(names ...string) *sinks.Batch {
					b := &sinks.Batch{End: time.Unix(1, 0)}
					for _, name := range names {
						b.Points = append(b.Points, metric.Point{Series: series, Name: name, Value: 1})
					}
					return b
				}
				interval := []*sinks.Batch{points("first", "second"), points("third", "a long name")}
				if tt.sent == 4 {
					interval[1].Points[1].Name = "fourth"
				}
				var free, done atomic.Int64
				r.OfferUntil(func() { free.Add(1) }, func() { done.Add(1) }, interval...)
				assert.Equal(t, tt.early, free.Load())
				if free.Load() > 0 {
					for _, b := range interval {
						clear(b.Points)
					}
				}
				stop := run(t, r)
				synctest.Wait()
				stop()
				assert.EqualValues(t, 1, free.Load())
				assert.EqualValues(t, 1, done.Load())
				sent := 0
				for _, a := range r.rec.Attempts() {
					for i := range a.Batch.Points {
						assert.NotEmpty(t, a.Batch.Points[i].Name)
						sent++
					}
				}
				assert.Equal(t, tt.sent, sent)
			})
		})
	}
}

func TestOfferUntilOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 10, 1 })
		var told [3]atomic.Int64
		read := func() [3]int64 { return [3]int64{told[0].Load(), told[1].Load(), told[2].Load()} }
		for i := range told {
			r.OfferUntil(nil, func() { told[i].Add(1) }, batch(10, 1))
		}
		assert.Equal(t, [3]int64{1, 1, 0}, read(), "what a newer one drives out is given up")
		stop := run(t, r)
		synctest.Wait()
		stop()
		assert.Equal(t, [3]int64{1, 1, 1}, read())
	})
}

func TestOfferUntilTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		for range 100 {
			r.rec.Answer(errors.New("down"))
		}
		var told atomic.Int64
		stop := run(t, r)
		r.OfferUntil(nil, func() { told.Add(1) }, batch(10, 1))
		r.OfferUntil(nil, func() { told.Add(1) }, batch(10, 1))
		synctest.Wait()
		stop()
		r.OfferUntil(nil, func() { told.Add(1) }, batch(10, 1))
		assert.Zero(t, told.Load(), "what the end of the process cut off may be offered to the next")
	})
}

// An attempt that the end cuts off does not count as the last of those that there may be, whether it began before the stop or while draining.
func TestOfferUntilTheEndOfTheOnlyAttempt(t *testing.T) {
	for _, first := range []time.Duration{0, 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil, func(c *delivery.Config) { c.RetryAttempts, c.Timeout, c.ExpireAfter = 1, time.Hour, 2*time.Hour })
			var attempts, told atomic.Int64
			r.rec.AnswerWith(func(ctx context.Context, _ sinktest.Attempt) error {
				if attempts.Add(1) == 1 && first > 0 {
					time.Sleep(first)
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			})
			stop := run(t, r)
			for range 2 {
				r.OfferUntil(nil, func() { told.Add(1) }, batch(10, 1))
			}
			synctest.Wait()
			stop()
			sent := r.lawful().Sent / 10
			assert.EqualValues(t, sent, told.Load())
			assert.EqualValues(t, sent+1, attempts.Load())
			assert.Equal(t, first > 0, sent == 1)
		})
	}
}
