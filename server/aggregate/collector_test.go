package aggregate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No state is moved while an interval is collected, and none is made twice for series that several lanes have.
func TestRoomForStatesIsMadeOnce(t *testing.T) {
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
		for _, room := range [][2]int{
			{len(iv.Counters), cap(iv.Counters)},
			{len(iv.Gauges), cap(iv.Gauges)},
			{len(iv.Histograms), cap(iv.Histograms)},
			{len(iv.Sets), cap(iv.Sets)},
		} {
			require.Equal(t, series, room[0])
			require.LessOrEqual(t, room[1], series+series/8)
		}
		if counters != nil {
			require.Same(t, counters, &iv.Counters[0], "the memory of the interval before")
		}
		counters = &iv.Counters[0]
		require.EqualValues(t, lanes, counters.Value)
		d.c.Release(iv)
		require.Zero(t, *counters, "released states hold nothing")
		d.expire()
	}
	d.add("c:1|c|#1")
	require.Len(t, d.collect().Counters, 1)
}
