package sinktest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/delivery"
)

// subject is one sink under one check, with its delivery.
type subject struct {
	*Env
	signal *signal
	sender sender
	tap    *tap

	settings delivery.Settings
	items    int           // of a chunk
	timeout  time.Duration // of an attempt; 0 is patience
	d        deliverer
}

func (c *Case) newSubject(t testing.TB, s *signal, said *Buffer) *subject {
	return c.subjectIn(t, newEnv(t, c, said), s)
}

// subjectIn builds a sink in a given environment, as a daemon does that is started again.
func (c *Case) subjectIn(t testing.TB, env *Env, s *signal) *subject {
	configured, err := c.Kind.Configure(decoder(env.expand(c.YAML)))
	require.NoError(t, err, "the configuration of the case")
	settings := env.settings()
	sink, sender, err := s.build(configured, settings)
	require.NoError(t, err, "building the sink")
	env.Sink = sink
	sub := &subject{Env: env, signal: s, sender: sender, tap: &tap{sink: sink}, settings: delivery.Settings{
		Name: settings.Name, Interval: patience, Log: settings.Log, Telemetry: settings.Telemetry,
		DrainTimeout: drainTime,
	}}
	sub.chunksOf(chunkItems)
	return sub
}

// chunksOf makes the delivery anew, with chunks of n.
func (sub *subject) chunksOf(n int) {
	// For backends on this machine that fail on purpose.
	c := delivery.DefaultConfig().Common
	c.ChunkItems = n
	c.Timeout = patience
	if sub.timeout > 0 {
		c.Timeout = sub.timeout
	}
	c.RetryInitial = time.Millisecond
	c.RetryMax = 10 * time.Millisecond
	c.RetryAttempts = 5
	sub.items = n
	sub.d = sub.sender.deliver(c, sub.settings, sub.tap)
}

// drainTime is for how long a delivery that is told to stop tries: less than the pause after a fault of the configuration, which no check waits for.
const drainTime = 20 * time.Second

// chunkItems is how many items one offer and one chunk have, unless a check says otherwise.
const chunkItems = 8

// deliver offers a number of chunks and returns what became of them, once nothing waits any more.
func (sub *subject) deliver(t testing.TB, chunks int) delivery.Ledger {
	require.NoError(t, sub.d.Start(t.Context()), "start")
	for range chunks {
		sub.d.offer(sub.items)
	}
	// Told to stop from the beginning, Run returns when everything is settled: there is nothing to wait for.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, sub.d.Run(ctx))
	l := sub.d.Ledger()
	require.Equal(t, l.Offered, l.Sum(), "the ledger does not add up: %+v", l)
	require.EqualValues(t, chunks*sub.items, l.Offered)
	require.Zero(t, l.Waiting)
	text, _ := sub.d.Failing()
	_, _ = sub.said.Write([]byte(text + "\n"))
	for i, attempt := range sub.tap.attempts {
		sub.said.note(attempt.err)
		assert.Less(t, attempt.overdue, overdue, "attempt %d returned too long after its deadline", i)
	}
	return l
}

// live runs the sink without delivery while f runs.
func (sub *subject) live(t testing.TB, f func()) {
	require.NoError(t, sub.tap.Start(t.Context()), "start")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sub.tap.Run(ctx) }()
	defer func() {
		cancel()
		assert.NoError(t, <-ended, "run")
		assert.NoError(t, sub.tap.Close(), "close")
	}()
	f()
}
