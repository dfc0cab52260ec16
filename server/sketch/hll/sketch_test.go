package hll

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func member(i int) []byte { return fmt.Appendf(nil, "member-%d", i) }

// fill returns a set of the members from a up to, but without, b.
func fill(a, b int) *Sketch {
	s := New()
	for i := a; i < b; i++ {
		s.Insert(member(i))
	}
	return s
}

func newRand(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func relative(got uint64, want int) float64 {
	return math.Abs(float64(got)-float64(want)) / float64(max(want, 1))
}

func TestEstimate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		n     int
		bound float64
	}{
		{"empty", 0, 0},
		{"one", 1, 0},
		{"two", 2, 0},
		{"B149 1000 series", 1000, 0},
		{"full exact form", maxExact, 0},
		{"sparse", maxExact + 1, 0.001},
		{"full sparse form", maxSparse, 0.001},
		{"dense", maxSparse + 1, 0.025},
		{"5000", 5000, 0.025},
		{"10,000", 10_000, 0.025},
		{"40,000, where estimators meet", 40_000, 0.025},
		{"100,000", 100_000, 0.025},
		{"1,000,000", 1_000_000, 0.025},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fill(0, tt.n)
			assert.LessOrEqual(t, relative(s.Estimate(), tt.n), tt.bound, "estimate %d", s.Estimate())
			for i := range min(tt.n, 5000) {
				s.Insert(member(i))
			}
			assert.Equal(t, fill(0, tt.n).Estimate(), s.Estimate(), "members seen before count once")
		})
	}
}

func TestEstimateDoesNotChangeTheSet(t *testing.T) {
	for _, n := range []int{10, 2000, 9000} {
		s := fill(0, n)
		before := s.Clone()
		s.Estimate()
		require.Equal(t, before, s)
	}
}

// The count never is far off, whatever the size, and a union with an empty set is the set.
func TestB065EverySize(t *testing.T) {
	s, loose := New(), New()
	worst := 0.0
	for n := 0; n <= 20_000; n++ {
		estimate := s.Estimate()
		off := relative(estimate, n)
		worst = max(worst, off)
		if n <= 1000 {
			require.EqualValues(t, n, estimate)
		}
		require.LessOrEqual(t, off, 0.025, "n %d, estimate %d", n, estimate)
		if n%97 == 0 {
			union := New()
			union.Merge(s)
			require.Equal(t, estimate, union.Estimate(), "n %d: merged into an empty one", n)
			union.Merge(s)
			require.Equal(t, estimate, union.Estimate(), "n %d: merged twice", n)
			require.Equal(t, estimate, fromWire(t, s, loose).Estimate(), "n %d: over the wire", n)
		}
		s.Insert(member(n))
	}
	t.Logf("worst error %.2f %%", 100*worst)
}

// fromWire returns s as it arrives. The exact form arrives as sparse, which tells these members apart as well.
func fromWire(t *testing.T, s, into *Sketch) *Sketch {
	require.NoError(t, into.Decode(s.AppendBinary(nil)))
	return into
}

func TestB150MemoryIsBounded(t *testing.T) {
	s := New()
	s.Insert(member(0))
	assert.LessOrEqual(t, s.Size(), 80, "one member")
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 50_000
	}
	for i := range n {
		s.Insert(member(i))
		if i%100 == 0 {
			s.Estimate()
			require.LessOrEqual(t, s.Size(), 16<<10+64, "%d members", i)
		}
	}
	assert.LessOrEqual(t, relative(s.Estimate(), n), 0.025)
}

// Sets in any form unite to the same set in any order and nesting, and each may come by the wire.
func TestUnion(t *testing.T) {
	r := newRand(t)
	for round := range 60 {
		var parts [4]*Sketch
		for i := range parts {
			from := r.IntN(3000)
			parts[i] = fill(from, from+r.IntN([]int{2, 40, 900, 1200, 2500, 6000}[r.IntN(6)]))
			if r.IntN(3) == 0 {
				parts[i] = fromWire(t, parts[i], New())
			}
		}
		before := [4]*Sketch{parts[0].Clone(), parts[1].Clone(), parts[2].Clone(), parts[3].Clone()}

		union := func(sets ...*Sketch) *Sketch {
			u := New()
			for _, s := range sets {
				u.Merge(s)
			}
			return u
		}
		a, b, c, d := parts[0], parts[1], parts[2], parts[3]
		want := union(a, b, c, d)
		for name, got := range map[string]*Sketch{
			"reversed":    union(d, c, b, a),
			"nested":      union(union(a, c), union(b, d)),
			"again":       union(a, b, c, d, a, b, c, d),
			"into itself": union(want, want),
		} {
			require.Equal(t, want.Estimate(), got.Estimate(), "round %d, %s", round, name)
			require.Equal(t, want.AppendBinary(nil), got.AppendBinary(nil), "round %d, %s", round, name)
		}
		want.Merge(want)
		require.Equal(t, before, parts, "round %d: Merge changed what it merged", round)
	}
}

func TestInserts(t *testing.T) {
	a, b := New(), New()
	for i := range 5000 {
		a.Insert(member(i))
		b.InsertString(string(member(i)))
		if i%777 == 0 {
			require.Equal(t, a, b)
		}
	}
	for _, n := range []int{0, 1, maxExact - 1, maxExact, 2000, 4000} {
		s := fill(0, n)
		s.InsertHash(0)
		s.InsertHash(0)
		assert.LessOrEqual(t, relative(s.Estimate(), n+1), 0.025, "the hash 0 beside %d", n)
		if n < maxExact {
			assert.EqualValues(t, n+1, s.Estimate(), "the hash 0 beside %d", n)
		}
	}
	s := New()
	s.InsertHash(0)
	u := fill(0, 2000)
	u.Merge(s)
	s.Merge(fromWire(t, fill(0, 2000), New()))
	assert.Equal(t, u.AppendBinary(nil), s.AppendBinary(nil), "the hash 0 merged")
}

func TestReset(t *testing.T) {
	for _, n := range []int{0, 10, 2000, 9000} {
		s := fill(0, n)
		s.Reset()
		require.Zero(t, s.Estimate())
		for i := range 7000 {
			s.Insert(member(i))
			if i == 3 || i == 600 || i == 3000 {
				require.Equal(t, fill(0, i+1).AppendBinary(nil), s.AppendBinary(nil), "%d members after %d", i+1, n)
			}
		}
		require.Equal(t, fill(0, 7000).AppendBinary(nil), s.AppendBinary(nil), "after %d", n)
	}
}

func TestCopies(t *testing.T) {
	for _, n := range []int{0, 10, 2000, 9000} {
		s := fill(0, n)
		c := s.Clone()
		into := fill(50_000, 54_000)
		into.CopyFrom(s)
		s.InsertString("other")
		require.Equal(t, fill(0, n).AppendBinary(nil), c.AppendBinary(nil))
		require.Equal(t, fill(0, n).AppendBinary(nil), into.AppendBinary(nil))
	}
}

func TestMaxBytes(t *testing.T) {
	r := newRand(t)
	for range 1000 {
		x, y, want := uint64(0), uint64(0), uint64(0)
		for range 8 {
			a, b := uint64(r.IntN(maxRho+1)), uint64(r.IntN(maxRho+1))
			x, y, want = x<<8|a, y<<8|b, want<<8|max(a, b)
		}
		require.Equal(t, want, maxBytes(x, y))
	}
}

// A key stands for the register and value of its hash.
func TestKeys(t *testing.T) {
	r := newRand(t)
	for range 100_000 {
		h := r.Uint64() >> r.IntN(64) << r.IntN(64)
		register, rho := position(h)
		k := keyOf(h)
		require.True(t, validKey(k), "%#x", h)
		keyRegister, keyRho := keyPosition(k)
		require.Equal(t, register, keyRegister, "%#x", h)
		require.Equal(t, rho, keyRho, "%#x", h)
		require.LessOrEqual(t, rho, uint8(maxRho))
	}
}

// The estimator has no bias at any size, also where registers are full.
func TestCardinality(t *testing.T) {
	var counts [maxRho + 1]int
	counts[0] = registers
	assert.Zero(t, cardinality(&counts))
	counts[0], counts[maxRho] = 0, registers
	assert.True(t, cardinality(&counts) > 1e18)
	if testing.Short() || raceEnabled {
		return
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{4000, 20_000, 60_000, 200_000} {
		mean, square := 0.0, 0.0
		const rounds = 30
		for range rounds {
			s := New()
			for range n {
				s.InsertHash(r.Uint64())
			}
			off := float64(s.Estimate())/float64(n) - 1
			mean += off / rounds
			square += off * off / rounds
		}
		t.Logf("n %d: bias %.3f %%, error %.3f %%", n, 100*mean, 100*math.Sqrt(square))
		assert.Less(t, math.Abs(mean), 0.0045, "n %d: bias", n) // three standard errors of the mean
		assert.Less(t, math.Sqrt(square), 0.0115, "n %d: error", n)
	}
}
