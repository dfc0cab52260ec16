//go:build !race && !invariants

package jsondoc_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAllocFreeAndFasterThanStdlib is the gate of the figures: seven tenths of what is aimed at, and no allocation. Both run in turns of a
// millisecond, and the best turn of each counts: that is one in which no neighbour took the processor away. More turns follow only for as
// long as the gate is not reached.
func TestAllocFreeAndFasterThanStdlib(t *testing.T) {
	const (
		fewTurns = 5
		turns    = 200
		loops    = 400
	)
	for name, target := range map[string]float64{"span": 12, "value": 5, "wire": 8} {
		c := contests()[name]
		buf := make([]byte, 0, 4096)
		ours := func() {
			if _, err := c.ours(buf); err != nil {
				t.Fatal(err)
			}
		}
		assert.Zero(t, testing.AllocsPerRun(100, ours), name)
		gate, ratio := 0.7*target, 0.0
		a, b := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
		for turn := 0; turn < turns && (turn < fewTurns || ratio < gate); turn++ {
			a = min(a, took(loops, ours))
			b = min(b, took(loops/4, func() { c.stdlib.write(t) }))
			ratio = 4 * b.Seconds() / a.Seconds()
		}
		t.Logf("%s: %.1f times as fast as encoding/json", name, ratio)
		assert.GreaterOrEqual(t, ratio, gate, name)
	}
}

func took(n int, do func()) time.Duration {
	start := time.Now()
	for range n {
		do()
	}
	return time.Since(start)
}
