package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
