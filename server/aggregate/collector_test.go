package aggregate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No state is moved while an interval is collected, none is made twice for series that several lanes have, and the memory is used again.
func TestMemoryOfStatesIsUsedAgain(t *testing.T) {
	const series, lanes = 5000, 4
	var lines strings.Builder
	for i := range series {
		fmt.Fprintf(&lines, "c:1|c|#%d\ng:1|g|#%d\nh:1|h|#%d\ns:m|s|#%d\n", i, i, i, i)
	}
	d := newDaemon(t, lanes)
	var counters *CounterState
	for range 3 {
		for lane := range lanes {
			d.addTo(lane, strings.TrimSuffix(lines.String(), "\n"))
		}
		iv := d.collect()
		for _, n := range []int{iv.Counters.Len(), iv.Gauges.Len(), iv.Histograms.Len(), iv.Sets.Len()} {
			require.Equal(t, series, n)
		}
		require.Len(t, iv.Counters.pages, (series+listPage-1)/listPage)
		if counters != nil {
			require.Same(t, counters, iv.Counters.At(0), "the memory of the interval before")
		}
		counters = iv.Counters.At(0)
		require.EqualValues(t, lanes, counters.Value)
		d.c.Release(iv)
		require.Zero(t, *counters, "released states hold nothing")
		d.expire()
	}
	d.add("c:1|c|#1")
	require.Equal(t, 1, d.collect().Counters.Len())
}
