package aggregate

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

func TestListNeverMovesAndForgetsAFlood(t *testing.T) {
	var l List[int]
	first := l.extend()
	for i := 1; i < 3*listPage+1; i++ {
		require.Equal(t, i, l.Push(i))
	}
	require.Same(t, first, l.At(0))
	require.Equal(t, 3*listPage+1, l.Len())
	sum := 0
	for v := range l.All() {
		sum += *v
	}
	require.Equal(t, 3*listPage*(3*listPage+1)/2, sum)

	l.truncate(listPage + 1)
	require.Equal(t, listPage+1, l.Len())
	l.reset(func() {})
	require.Len(t, l.pages, 2)
	l.Push(1)
	require.Same(t, first, l.At(0), "the memory is used again")
	l.reset(func() {})
	require.Len(t, l.pages, 1)
	require.Zero(t, *first)
}

func TestNoPageIsLarge(t *testing.T) {
	for _, size := range []uintptr{
		unsafe.Sizeof(CounterState{}), unsafe.Sizeof(GaugeState{}), unsafe.Sizeof(HistogramState{}), unsafe.Sizeof(SetState{}),
		unsafe.Sizeof(metric.Point{}), unsafe.Sizeof(stamped[metric.Event]{}), unsafe.Sizeof(stamped[metric.Check]{}),
	} {
		require.LessOrEqual(t, listPage*size, uintptr(1<<20))
	}
}
