//go:build invariants

package flush

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPointsGivenBackAreOverwritten(t *testing.T) {
	s := newStocked(t, twoArrays, tested(nil), Target{Name: "a"})
	s.end("a")
	points := s.got["a"][0].Points
	require.NotZero(t, points[0])
	s.giveBack("a")
	for i := range points {
		require.Zero(t, points[i])
	}
}
