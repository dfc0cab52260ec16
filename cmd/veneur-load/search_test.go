package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSearch(t *testing.T) {
	for _, tt := range []struct {
		name           string
		sender, daemon float64 // what each can do
		least          float64 // to be found
		free           bool
	}{
		{name: "the sender is slower", sender: 100, daemon: 200, least: 100, free: true},
		{name: "the daemon is slower", sender: 1000, daemon: 300, least: 299},
		{name: "much slower", sender: 1000, daemon: 10, least: 9.9},
		{name: "a little slower", sender: 1000, daemon: 999, least: 960},
		{name: "it takes nothing", sender: 1000, daemon: 0, least: 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			best, free, err := search(probes, func(rate float64) (sent, got float64, err error) {
				calls++
				if sent = rate; rate == 0 || rate > tt.sender {
					sent = tt.sender
				}
				return sent, min(sent, tt.daemon), nil
			})
			require.NoError(t, err)
			require.Equal(t, tt.free, free)
			require.GreaterOrEqual(t, best, tt.least)
			require.LessOrEqual(t, best, min(tt.sender, max(tt.daemon, tt.least)))
			require.LessOrEqual(t, calls, probes+1)
		})
	}
}

// A daemon that is slower when it is hurried, as one that shares its cores with the sender.
func TestSearchGoesDown(t *testing.T) {
	best, free, err := search(probes, func(rate float64) (sent, got float64, err error) {
		if rate == 0 {
			return 1000, 800, nil
		}
		if rate > 500 {
			return rate, rate * 0.9, nil
		}
		return rate, rate, nil
	})
	require.NoError(t, err)
	require.False(t, free)
	require.InDelta(t, 450, best, 50)
}

func TestSearchEndsWithAnError(t *testing.T) {
	gone := errors.New("gone")
	for fails := range 3 {
		calls := 0
		_, _, err := search(probes, func(rate float64) (sent, got float64, err error) {
			if calls++; calls > fails {
				return 0, 0, gone
			}
			return 100, 50, nil
		})
		require.ErrorIs(t, err, gone)
	}
}
