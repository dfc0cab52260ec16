//go:build !race && !invariants

// The race detector, and the copies that are made to find late readers, cost more than what is measured here.

package protocol_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// How much faster than gogofast SSF is meant to be, and the share of it below which something is broken.
const (
	decodeRatio  = 10.0
	marshalRatio = 3.0
	gateShare    = 0.7
)

// Both sides run in turns in one process. On a machine that others use as well one turn says little, so the gate is passed by any of the rounds
// and missed only by all of them.
const (
	ratioRounds = 40
	ratioTurn   = 8 * time.Millisecond // some collections of garbage, which is a part of what gogofast costs
)

func TestParseSSFRatioWithoutAllocations(t *testing.T) {
	for _, shape := range ssftest.Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			packet := ssf.AppendSpan(nil, shape.Span)
			var d ssf.Decoder
			var kept *ssftest.SSFSpan // a span that is handed on lives on the heap
			requireRatio(t, decodeRatio*gateShare, func(n int) {
				for range n {
					if _, err := d.Decode(packet); err != nil {
						t.Fatal(err)
					}
				}
			}, func(n int) {
				for range n {
					s := new(ssftest.SSFSpan)
					kept = s
					if err := s.Unmarshal(packet); err != nil {
						t.Fatal(err)
					}
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
			var buf []byte
			requireRatio(t, marshalRatio*gateShare, func(n int) {
				packet := buf
				for range n {
					packet = ssf.AppendSpan(packet[:0], shape.Span)
				}
				buf = packet
			}, func(n int) {
				for range n {
					if _, err := original.Marshal(); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// requireRatio requires that ours, which does its work n times, does not allocate and is so many times as fast as theirs.
func requireRatio(t *testing.T, want float64, ours, theirs func(n int)) {
	t.Helper()
	require.Zero(t, testing.AllocsPerRun(100, func() { ours(1) }))
	oursTimes, theirsTimes := timesIn(ours), timesIn(theirs)
	best := 0.0
	for range ratioRounds {
		each := timeOf(ours, oursTimes)
		eachTheirs := timeOf(theirs, theirsTimes)
		if best = max(best, eachTheirs/each); best >= want {
			return
		}
	}
	require.GreaterOrEqual(t, best, want)
}

// timesIn returns how often f is done in about one turn.
func timesIn(f func(n int)) int {
	n := 1
	for timeOf(f, n)*float64(n) < float64(ratioTurn)/2 {
		n *= 2
	}
	return n
}

// timeOf returns the nanoseconds that each of n times takes.
func timeOf(f func(n int), n int) float64 {
	begin := time.Now()
	f(n)
	return float64(time.Since(begin)) / float64(n)
}
