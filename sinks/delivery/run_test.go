package delivery_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

var (
	_ lifecycle.Runner  = (*delivery.Delivery)(nil)
	_ lifecycle.Starter = (*delivery.Delivery)(nil)
	_ lifecycle.Closer  = (*delivery.Delivery)(nil)
	_ lifecycle.Runner  = (*delivery.Spans)(nil)
	_ lifecycle.Starter = (*delivery.Spans)(nil)
	_ lifecycle.Closer  = (*delivery.Spans)(nil)
)

func TestStopSendsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { time.Sleep(time.Second); return nil })
		stop := run(t, r)
		for i := range 4 {
			r.Offer(batch(1, float64(i)))
		}
		assert.Equal(t, 4*time.Second, stop())
		r.settled(delivery.Ledger{Sent: 4})
		assert.Equal(t, []float64{0, 1, 2, 3}, r.values())
		r.Offer(batch(2, 9))
		r.settled(delivery.Ledger{Sent: 4, Expired: 2})
	})
}

func TestStopCountsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.AnswerWith(func(ctx context.Context, a sinktest.Attempt) error {
			deadline, ok := ctx.Deadline()
			assert.True(t, ok)
			assert.LessOrEqual(t, deadline.Sub(a.Time), interval)
			<-ctx.Done()
			return ctx.Err()
		})
		stop := run(t, r)
		r.Offer(batch(3, 1))
		r.Offer(batch(4, 2))
		time.Sleep(time.Second)
		assert.Equal(t, drain, stop())
		r.settled(delivery.Ledger{Expired: 7})
		fields, ok := r.logged("stopped before everything was sent")
		require.True(t, ok)
		assert.EqualValues(t, 7, fields["items"])
	})
}

func TestStopEndsABackoffForOneMoreTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) {
			c.RetryInitial, c.RetryMax, c.ExpireAfter = time.Hour, time.Hour, 24*time.Hour
		})
		r.rec.Answer(errBackend)
		stop := run(t, r)
		r.Offer(batch(3, 1))
		synctest.Wait()
		assert.Zero(t, stop())
		r.settled(delivery.Ledger{Sent: 3})
	})
}

func TestStopDoesNotWaitForARetryAfterBeyondIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.Answer(&sinks.RetryAfter{After: time.Minute, Err: errBackend})
		stop := run(t, r)
		r.Offer(batch(3, 1))
		r.Offer(batch(4, 2))
		synctest.Wait()
		assert.Zero(t, stop())
		r.settled(delivery.Ledger{Expired: 7})
		assert.Len(t, r.rec.Attempts(), 1)
	})
}

func TestNoDrainTimeoutExpiresAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newSettings(t)
		r.set.DrainTimeout = 0
		r.Delivery = delivery.New(r.rec, delivery.DefaultConfig(), r.set)
		r.rec.AnswerWith(func(ctx context.Context, _ sinktest.Attempt) error { <-ctx.Done(); return ctx.Err() })
		stop := run(t, r)
		r.Offer(batch(3, 1))
		synctest.Wait()
		assert.Zero(t, stop())
		r.settled(delivery.Ledger{Expired: 3})
	})
}

func TestPanicOfASinkIsCaught(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		r.rec.AnswerWith(func(_ context.Context, a sinktest.Attempt) error {
			if a.Len() == 13 {
				panic("thirteen")
			}
			return nil
		})
		stop := run(t, r)
		r.Offer(batch(13, 1))
		synctest.Wait()
		text, failing := r.Failing()
		require.True(t, failing)
		assert.Equal(t, "for 0s: panic: thirteen", text)
		r.Offer(batch(5, 2))
		synctest.Wait()
		_, failing = r.Failing()
		assert.False(t, failing)
		stop()
		r.settled(delivery.Ledger{Refused: 13, Sent: 5})
		assert.Equal(t, 1.0, r.reg.Value("sink.attempts", "result:panic"))
		fields, ok := r.logged("the sink panicked; what it was sending is refused")
		require.True(t, ok)
		assert.Contains(t, fields["stack"], "run_test.go")
	})
}

// housed is a sink with every optional part, which notes in which order they are used.
type housed struct {
	sinktest.Recorder
	calls    []string // no lock: the calls are ordered by the contract, which the race detector checks
	startErr error
	runs     func(ctx context.Context) error
	closeErr error
}

func (h *housed) Start(context.Context) error {
	h.calls = append(h.calls, "start")
	return h.startErr
}

func (h *housed) Send(ctx context.Context, b *sinks.Batch) error {
	h.calls = append(h.calls, "send")
	return h.Recorder.Send(ctx, b)
}

func (h *housed) Run(ctx context.Context) error {
	if h.runs != nil {
		return h.runs(ctx)
	}
	<-ctx.Done()
	h.calls = append(h.calls, "run ended")
	return nil
}

func (h *housed) Close() error {
	h.calls = append(h.calls, "close")
	return h.closeErr
}

func TestLifeOfASink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &housed{}
		h.AnswerWith(func(context.Context, sinktest.Attempt) error { time.Sleep(time.Second); return nil })
		r := newRig(t, h, nil)
		require.NoError(t, r.Start(t.Context()))
		stop := run(t, r)
		r.Offer(batch(1, 1))
		r.Offer(batch(1, 2))
		stop()
		require.NoError(t, r.Close(), "nothing is closed twice")
		assert.Equal(t, []string{"start", "send", "send", "run ended", "close"}, h.calls)
	})
}

func TestCloseWithoutRun(t *testing.T) {
	h := &housed{}
	r := newRig(t, h, nil)
	require.NoError(t, r.Start(t.Context()))
	r.Offer(batch(2, 1))
	require.NoError(t, r.Close())
	require.NoError(t, r.Close())
	assert.Equal(t, []string{"start", "close"}, h.calls)
	r.settled(delivery.Ledger{Expired: 2})
}

func TestErrorsOfASinksLife(t *testing.T) {
	broken := errors.New("no such file")
	t.Run("start", func(t *testing.T) {
		err := newRig(t, &housed{startErr: broken}, nil).Start(t.Context())
		require.ErrorIs(t, err, broken)
		require.EqualError(t, err, "sink out: no such file")
	})
	t.Run("close", func(t *testing.T) {
		err := newRig(t, &housed{closeErr: broken}, nil).Close()
		require.EqualError(t, err, "sink out: close: no such file")
	})
	t.Run("close after run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, &housed{closeErr: broken}, nil)
			run(t, r)()
			_, ok := r.logged("closing the sink")
			require.True(t, ok)
		})
	})
}

func TestRunOfASinkThatEndsTooEarly(t *testing.T) {
	tests := []struct {
		name string
		runs func(context.Context) error
		want string
	}{
		{
			"with an error", func(context.Context) error { return errors.New("accept: too many open files") },
			"its Run ended: accept: too many open files",
		},
		{"without", func(context.Context) error { return nil }, "its Run ended"},
		{"by a panic", func(context.Context) error { panic("oh") }, "its Run ended: panic: oh"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &housed{runs: tt.runs}
				r := newRig(t, h, nil)
				stop := run(t, r)
				r.Offer(batch(1, 1))
				synctest.Wait()
				text, failing := r.Failing()
				require.True(t, failing)
				assert.Equal(t, tt.want, text)
				stop()
				r.settled(delivery.Ledger{Sent: 1})
			})
		})
	}
}

func TestRunOfASinkThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		h := &housed{runs: func(context.Context) error { <-release; return nil }}
		r := newRig(t, h, nil)
		stop := run(t, r)
		assert.Equal(t, time.Second, stop())
		_, ok := r.logged("the sink's Run did not end; it is left behind")
		assert.True(t, ok)
		close(release)
	})
}

func TestFailingNamesTheLastErrorAndSinceWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		_, failing := r.Failing()
		require.False(t, failing, "nothing was tried yet")
		page := "<html>\n\t502 \xff Bad  Gateway" + strings.Repeat("!", 1000)
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errors.New(page) })
		stop := run(t, r)
		r.Offer(batch(1, 1))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		text, failing := r.Failing()
		require.True(t, failing)
		assert.True(t, strings.HasPrefix(text, "for 3m0s: <html> 502 Bad Gateway!!!"), text)
		assert.Less(t, len(text), 300)
		fields, ok := r.logged("delivery to the sink fails")
		require.True(t, ok)
		assert.NotContains(t, fields["error"], "\n")
		assert.Len(t, r.log.AllEntries(), 1, "said once, not at each attempt")

		r.rec.AnswerWith(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		_, failing = r.Failing()
		require.False(t, failing)
		_, ok = r.logged("delivery to the sink works again")
		require.True(t, ok)
		stop()
	})
}

func TestFlappingSinkDoesNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, nil)
		odd := false
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error {
			odd = !odd
			if odd {
				return sinks.Permanent(errBackend)
			}
			return nil
		})
		stop := run(t, r)
		for range 600 {
			r.Offer(batch(1, 1))
			time.Sleep(time.Second)
		}
		stop()
		r.settled(delivery.Ledger{Sent: 300, Refused: 300})
		assert.LessOrEqual(t, len(r.log.AllEntries()), 35, "ten minutes, three lines each at most")
	})
}

// Chunks of one interval follow each other with rests between, which encoding them takes a core for otherwise; but not at a stop.
func TestRestsBetweenChunks(t *testing.T) {
	const chunks, each = 5, time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems = 1 })
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { time.Sleep(each); return nil })
		stop := run(t, r)
		r.Offer(batch(chunks, 1))
		time.Sleep(chunks * each)
		synctest.Wait()
		assert.EqualValues(t, chunks-1, r.lawful().Sent, "it rested")
		time.Sleep(each)
		r.settled(delivery.Ledger{Sent: chunks})
		r.Offer(batch(chunks, 1))
		assert.Equal(t, chunks*each, stop())
		r.settled(delivery.Ledger{Sent: 2 * chunks})
	})
}
