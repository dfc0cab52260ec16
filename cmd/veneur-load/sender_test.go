package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slow is a transport on which a packet takes some time, and only so many go at once.
type slow struct {
	each time.Duration
	most int
	err  error

	next, packets, calls int
	wrong                bool
}

func (s *slow) send(c *corpus, first, n int) (int, error) {
	s.wrong = s.wrong || first != s.next || n < 1 || first+n > c.packets()
	if s.err != nil && s.packets >= 100 {
		return 0, s.err
	}
	n = min(n, s.most)
	time.Sleep(time.Duration(n) * s.each)
	s.calls++
	s.packets += n
	s.next = (first + n) % c.packets()
	return n, nil
}

func TestASenderKeepsItsPace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rate  float64
		lines int
		each  time.Duration
		count uint64
		time  time.Duration // 0 is 10 s
		want  uint64        // messages
		delta float64
	}{
		{name: "slowly", rate: 3, lines: 1, want: 30, delta: 1},
		{name: "once", rate: 1, lines: 1, time: 500 * time.Millisecond, want: 1},
		{name: "ten thousand", rate: 10_000, lines: 1, want: 100_000, delta: 64},
		{name: "a million, packed", rate: 1e6, lines: 30, want: 1e7, delta: 2000},
		{name: "as fast as possible", lines: 1, each: 10 * time.Microsecond, want: 1e6, delta: 64},
		{name: "faster than possible", rate: 1e6, lines: 1, each: 10 * time.Microsecond, want: 1e6, delta: 64},
		{name: "so many", lines: 1, each: time.Microsecond, count: 12_345, want: 12_345},
		{name: "so many, paced", rate: 5000, lines: 1, count: 12_345, want: 12_345},
		{name: "so many, packed", lines: 30, each: time.Microsecond, count: 100, want: 120},
		{name: "more than there is time for", rate: 100, lines: 1, count: 12_345, want: 1000, delta: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := lineLoad{1000, 1, mix{1}}.corpus(limits{messages: tt.lines})
			synctest.Test(t, func(t *testing.T) {
				out := &slow{each: tt.each, most: 50, next: 7}
				s := sender{corpus: c, out: out, first: 7, batch: oneCall, rate: tt.rate, count: tt.count}
				if tt.time == 0 {
					tt.time = 10 * time.Second
				}
				begin := time.Now()
				packets, err := s.run(t.Context(), begin.Add(tt.time))
				require.NoError(t, err)
				require.EqualValues(t, out.packets, packets)
				require.False(t, out.wrong, "packets are sent in order, and none past the end")
				require.InDelta(t, tt.want, c.tally(7, packets).Messages, tt.delta)
				require.LessOrEqual(t, time.Since(begin), tt.time+time.Millisecond)
			})
		})
	}
}

func TestASenderDoesNotCatchUpInABurst(t *testing.T) {
	c := lineLoad{1000, 1, mix{1}}.corpus(limits{messages: 1})
	synctest.Test(t, func(t *testing.T) {
		out := &stalling{at: 500, wait: 5 * time.Second}
		s := sender{corpus: c, out: out, batch: oneCall, rate: 1000, holds: &holds{}}
		packets, err := s.run(t.Context(), time.Now().Add(10*time.Second))
		require.NoError(t, err)
		require.InDelta(t, 5000, packets, 100, "what was missed is not sent later")
		require.LessOrEqual(t, out.largest, 30)
		in, outside := s.holds.longest(nil)
		require.Empty(t, in)
		require.Equal(t, 5*time.Second, outside)
		require.Zero(t, s.holds.late)
	})
}

// stalling is a transport that waits once.
type stalling struct {
	at, packets, largest int
	wait                 time.Duration
}

func (s *stalling) send(_ *corpus, _, n int) (int, error) {
	if s.packets < s.at && s.packets+n >= s.at {
		time.Sleep(s.wait)
	}
	s.packets += n
	s.largest = max(s.largest, n)
	return n, nil
}

func TestASenderEndsWithAnErrorOrTheContext(t *testing.T) {
	c := lineLoad{1000, 1, mix{1}}.corpus(limits{messages: 1})
	gone := errors.New("gone")
	synctest.Test(t, func(t *testing.T) {
		s := sender{corpus: c, out: &slow{most: 50, err: gone}, batch: oneCall}
		packets, err := s.run(t.Context(), time.Now().Add(time.Second))
		require.ErrorIs(t, err, gone)
		require.EqualValues(t, 100, packets, "what was sent before counts")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s = sender{corpus: c, out: &slow{most: 50, each: time.Millisecond}, batch: oneCall}
		packets, err = s.run(ctx, time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.InDelta(t, 1000, packets, 50)
	})
}

func TestSendersShareACount(t *testing.T) {
	l := load{corpus: lineLoad{1000, 1, mix{1}}.corpus(limits{messages: 1}), senders: 3, count: 100, rate: 300}
	total := uint64(0)
	starts := map[int]bool{}
	for i := range l.senders {
		s := l.sender(i, nil)
		total += s.count
		starts[s.first] = true
		assert.InDelta(t, 100, s.rate, 1e-9)
	}
	require.EqualValues(t, 100, total)
	require.Len(t, starts, 3)
}

func TestHolds(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	var h holds
	h.note(at(0), at(0))
	require.Empty(t, h.list, "too short to be one")
	h.note(at(10), at(12))
	h.note(at(20), at(27))
	h.note(at(40), at(45))
	in, out := h.longest([]hold{{at(11), at(20)}, {at(44), at(60)}})
	require.Equal(t, []time.Duration{2 * time.Millisecond, 5 * time.Millisecond}, in)
	require.Equal(t, 7*time.Millisecond, out)
	for i := range maxHolds + 100 {
		h.note(at(i), at(i+1))
	}
	h.note(at(0), at(1000))
	h.note(at(0), at(1))
	require.LessOrEqual(t, len(h.list), maxHolds)
	_, out = h.longest(nil)
	require.Equal(t, time.Second, out, "the longest is never forgotten")
}
