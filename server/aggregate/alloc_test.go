package aggregate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/dogstatsd"
)

func TestKnownKeysDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector allocates; see the run without")
		return
	}
	d := newDaemon(t, 1)
	packet := []byte("c:1|c|#a:1,b:2\nc:1|c|@0.5|#b:2,a:1\ng:1|g\nh:1:2:3|h|#x\nh:1|ms|#x\ns:member|s")
	add := func() {
		d.parser.Reset(packet, 0)
		for line := d.parser.Next(); line != nil; line = d.parser.Next() {
			if line.Kind != dogstatsd.MetricLine || d.tables[0].Add(&line.Sample, 1, 0) != Applied {
				t.Fatal("not applied")
			}
		}
		if d.addPackets(d.tables[0], [][]byte{packet}) == 0 {
			t.Fatal("not added")
		}
	}
	for range 600 { // past the sizes at which a digest still grows
		add()
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, add), 0.0)
}

func TestIdleIntervalsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Log("the race detector allocates; see the run without")
		return
	}
	d := newDaemon(t, 2)
	d.add("c:1|c\ng:1|g\nh:1|h\ns:1|s")
	for range 5 {
		d.end()
	}
	flip := func() {
		for _, table := range d.tables {
			table.Flip()
		}
	}
	collect := func() {
		flip()
		d.c.Collect()
	}
	collect()
	require.LessOrEqual(t, testing.AllocsPerRun(100, flip), 0.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, collect), 1.0, "an interval")
}
