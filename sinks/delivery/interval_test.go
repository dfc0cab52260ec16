package delivery_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// pieces cuts one interval into batches of so many points each; the first has its events and checks too.
func pieces(sizes ...int) (interval []*sinks.Batch) {
	for i, n := range sizes {
		b := sinktest.Batch()
		if i > 0 {
			b.Events, b.Checks = nil, nil
		}
		b.Points, b.Distributions, b.More = nil, nil, i < len(sizes)-1
		for range n {
			b.Points = append(b.Points, sinktest.Point(metric.CounterPoint, "x", float64(i)))
		}
		interval = append(interval, b)
	}
	return interval
}

func TestIntervalOfSeveralBatchesIsSentInChunksOfEach(t *testing.T) {
	tests := []struct {
		name  string
		sizes []int
		want  []int // points of each chunk
	}{
		{"none is cut from two", []int{5, 5, 2}, []int{3, 2, 3, 2, 2}},
		{"an empty one in the middle is passed over", []int{3, 0, 3}, []int{3, 3}},
		{"and one at the end", []int{3, 4, 0}, []int{3, 3, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil, func(c *delivery.Config) { c.ChunkItems = 3 })
				interval, sum := pieces(tt.sizes...), 0
				interval[0].Events, interval[0].Checks = nil, nil
				stop := run(t, r)
				r.Offer(interval...)
				synctest.Wait()
				stop()
				chunks := r.rec.Batches()
				require.Len(t, chunks, len(tt.want))
				for i, c := range chunks {
					assert.Len(t, c.Points, tt.want[i])
					assert.Equal(t, i < len(chunks)-1, c.More)
					assert.Equal(t, interval[0].End, c.End)
					sum += len(c.Points)
				}
				r.settled(delivery.Ledger{Sent: uint64(sum)})
				for i, b := range interval {
					assert.Equal(t, i < len(interval)-1, b.More, "it is shared")
				}
			})
		})
	}
}

func TestIntervalOfSeveralBatchesIsDroppedAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 10, 5 })
		first, second := pieces(4, 4), pieces(3, 3, 30) // the newest stays, although it alone is too large
		size := func(interval []*sinks.Batch) (n uint64) {
			for _, b := range interval {
				n += uint64(b.Len())
			}
			return n
		}
		r.Offer(first...)
		assert.Zero(t, r.Ledger().Overflow)
		r.Offer(second...)
		assert.Equal(t, size(first), r.Ledger().Overflow)
		assert.Equal(t, size(second), r.Ledger().Waiting)
		stop := run(t, r)
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Sent: size(second), Overflow: size(first)})
	})
}
