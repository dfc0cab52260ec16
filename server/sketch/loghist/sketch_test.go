package loghist

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// of builds a sketch of buckets and counts.
func of(buckets map[uint32]uint64) *Sketch {
	m := new(Sketch)
	for index, count := range buckets {
		m.add(index, count)
	}
	return m
}

func buckets(m *Sketch) map[uint32]uint64 {
	got := map[uint32]uint64{}
	m.Each(func(index uint32, count uint64) { got[index] = count })
	return got
}

func TestEveryValueIsTold(t *testing.T) {
	r := newRand(t)
	worst := 0.0
	for i := range 200_000 {
		v := uint64(i)
		if i > 50_000 {
			v = uint64(math.Exp(r.Float64() * math.Log(Max)))
		}
		index := Index(v)
		low, high := Bounds(index)
		require.True(t, low <= v && v <= high, "%d is not in [%d, %d]", v, low, high)
		if v > 0 {
			worst = max(worst, math.Abs(float64(Value(index))-float64(v))/float64(v))
		}
	}
	assert.Less(t, worst, 0.008)
	assert.EqualValues(t, Buckets-1, Index(Max))
	assert.LessOrEqual(t, Value(Buckets-1), uint64(Max))
	for index := uint32(1); index < Buckets; index++ {
		low, _ := Bounds(index)
		_, before := Bounds(index - 1)
		require.Equal(t, before+1, low, "a gap before bucket %d", index)
	}
}

func TestMerge(t *testing.T) {
	type counts = map[uint32]uint64
	for _, tt := range []struct {
		name           string
		into, of, want counts
	}{
		{"case 6", counts{1: 1, 3: 3, 5: 5, 7: 7, 9: 9}, counts{2: 2, 4: 4, 5: 5, 8: 8}, counts{1: 1, 2: 2, 3: 3, 4: 4, 5: 10, 7: 7, 8: 8, 9: 9}},
		{"case 6, single hit", counts{1: 1, 3: 3}, counts{3: 1}, counts{1: 1, 3: 4}},
		{"case 6, single miss", counts{1: 1, 3: 3}, counts{2: 1}, counts{1: 1, 2: 1, 3: 3}},
		{"case 6, empty and x", nil, counts{2: 2, 4: 4}, counts{2: 2, 4: 4}},
		{"case 6, x and empty", counts{2: 2, 4: 4}, nil, counts{2: 2, 4: 4}},
		{"empty and a single", nil, counts{2: 2}, counts{2: 2}},
		{"single and the same single", counts{2: 2}, counts{2: 3}, counts{2: 5}},
		{"single and another", counts{2: 2}, counts{0: 3}, counts{0: 3, 2: 2}},
		{"single and many", counts{2: 2}, counts{0: 3, 2: 1, 7: 1}, counts{0: 3, 2: 3, 7: 1}},
		{"all are there already", counts{1: 1, 2: 2, 3: 3}, counts{1: 1, 3: 3}, counts{1: 2, 2: 2, 3: 6}},
		{"past the largest number", counts{1: math.MaxUint64}, counts{1: 1}, counts{1: math.MaxUint64}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				tt.want = counts{}
			}
			into, from := of(tt.into), of(tt.of)
			into.Merge(from)
			assert.Equal(t, tt.want, buckets(into))
			assert.Equal(t, of(tt.of), from, "what is merged does not change")
			from = of(tt.of)
			from.Merge(of(tt.into))
			assert.Equal(t, tt.want, buckets(from), "in the other order")
		})
	}
}

// Counted in parts and merged in any order it is the same.
func TestMergeIsExact(t *testing.T) {
	r := newRand(t)
	var whole Sketch
	parts := make([]Sketch, 9)
	for range 3000 {
		v, w := int64(math.Exp(r.Float64()*30)), uint64(r.IntN(10*One))
		whole.Add(v, w)
		parts[r.IntN(len(parts))].Add(v, w)
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	var merged Sketch
	for i := range parts {
		merged.Merge(&parts[i])
	}
	require.Equal(t, whole, merged)
}

func TestAdd(t *testing.T) {
	var m Sketch
	assert.False(t, m.Add(int64(100*time.Millisecond), 2_500_000))
	assert.False(t, m.Add(int64(100*time.Millisecond), 2_500_000))
	assert.Nil(t, m.Indexes, "one value needs no array")
	assert.EqualValues(t, 5*One, m.Weight(), "case 7: two spans of weight 2.5")
	assert.EqualValues(t, 500*time.Millisecond, m.Sum)
	assert.InEpsilon(t, 100e6, float64(m.Quantile(0.5)), 0.01, "case 7")

	m.Clear()
	assert.False(t, m.Add(5, 0))
	assert.Equal(t, Sketch{}, m, "a weight of 0 changes nothing")
	assert.True(t, m.Add(int64(2*time.Hour), One), "more than an hour is clamped")
	assert.False(t, m.Add(int64(time.Hour), One))
	assert.Equal(t, map[uint32]uint64{Buckets - 1: 2 * One}, buckets(&m))
	assert.EqualValues(t, 2*time.Hour, m.Sum)
	assert.InEpsilon(t, float64(time.Hour), float64(m.Quantile(1)), 0.01)
}

func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		value  int64
		weight uint64
		want   uint64
	}{
		{7, One, 7},
		{7, 0, 0},
		{10, One / 4, 3}, // 2.5, and halves go up
		{3, 333_333, 1},
		{Max, 1_000_000 * One, Max * 1_000_000},
		{Max, math.MaxUint64, math.MaxUint64},
		{math.MaxInt64, math.MaxUint64, math.MaxUint64},
	} {
		assert.Equal(t, tt.want, Times(tt.value, tt.weight), "%d times %d", tt.value, tt.weight)
	}
}

func TestQuantile(t *testing.T) {
	var m Sketch
	assert.Zero(t, m.Quantile(0.5))
	for v := int64(1); v <= 1000; v++ {
		m.Add(v*int64(time.Millisecond), One)
	}
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 1} {
		want := max(1, math.Ceil(q*1000)) * 1e6
		assert.InEpsilon(t, want, float64(m.Quantile(q)), 0.01, "q %v", q)
	}
}

func TestSketchDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var m, o, d Sketch
	for v := int64(1); v < 1e9; v *= 3 {
		m.Add(v, One)
		o.Add(v, One)
	}
	wire := o.AppendTo(nil)
	if err := d.Decode(wire); err != nil {
		t.Fatal(err)
	}
	run := func() {
		m.Clear()
		for v := int64(1); v < 1e9; v *= 3 {
			m.Add(v, One)
		}
		m.Merge(&o)
		wire = m.AppendTo(wire[:0])
		if d.Decode(wire) != nil {
			t.Error("refused")
		}
	}
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
