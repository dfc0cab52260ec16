package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrains(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sizes []int
		want  int
	}{
		{"one", []int{10}, 1},
		{"all of a length", []int{10, 10, 10}, 3},
		{"a shorter one ends it", []int{10, 10, 5, 10}, 3},
		{"a longer one does not get on", []int{10, 10, 11, 10}, 2},
		{"a longer one at once", []int{10, 11}, 1},
		{"as long as a train may be", []int{30_000, 30_000, 30_000}, 2},
		{"longer than a train may be", []int{70_000, 70_000}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := builder{limits: limits{messages: 1}}
			for _, size := range tt.sizes {
				b.add(make([]byte, size), "", [numKinds]int{})
			}
			c := b.corpus()
			require.Equal(t, tt.want, train(c, 0, c.packets()))
		})
	}
	c := lineLoad{1000, 3, mix{1}}.corpus(limits{messages: 1})
	require.Equal(t, maxTrainLength, train(c, 0, c.packets()))
	require.Equal(t, 7, train(c, 100, 7))
}
