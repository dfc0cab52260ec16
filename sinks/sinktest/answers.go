package sinktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
}

const all = 2 * chunkItems

var answers = []answerCase{
	{name: "202 or what the backend says", answers: []respond{well}, want: delivery.Ledger{Sent: all}, attempts: 2},
	{name: "400", answers: []respond{status(400), well}, want: delivery.Ledger{Refused: chunkItems, Sent: chunkItems}, attempts: 2},
	{name: "401", answers: []respond{status(401)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "403", answers: []respond{status(403)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "404", answers: []respond{status(404)}, want: delivery.Ledger{Expired: all}, attempts: 1},
	{name: "413 once", answers: []respond{status(413), well}, want: delivery.Ledger{Sent: all}, attempts: 4},
	{name: "413 always", answers: []respond{status(413)}, want: delivery.Ledger{Refused: all}, attempts: 2 * (2*chunkItems - 1)},
	{
		name: "429 with Retry-After", answers: []respond{status(429, "Retry-After", "1"), well},
		want: delivery.Ledger{Sent: all}, attempts: 3, pause: time.Second,
	},
	{name: "429", answers: []respond{status(429), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "500", answers: []respond{status(500), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "503", answers: []respond{status(503), well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "503 always", answers: []respond{status(503)}, want: delivery.Ledger{Expired: all}, attempts: 10},
	{name: "hang", answers: []respond{hang, well}, want: delivery.Ledger{Sent: all}, attempts: 3},
	{name: "reset", answers: []respond{reset, well}, want: delivery.Ledger{Sent: all}}, // the HTTP client may try again by itself
}

func checkAnswers(t testing.TB, sub *subject, a answerCase) {
	sub.tap.before = func(attempt int) { sub.fake.will(a.answers[min(attempt, len(a.answers)-1)]) }
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
