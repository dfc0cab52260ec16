package flush

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
)

func TestPiecesHoldEverythingInOrder(t *testing.T) {
	for _, n := range []int{0, 1, pieceLen - 1, pieceLen, pieceLen + 1, 3*pieceLen + 7} {
		p := pieces[int]{room: n}
		unleased := func() *lease[int] { return nil }
		for i := range n {
			p.add(i)
		}
		require.Equal(t, n, p.len())
		even := p.selected(unleased, func() {}, func(i *int) bool { return *i%2 == 0 })
		all := p.selected(unleased, func() {}, func(*int) bool { return true })
		require.Equal(t, (n+1)/2, even.len())
		require.Equal(t, n, all.len())
		for i := range n {
			require.Equal(t, i, *p.at(i))
			if i < even.len() {
				require.Equal(t, 2*i, *even.at(i))
			}
		}
		for i, piece := range p.all {
			require.LessOrEqual(t, cap(piece), pieceLen)
			require.Same(t, &piece[0], &all.all[i][0], "nothing is copied when all is kept")
		}
	}
	require.LessOrEqual(t, pieceLen*unsafe.Sizeof(metric.Point{}), uintptr(1<<20))
	require.LessOrEqual(t, pieceLen*unsafe.Sizeof(metric.DigestPoint{}), uintptr(1<<20))
}

// A large interval is one of several batches, for sinks with rules as for others, and points meet across them.
func TestLargeIntervalIsSeveralBatches(t *testing.T) {
	const series = 2*pieceLen + 10
	f := newFixture(t, tested(nil), Target{Name: "plain"}, Target{Name: "ruled", Rules: Rules{AddTags: map[string]string{"added": "1"}}})
	var lines strings.Builder
	for i := range series {
		fmt.Fprintf(&lines, "c%d:1|c\n", i)
	}
	f.add(strings.TrimSuffix(lines.String(), "\n"))
	f.add("h.count:2|c", "h:1:2:3|h") // of which the one is in the last batch but one, and the other in the last
	for range 2000 {
		require.Equal(t, aggregate.Applied, f.lane.table.AddEvent(metric.Event{Title: "t"}, 0))
		require.Equal(t, aggregate.Applied, f.lane.table.AddCheck(metric.Check{Name: "c"}, 0))
	}
	f.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
	for _, target := range []string{"plain", "ruled"} {
		batches := f.got[target]
		require.Len(t, batches, 3)
		points, events, checks, count := 0, 0, 0, 0.0
		for i, b := range batches {
			require.Equal(t, i < 2, b.More)
			require.Equal(t, batches[0].End, b.End)
			require.Equal(t, 10*time.Second, b.Interval)
			require.LessOrEqual(t, len(b.Points), pieceLen)
			points, events, checks = points+len(b.Points), events+len(b.Events), checks+len(b.Checks)
			for j := range b.Points {
				if b.Points[j].Name == "h.count" {
					count += b.Points[j].Value
				}
			}
		}
		require.Equal(t, series+9, points, target) // nine of the histogram, of which the count has met the counter
		require.Equal(t, 5.0, count)
		require.Equal(t, 2000, events)
		require.Equal(t, 2000, checks)
	}
	require.Equal(t, float64(series+9), f.stats.Value("flush.points"))
}

func TestSmallIntervalIsOneBatch(t *testing.T) {
	f := newFixture(t, tested(nil), Target{Name: "a"})
	f.flush(tick{end: time.Unix(1_800_000_000, 0), covered: time.Second})
	require.Equal(t, []*sinks.Batch{{End: time.Unix(1_800_000_000, 0), Interval: time.Second}}, f.got["a"], "an empty one too")
}
