package flush

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The names of a histogram's points are built once, and those of a flood leave no memory behind.
func TestNamesOfHistograms(t *testing.T) {
	steps := 0
	r := newRenderer(tested(nil), func() { steps++ })
	usual := func(i int) string { return fmt.Sprint("usual", i) }
	use := func(flood int) (first *byte) {
		r.begin()
		for i := range 100 {
			require.Equal(t, usual(i)+".min", r.histogramNames(usual(i))[0])
		}
		for i := range flood {
			r.histogramNames(fmt.Sprint("once", i))
		}
		return unsafe.StringData(r.histogramNames(usual(0))[0])
	}
	first := use(0)
	use(20_000)
	require.Len(t, r.names, 20_100)
	require.Same(t, first, use(0))
	require.Len(t, r.names, 20_100, "they were used in the interval before")
	require.Greater(t, 20_100, 2*stepPoints)
	require.Same(t, first, use(0))
	require.Len(t, r.names, 100)
	require.Equal(t, 100, r.mostNames, "the map is another one: a map keeps the memory of all that it ever held")
	require.GreaterOrEqual(t, steps, 20_100/stepPoints)
	r.begin()
	r.begin()
	require.Empty(t, r.names)
}

func TestNamesAreForgottenOneByOne(t *testing.T) {
	r := newRenderer(tested(nil), func() {})
	for n := 100; n > 50; n-- {
		r.begin()
		for i := range n {
			r.histogramNames(fmt.Sprint(i))
		}
		require.LessOrEqual(t, len(r.names), n+1)
	}
}
