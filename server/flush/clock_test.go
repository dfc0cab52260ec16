package flush

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(s string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05.000", "2026-11-30 "+s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestClockWaits(t *testing.T) {
	tests := []struct {
		name       string
		aligned    bool
		start, now string
		wait       time.Duration
	}{
		{name: "B152 aligned: the first tick is the next whole interval", aligned: true, start: "12:00:03.000", now: "12:00:03.000", wait: 7 * time.Second},
		{name: "aligned at a tick: the next one", aligned: true, start: "12:00:03.000", now: "12:00:10.000", wait: 10 * time.Second},
		{name: "aligned after a slow flush", aligned: true, start: "12:00:10.000", now: "12:00:12.500", wait: 7500 * time.Millisecond},
		{name: "free running from the start", start: "12:00:03.250", now: "12:00:03.250", wait: 10 * time.Second},
		{name: "free running after a slow flush", start: "12:00:03.250", now: "12:00:05.250", wait: 8 * time.Second},
		{name: "free running after a flush of more than an interval", start: "12:00:03.250", now: "12:00:15.250", wait: 8 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock(10*time.Second, tt.aligned, at(tt.start))
			require.Equal(t, tt.wait, c.wait(at(tt.now)))
		})
	}
}

func TestClockTicks(t *testing.T) {
	c := newClock(10*time.Second, true, at("12:00:03.000"))

	first := c.tick(at("12:00:10.001"))
	require.Equal(t, at("12:00:10.000").Unix(), first.end.Unix(), "B152")
	require.Equal(t, 7001*time.Millisecond, first.covered, "B152: the first interval says that it is shorter")
	require.Zero(t, first.skipped)

	next := c.tick(at("12:00:20.000"))
	require.Equal(t, 9999*time.Millisecond, next.covered)

	late := c.tick(at("12:00:50.002"))
	require.Equal(t, 2, late.skipped, "the ticks at :30 and :40")
	require.Equal(t, 30002*time.Millisecond, late.covered)
}

func TestClockEndsMoveForward(t *testing.T) {
	c := newClock(10*time.Second, false, at("12:00:00.000"))
	a := c.tick(at("12:00:10.000"))
	stop := c.tick(at("12:00:10.400"))
	require.Equal(t, a.end.Unix()+1, stop.end.Unix(), "a partial interval that ends in the second of the last flush")
	back := c.tick(at("11:30:20.000"))
	require.Equal(t, stop.end.Unix()+1, back.end.Unix(), "the wall clock was set back")
}

func TestClockBelowASecondStaysInThePresent(t *testing.T) {
	c := newClock(100*time.Millisecond, false, at("12:00:00.000"))
	now := at("12:00:00.000")
	for range 600 {
		now = now.Add(100 * time.Millisecond)
		require.Equal(t, now.Unix(), c.tick(now).end.Unix())
	}
	require.Equal(t, now.Unix(), c.tick(now.Add(-time.Hour)).end.Unix(), "and never goes back")
}

func TestClockReturnsFromAFutureThatWasNone(t *testing.T) {
	c := newClock(10*time.Second, false, at("12:00:00.000"))
	c.tick(at("12:00:10.000").AddDate(10, 0, 0))
	back := c.tick(at("12:00:20.000"))
	require.Equal(t, at("12:00:20.000").Unix(), back.end.Unix())
	require.Greater(t, back.setBack, 9*365*24*time.Hour)
	require.Zero(t, c.tick(at("12:00:30.000")).setBack)
}
