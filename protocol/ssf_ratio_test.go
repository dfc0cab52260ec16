//go:build !race && !invariants

// The race detector and copies that are made to find late readers cost more than what is measured here.

package protocol_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// What SSF is wanted to be faster than gogofast by, and the share of it below which something is broken: times do not repeat on a machine
// that others use as well.
const (
	decodeRatio  = 10.0
	marshalRatio = 3.0
	gateShare    = 0.7
)

// Both sides run in turns in one process, and the fastest turn of each counts, which is the one that nobody else disturbed. The gate is
// passed as soon as the ratio is reached.
const (
	leastRounds = 5
	ratioRounds = 60
	ratioTurn   = 4 * time.Millisecond
)

func TestParseSSFRatioWithoutAllocations(t *testing.T) {
	for _, shape := range ssftest.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			packet := ssf.AppendSpan(nil, shape.Span)
			var d ssf.Decoder
			var kept *ssftest.SSFSpan // a span that is handed on lives on the heap
			requireRatio(t, decodeRatio*gateShare, func() {
				if _, err := d.Decode(packet); err != nil {
					t.Fatal(err)
				}
			}, func() {
				kept = new(ssftest.SSFSpan)
				if err := kept.Unmarshal(packet); err != nil {
					t.Fatal(err)
				}
			})
			runtime.KeepAlive(kept)
		})
	}
}

func TestMarshalSSFRatioWithoutAllocations(t *testing.T) {
	for _, shape := range ssftest.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			original := ssftest.ToOriginal(shape.Span)
			var packet []byte
			requireRatio(t, marshalRatio*gateShare, func() {
				packet = ssf.AppendSpan(packet[:0], shape.Span)
			}, func() {
				if _, err := original.Marshal(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func requireRatio(t *testing.T, want float64, ours, theirs func()) {
	t.Helper()
	require.Zero(t, testing.AllocsPerRun(100, ours))
	oursTimes, theirsTimes := callsIn(ours), callsIn(theirs)
	best, bestTheirs := time.Duration(1<<62), time.Duration(1<<62)
	ratio := 0.0
	for round := range ratioRounds {
		best = min(best, timeOf(oursTimes, ours))
		bestTheirs = min(bestTheirs, timeOf(theirsTimes, theirs))
		ratio = float64(bestTheirs) / float64(theirsTimes) / (float64(best) / float64(oursTimes))
		if round >= leastRounds && ratio >= want {
			t.Logf("%.1f times as fast", ratio)
			return
		}
	}
	require.GreaterOrEqual(t, ratio, want, "%.1f ns, and %.1f ns by gogofast", float64(best)/float64(oursTimes), float64(bestTheirs)/float64(theirsTimes))
}

// callsIn returns how many calls take about one turn.
func callsIn(f func()) int {
	for n := 1; ; n *= 2 {
		if took := timeOf(n, f); took > ratioTurn/2 {
			return n
		}
	}
}

func timeOf(n int, f func()) time.Duration {
	begin := time.Now()
	for range n {
		f()
	}
	return time.Since(begin)
}
