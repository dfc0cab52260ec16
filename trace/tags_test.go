package trace_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

// However many tags there are, they are those of a span that compares each with all. The span comes from a pool: what it had before is gone.
func TestManyTagsAreThoseOfFew(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	client, recorder := tracetest.New(t)
	for _, n := range []int{500, 3, 60, 33, 32, 31, 70, 5} {
		span, want := client.StartTrace("span"), ssf.SSFSpan{}
		for i := range 2 * n {
			key, value := fmt.Sprint(random.IntN(n)), fmt.Sprint(i)
			span.SetTag(key, value)
			want.SetTag(key, value)
			asked := fmt.Sprint(random.IntN(n))
			gotValue, got := span.Tag(asked)
			wantValue, there := want.Tag(asked)
			require.Equal(t, there, got)
			require.Equal(t, wantValue, gotValue)
		}
		id := span.ID()
		span.Finish()
		for _, s := range recorder.Spans() {
			if s.Id == id {
				require.Equal(t, want.Tags, s.Tags)
				id = 0
			}
		}
		require.Zero(t, id, "recorded")
	}
}

// As many tags on one span cost about what they cost on many. Both take as long, so that a busy machine delays both alike; compared each with each,
// it would be 80 times the work.
func TestRatioOfManyTags(t *testing.T) {
	const few, times, most = 200, 80, 25
	keys := make([]string, times*few)
	for i := range keys {
		keys[i] = fmt.Sprintf("some.longer.key.%d", i)
	}
	took := func(each int) float64 {
		best := time.Duration(1 << 62)
		for range 10 {
			begin := time.Now()
			for some := range slices.Chunk(keys, each) {
				span := trace.StartTrace("span")
				for _, key := range some {
					span.SetTag(key, "")
				}
				span.ClientFinish(nil)
			}
			best = min(best, time.Since(begin))
		}
		return float64(best)
	}
	require.Less(t, took(len(keys))/took(few), float64(most))
}
