package delivery_test

import (
	"context"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// chaos answers at random, with every class of answer, and sometimes late, deaf, or not at all.
type chaos struct {
	rnd   *rand.Rand // used by the sink's goroutine only
	taken atomic.Int64
}

func (c *chaos) answer(ctx context.Context, n int) error {
	if c.rnd.IntN(4) == 0 {
		time.Sleep(rand.N(20 * time.Second)) // past its deadline, at times
	}
	switch c.rnd.IntN(12) {
	case 0:
		return sinks.Permanent(errBackend)
	case 1:
		bad := c.rnd.IntN(n + 1)
		c.taken.Add(int64(n - bad))
		return &sinks.PartialError{Refused: bad, Err: errBackend}
	case 2:
		return &sinks.TooLargeError{Err: errBackend}
	case 3:
		return &sinks.RetryAfter{After: time.Duration(c.rnd.IntN(30)) * time.Second, Err: errBackend}
	case 4:
		panic("chaos")
	case 5:
		<-ctx.Done()
		return ctx.Err()
	case 6, 7:
		return errBackend
	default:
		c.taken.Add(int64(n))
		return nil
	}
}

// However a sink answers and whenever it is looked at, every item is at exactly one place, and what is called sent is what the sink took.
func TestLedgerAddsUpAtEveryMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, round))
			r := newRig(t, nil, func(c *delivery.Config) {
				c.QueueItems, c.ChunkItems = 200+rnd.IntN(1000), 1+rnd.IntN(200)
				c.ExpireAfter = 10*time.Second + time.Duration(rnd.IntN(600))*time.Second
				c.RetryAttempts = rnd.IntN(4)
				c.MaxTags = 3
			})
			c := &chaos{rnd: rand.New(rand.NewPCG(seed, round+1000))}
			r.rec.AnswerWith(func(ctx context.Context, a sinktest.Attempt) error { return c.answer(ctx, a.Len()) })
			stop := run(t, r)
			offered := 0
			for range 100 {
				b := batch(rnd.IntN(300), 1)
				for i := range b.Points {
					if rnd.IntN(50) == 0 {
						b.Points[i].Value = math.NaN()
					}
				}
				offered += b.Len()
				r.Offer(b)
				for range 5 {
					time.Sleep(2 * time.Second)
					l := r.lawful()
					require.EqualValues(t, offered, l.Offered)
				}
			}
			require.LessOrEqual(t, stop(), drain+3*time.Second)
			l := r.lawful()
			require.Zero(t, l.Waiting)
			require.Zero(t, l.WaitingBytes)
			time.Sleep(time.Minute) // what was left behind has ended
			if behind := int(c.taken.Load()) - int(l.Sent); behind != 0 {
				// Only a sink that took its chunk after Run had given it up may differ, by that one chunk.
				_, ok := r.logged("the sink did not return from its last attempt; it is left behind, not closed")
				require.True(t, ok)
				require.LessOrEqual(t, behind, int(l.Expired))
			}
		})
	}
}

// The same for spans, by the same core.
func TestSpanLedgerAddsUpAtEveryMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, round))
			r := newSpanRig(t, func(c *delivery.SpanConfig) {
				c.QueueItems, c.ChunkItems = 200+rnd.IntN(500), 1+rnd.IntN(100)
				c.Linger = time.Duration(rnd.IntN(3000)) * time.Millisecond
			})
			c := &chaos{rnd: rand.New(rand.NewPCG(seed, round+1000))}
			r.rec.AnswerWith(func(ctx context.Context, a sinktest.Attempt) error { return c.answer(ctx, a.Len()) })
			stop := run(t, r.Spans)
			for i := range 5000 {
				r.OfferSpan(span(i))
				time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
				l := r.Spans.Ledger()
				require.Equal(t, l.Offered, l.Sum())
				require.EqualValues(t, i+1, l.Offered)
			}
			stop()
			l := r.Spans.Ledger()
			require.Equal(t, l.Offered, l.Sum())
			require.Zero(t, l.Waiting)
			require.Zero(t, l.WaitingBytes)
			time.Sleep(time.Minute)
		})
	}
}
