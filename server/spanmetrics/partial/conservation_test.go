package partial

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
)

// sums are what has to be the same however a stream is cut and merged.
type sums struct {
	operations, kinds loghist.Sketch
	ok, failed        uint64
	weight, sum       uint64
}

func (s *sums) excess(e *Excess) {
	if e == nil {
		return
	}
	s.operations.Merge(&e.Sums.OperationDuration)
	s.kinds.Merge(&e.Sums.KindDuration)
	s.ok, s.failed = s.ok+e.Sums.Ok, s.failed+e.Sums.Failed
	s.weight, s.sum = s.weight+e.Sums.DependencyWeight, s.sum+e.Sums.DependencySum
}

// sumsOf adds up groups and overflow; those of services apart where all of them have a place.
func sumsOf(set *Set) map[string]*sums {
	got := map[string]*sums{"": {}}
	for i, service := range set.Services() {
		one := &sums{}
		got[service.Name+fmt.Sprint(service.Tags)] = one
		for _, all := range []*sums{one, got[""]} {
			for j := range service.Operations {
				all.operations.Merge(&service.Operations[j].Duration)
			}
			for j := range service.Kinds {
				k := &service.Kinds[j]
				all.kinds.Merge(&k.Duration)
				all.ok, all.failed = all.ok+k.Ok, all.failed+k.Failed
			}
			for j := range service.Dependencies {
				d := &service.Dependencies[j]
				all.weight, all.sum = all.weight+d.Weight, all.sum+d.Sum
			}
			all.excess(set.Excess(i))
		}
	}
	overall, lost := set.Overall()
	got[""].excess(overall)
	if lost > 0 {
		return map[string]*sums{"": got[""]}
	}
	return got
}

// stream is random spans of some services, names and targets.
func stream(r *rand.Rand, n int) []derive.Measure {
	services, names, targets := 1+r.IntN(6), 1+r.IntN(30), 1+r.IntN(8)
	out := make([]derive.Measure, n)
	for i := range out {
		out[i] = derive.Measure{
			Service:  fmt.Sprint("s", r.IntN(services)),
			Family:   derive.Family(r.IntN(3)),
			Name:     fmt.Sprint("n", r.IntN(names)),
			Failed:   r.IntN(4) == 0,
			Kind:     fmt.Sprint("k", r.IntN(3)),
			Target:   fmt.Sprint("t", r.IntN(targets)),
			Weight:   1 / (0.01 + 0.99*r.Float64()),
			Duration: r.Int64N(int64(2 * time.Hour)),
			TraceID:  r.Int64(),
		}
		if r.IntN(2) == 0 {
			out[i].Weight = 1
			out[i].Duration = r.Int64N(int64(time.Millisecond))
		}
	}
	return out
}

// Case 14, conservation: any split of a stream into k partials, merged in any order: sums over groups and overflow are equal.
func TestCase14Conservation(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 60 {
		in := stream(r, 400)
		whole := New(unlimited)
		for i := range in {
			whole.Add(&in[i], int64(i))
		}
		want := sumsOf(whole)
		limits := uniform(1+r.IntN(8), 1+r.IntN(10), 1+r.IntN(30))
		parts := make([]*Set, 1+r.IntN(9))
		for i := range parts {
			parts[i] = New(limits)
		}
		for i := range in {
			parts[r.IntN(len(parts))].Add(&in[i], int64(i))
		}
		// Two of those that are left are made one, by the wire, until one is left.
		for len(parts) > 1 {
			i := r.IntN(len(parts) - 1)
			a, b := parts[i], parts[i+1]
			if r.IntN(2) == 0 {
				a, b = b, a
			}
			require.NoError(t, a.Merge(b.AppendTo(nil)))
			parts[i] = a
			parts = append(parts[:i+1], parts[i+2:]...)
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		}
		got := sumsOf(parts[0])
		if len(got) == 1 {
			want = map[string]*sums{"": want[""]}
		}
		require.Equal(t, want, got, "round %d, limits %v", round, limits)
		require.LessOrEqual(t, len(parts[0].Services()), limits.Services)
		for f := range families {
			require.LessOrEqual(t, parts[0].Count(f), limits.Overall.of(f))
		}
		for i := range parts[0].Services() {
			for f := range families {
				require.LessOrEqual(t, parts[0].Services()[i].held(f), limits.PerService.of(f))
			}
		}
	}
}

// The slowest and the latest failed trace are those of the whole stream too.
func TestExemplarsDoNotDependOnOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	in := stream(r, 500)
	whole, a, b := New(unlimited), New(unlimited), New(unlimited)
	for i := range in {
		whole.Add(&in[i], int64(i/5))
		[]*Set{a, b}[r.IntN(2)].Add(&in[i], int64(i/5))
	}
	require.NoError(t, a.Merge(b.AppendTo(nil)))
	type key struct {
		service, name string
		failed        bool
	}
	exemplars := func(s *Set) map[key][5]uint64 {
		got := map[key][5]uint64{}
		for _, service := range s.Services() {
			for _, o := range service.Operations {
				got[key{service.Name, o.Name, o.Failed}] = [5]uint64{o.Slowest, o.SlowestTrace, o.Latest, o.LatestTrace, o.LatestTook}
			}
		}
		return got
	}
	require.Equal(t, exemplars(whole), exemplars(a))
}
