package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

func TestATreeOfTheShop(t *testing.T) {
	end := time.Unix(1_700_000_000, 0)
	trees := tree{tags: []ssf.Tag{{Key: "env", Value: "dev"}}}
	failed := 0
	for n := range 100 {
		spans := trees.next(end)
		require.Len(t, spans, 9)
		byID := map[int64]*ssf.SSFSpan{}
		for _, s := range spans {
			require.NoError(t, ssf.ValidateTrace(s))
			require.Equal(t, spans[0].TraceId, s.TraceId)
			env, _ := s.Tag("env")
			require.Equal(t, "dev", env)
			byID[s.Id] = s
		}
		root := spans[len(spans)-1]
		require.Zero(t, root.ParentId)
		require.Equal(t, end.UnixNano(), root.EndTimestamp)
		took, _ := root.Duration()
		require.Equal(t, 117*time.Millisecond*time.Duration(100+n)/100, took)
		for _, s := range spans[:len(spans)-1] {
			parent := byID[s.ParentId]
			require.NotNil(t, parent)
			require.LessOrEqual(t, parent.StartTimestamp, s.StartTimestamp)
			require.LessOrEqual(t, s.EndTimestamp, parent.EndTimestamp)
			require.Equal(t, s.Service != parent.Service, s.Indicator, "a request to another service")
		}
		if root.Error {
			failed++
		}
	}
	assert.Equal(t, 5, failed)
}

func TestTreesOverAStream(t *testing.T) {
	d := startDaemon(t)
	requireSent(t, emit(t, "-tree", "3", "-tree_rate", "1000", "-hostport", d.hostports("SSF")["tcp"]))
	spans := 0
	for _, r := range d.stop() {
		if r.Kind == "span" {
			spans++
		}
	}
	assert.Equal(t, 27, spans)
}

func TestTreeFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		why  string
	}{
		{[]string{"-tree", "0"}, "-tree needs a number of traces, at least 1"},
		{[]string{"-tree_rate", "5"}, "-tree needs a number of traces, at least 1"},
		{[]string{"-tree", "1", "-tree_rate", "0"}, "-tree_rate is a number of traces a second"},
		{[]string{"-tree", "1", "-name", "a"}, "-name says nothing about -tree"},
		{[]string{"-tree", "1", "-e_title", "a"}, "-e_title says nothing about -tree"},
		{[]string{"-tree", "1", "x"}, `unexpected argument "x"`},
	} {
		requireRefused(t, emit(t, tt.args...), tt.why)
	}
}
