package spanmetrics

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// stream is random spans of all families.
func stream(r *rand.Rand, n int) []*ssf.SSFSpan {
	spans := make([]*ssf.SSFSpan, n)
	for i := range spans {
		s := requestSpan(fmt.Sprint("service", r.IntN(6)), fmt.Sprint("operation", r.IntN(30)), time.Duration(r.Int64N(int64(time.Minute))))
		s.TraceId, s.Id, s.Error = r.Int64(), 1, r.IntN(5) == 0
		switch r.IntN(3) {
		case 0:
			s.ParentId = 9
			s.SetTag("peer.service", fmt.Sprint("target", r.IntN(9)))
		case 1:
			s.SetTag("span.kind", fmt.Sprint("kind", r.IntN(3)))
		}
		if r.IntN(4) == 0 {
			s.SetTag("sample_rate", fmt.Sprint([]float64{0.1, 0.25, 0.5, 1}[r.IntN(4)]))
		}
		spans[i] = s
	}
	return spans
}

// Random streams, random cuts by time, one lane or four, limits small or large: equal sums, in every bucket of every interval.
func TestCase14LanesAndCommitsDoNotMatter(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 5 {
		spans := stream(random, 1000)
		var want map[store.Bucket]sums
		for _, lanes := range []int{1, 4} {
			for _, small := range []bool{false, true} {
				c := testConfig(time.Minute, 2*time.Minute, 4*time.Minute)
				c.CommitInterval = time.Duration(1+random.IntN(3000)) * 10 * time.Millisecond
				if small {
					c.Limits = Limits{4, 5, 2, 4, 12, 6, 10}
				}
				var got map[store.Bucket]sums
				synctest.Test(t, func(t *testing.T) {
					r := start(t, c, nil, nil)
					for _, s := range spans {
						r.lanes[random.IntN(lanes)].Add(s, time.Now().Unix())
						time.Sleep(4 * time.Minute / time.Duration(len(spans)))
					}
					r.stop()
					got = r.results
				})
				require.Len(t, got, 4+2+1)
				if want == nil {
					want = got
				}
				require.Equal(t, want, got, "round %d, %d lanes, small %t", round, lanes, small)
			}
		}
		total := map[time.Duration]float64{}
		for b, s := range want {
			total[b.Duration()] += s.requests + s.dependencies
		}
		assert.Equal(t, total[time.Minute], total[2*time.Minute])
		assert.Equal(t, total[time.Minute], total[4*time.Minute])
	}
}

// Any number of goroutines may count at once.
func TestConcurrentSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, testConfig(time.Minute), nil, nil)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 100 {
					r.requests(1)
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		all.Wait()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1m from 0s: 400"}, r.emitted())
	})
}
