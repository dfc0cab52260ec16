package sinktest

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
)

// checkBuild: a sink that was only built holds nothing. That is what makes validating a configuration safe.
func checkBuild(t testing.TB, sub *subject) {
	entries, err := os.ReadDir(sub.Dir)
	require.NoError(t, err)
	assert.Empty(t, entries, "building made files")
	if sub.fake != nil {
		assert.Empty(t, sub.fake.appendRequests(nil), "building spoke to the backend")
	}
	assert.Empty(t, sub.Stdout.Bytes(), "building wrote")
}

// checkEncoding: what the sink writes is what the golden file says, even though what it was lent is rubbish by the time it is looked at.
func (c *Case) checkEncoding(t testing.TB, sub *subject) {
	sub.live(t, func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c.checkTaken(t, sub, sub.sender.lend(ctx, t))
		var got []byte
		switch {
		case c.Output != nil:
			got = c.Output(t, sub.Env)
		case sub.fake != nil:
			got = sub.fake.appendRequests(nil)
		default:
			return
		}
		require.NotContains(t, string(got), rubbish, "the sink kept what it was lent")
		Golden(t, c.goldenName(sub), got)
	})
}

// checkTaken: the sink takes everything but what it cannot say.
func (c *Case) checkTaken(t testing.TB, sub *subject, err error) {
	if c.Refused == 0 || sub.signal.name != "metrics" {
		require.NoError(t, err)
		return
	}
	var partial *sinks.PartialError
	require.ErrorAs(t, err, &partial)
	require.Equal(t, c.Refused, partial.Refused, "%v", err)
}

// checkLife: however a sink's life ends, it leaves nothing behind, and another one can begin in the same place.
func (c *Case) checkLife(t testing.TB, sub *subject, said *Buffer) {
	before := goleak.IgnoreCurrent()
	require.NoError(t, sub.d.Close(), "closing what was not started")

	second := c.subjectIn(t, newEnv(t, c, said), sub.signal)
	require.NoError(t, second.d.Start(t.Context()), "start")
	require.NoError(t, second.d.Close(), "closing what was started and did not run")

	for range 2 {
		again := c.subjectIn(t, second.Env, sub.signal)
		l := again.deliver(t, 2)
		require.Equal(t, delivery.Ledger{Offered: all, Sent: all}, l)
	}
	if second.fake != nil {
		second.fake.close()
	}
	leaktest.VerifyNone(t, before)
}

// checkEndedContext: a Send whose time is up returns at once.
func checkEndedContext(t testing.TB, sub *subject) {
	sub.live(t, func() {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		returned := make(chan error, 1)
		go func() { returned <- sub.sender.lend(ctx, t) }()
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case err := <-returned:
			sub.said.note(err)
		case <-timer.C:
			require.Fail(t, "Send did not return after its context had ended")
		}
	})
}

// checkOutage: what a backend that fails for a while does not get is accounted for, and afterwards it gets everything again.
func (c *Case) checkOutage(t testing.TB, sub *subject) {
	sub.tap.before = func(attempt int) {
		switch attempt {
		case 0:
			c.Break(t, sub.Env)
		case 1:
			c.Mend(t, sub.Env)
		}
	}
	l := sub.deliver(t, 3)
	require.Error(t, sub.tap.attempts[0].err, "the sink did not notice that its backend was broken")
	require.NoError(t, errors.Join(errorsOf(sub.tap.attempts[1:])...))
	assert.GreaterOrEqual(t, l.Sent, uint64(all), "%+v", l)
	assert.Equal(t, l.Offered, l.Sent+l.Refused, "%+v", l)
}

func errorsOf(attempts []tapped) []error {
	var errs []error
	for _, a := range attempts {
		errs = append(errs, a.err)
	}
	return errs
}
