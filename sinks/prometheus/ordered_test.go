package prometheus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type text string

func (s text) key() string { return string(s) }

// Whatever is put in and taken out, the list is in order, has everything once, and no block is empty or too long.
func TestOrderedList(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, tt := range []struct {
		name string
		next func(i int) string
	}{
		{"random", func(int) string { return fmt.Sprint(random.IntN(5000)) }},
		{"ascending", func(i int) string { return fmt.Sprintf("%08d", i) }},
		{"descending", func(i int) string { return fmt.Sprintf("%08d", 1<<20-i) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var list ordered[text]
			want := map[text]bool{}
			check := func() {
				require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Collect(list.all()))
				require.Equal(t, len(want), list.len())
				for _, b := range list.blocks {
					require.True(t, len(b) > 0 && len(b) <= blockSize)
				}
			}
			grown := 0
			for i := range 12_000 {
				v := text(tt.next(i))
				found, ok := list.find(string(v))
				require.Equal(t, want[v], ok)
				switch {
				case !ok:
					list.insert(v)
					want[v] = true
				case i%2 == 0:
					require.Equal(t, v, found)
					list.remove(string(v))
					delete(want, v)
				}
				grown = max(grown, len(list.blocks))
				if i%1000 == 0 {
					check()
				}
			}
			check()
			require.Greater(t, grown, 3)
			keys := slices.Collect(maps.Keys(want))
			random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for i, v := range keys {
				list.remove(string(v))
				list.remove(string(v)) // what is not there
				delete(want, v)
				if i == len(keys)*9/10 {
					check()
					require.Less(t, len(list.blocks), grown, "blocks that have become empty are joined")
				}
			}
			require.Empty(t, list.blocks)
			require.Zero(t, list.len())
		})
	}
}

func TestBlocks(t *testing.T) {
	var list blocks[int]
	for _, n := range []int{0, 1, perBlock, 2*perBlock + 1, 20 * perBlock, 3} {
		for i := range n {
			list.add(i)
		}
		require.Equal(t, n, list.n)
		i := 0
		for v := range list.all() {
			require.Equal(t, i, *v)
			require.Same(t, v, list.at(i))
			i++
		}
		require.Equal(t, n, i)
		list.clear()
		require.LessOrEqual(t, len(list.list), keptBlocks)
	}
}
