package sinktest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
)

// answerCase is a backend that answers each attempt for two chunks in its way: attempt i gets the i-th answer, those past the last one get
// the last.
type answerCase struct {
	name     string
	answers  []respond
	want     delivery.Ledger
	attempts int           // 0: not asked
	pause    time.Duration // between the first two attempts, at least
	timeout  time.Duration // of an attempt, where one is to be up
}

const all = 2 * chunkItems

var answers = []answerCase{
	{name: "202 or what the backend says", answers: []respond{well}, want: delivery.Ledger{Sent: all}, attempts: 2},
	{name: "400", answers: []respond{status(400), well}, want: delivery.Ledger{Refused: chunkItems, Sent: chunkItems}, attempts: 2},
	{name: "401", answers: []respond{status(401)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "403", answers: []respond{status(403)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "301", answers: []respond{status(301, "Location", "/elsewhere")}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "307", answers: []respond{status(307, "Location", "/elsewhere")}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "404", answers: []respond{status(404)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "408", answers: []respond{status(408), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "413 once", answers: []respond{status(413), well}, want: delivery.Ledger{Sent: all}, attempts: 4},
	{name: "413 always", answers: []respond{status(413)}, want: delivery.Ledger{Refused: all}, attempts: 2 * (2*chunkItems - 1)},
	{
		name: "429 with Retry-After", answers: []respond{status(429, "Retry-After", "1"), well},
		want: delivery.Ledger{Sent: all}, attempts: 3, pause: time.Second,
	},
	{name: "429 until a date", answers: []respond{retryOn(time.Second), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "422", answers: []respond{status(422), well}, want: delivery.Ledger{Refused: chunkItems, Sent: chunkItems}, attempts: 2},
	{name: "429", answers: []respond{status(429), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "500", answers: []respond{status(500), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "502", answers: []respond{status(502), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "503", answers: []respond{status(503), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "503 always", answers: []respond{status(503)}, want: delivery.Ledger{Expired: all}, attempts: 10},
	{name: "504", answers: []respond{status(504), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "slow", answers: []respond{slowly}, want: delivery.Ledger{Sent: all}, attempts: 2},
	{name: "hang", answers: []respond{hang, well}, want: delivery.Ledger{Sent: all}, attempts: 3, timeout: 2 * time.Second},
	{name: "reset", answers: []respond{reset, well}, want: delivery.Ledger{Sent: all}}, // the HTTP client may try again by itself
}

func checkAnswers(t testing.TB, sub *subject, a answerCase) {
	sub.tap.before = func(attempt int) { sub.fake.will(a.answers[min(attempt, len(a.answers)-1)]) }
	if a.timeout > 0 {
		sub.timeout = a.timeout
		sub.chunksOf(chunkItems)
	}
	l := sub.deliver(t, 2)
	l.Offered = 0
	require.Equal(t, a.want, l)
	attempts := sub.tap.attempts
	if a.attempts > 0 {
		assert.Len(t, attempts, a.attempts)
	}
	if a.pause > 0 && len(attempts) > 1 {
		assert.GreaterOrEqual(t, attempts[1].start.Sub(attempts[0].start), a.pause)
	}
}

// checkTooLarge: with a backend that takes bodies up to three quarters of a whole chunk, everything arrives, in halves.
func checkTooLarge(t testing.TB, sub *subject) {
	sub.tap.before = func(attempt int) {
		if attempt == 1 {
			sub.fake.will(tooLargeAbove(sub.fake.largestBody() * 3 / 4))
		}
	}
	const n = 100
	sub.chunksOf(n)
	l := sub.deliver(t, 3)
	require.EqualValues(t, 3*n, l.Sent, "%+v", l)
	assert.Greater(t, len(sub.tap.attempts), 3, "none was found too large")
}

// checkPartial: of a chunk that is answered item by item, only what is worth it is sent again, and all the rest is counted as what it is.
func (c *Case) checkPartial(t testing.TB, sub *subject) {
	fates := [chunkItems]sinks.Fate{1: sinks.Retry, 2: sinks.Existing, 4: sinks.Refused, 6: sinks.Retry, 7: sinks.Existing}
	sub.tap.before = func(attempt int) {
		answer := well
		if attempt == 0 {
			answer = func(w http.ResponseWriter, r *http.Request, _ *fake) {
				c.Partial(w, r, sub.signal.name, func(item int) sinks.Fate { return fates[item] })
			}
		}
		sub.fake.will(answer)
	}
	l := sub.deliver(t, 2)
	require.Equal(t, delivery.Ledger{Offered: all, Sent: all - 1, Existing: 2, Refused: 1}, l)
	require.Len(t, sub.tap.attempts, 3)
	assert.Equal(t, 2, sub.tap.attempts[1].items, "only what is to be tried again is")
}

// checkConnection: requests one after another go over one connection, which a reply that is not read to its end prevents.
func checkConnection(t testing.TB, sub *subject) {
	const n = 10
	l := sub.deliver(t, n)
	require.EqualValues(t, n*chunkItems, l.Sent)
	// On a busy machine package http does not always know in time that a connection is free.
	assert.LessOrEqual(t, sub.fake.connections.Load(), int32(n/2), "a connection for each request")
}

// checkTLS: over TLS everything arrives when the backend's certificate is trusted, and nothing is sent when it is not.
func (c *Case) checkTLS(t testing.TB, s *signal, said *Buffer) {
	for yaml, want := range map[string]delivery.Ledger{
		c.TLS:  {Offered: all, Sent: all},
		c.YAML: {Offered: all, Expired: all},
	} {
		env := newEnv(t, c, said)
		env.fake.close()
		env.fake = newFake(c.Fake, true)
		t.Cleanup(env.fake.close)
		env.writeCA(t)
		over := *c
		over.YAML = yaml
		l := over.subjectIn(t, env, s).deliver(t, 2)
		assert.Equal(t, want, l)
		if want.Sent == 0 {
			assert.Empty(t, env.fake.appendRequests(nil), "sent to somebody who is not trusted")
		}
	}
}
