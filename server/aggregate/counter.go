package aggregate

import (
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// sum is a sum of float64s as a pair: lo collects what rounding takes off hi, after Knuth's TwoSum (The Art of Computer Programming, vol. 2,
// 4.2.2, theorem B). While the errors themselves add up without rounding, the pair is the exact sum, whatever the order of the addends and
// however they are spread over lanes. That is so as long as n addends that are multiples of g, with a total below s on the way, have
// n*s/g < 2^106: integers of any practical size, or a billion decimal fractions.
type sum struct{ hi, lo float64 }

// add adds x and says whether the sum has left the range of a float64; it is then ±MaxFloat64.
func (s *sum) add(x float64) (saturated bool) {
	total := s.hi + x
	if total-total != 0 {
		*s = sum{hi: math.Copysign(math.MaxFloat64, total)}
		return true
	}
	part := total - s.hi
	s.lo += (s.hi - (total - part)) + (x - part)
	s.hi = total
	return false
}

func (s *sum) addSum(o sum) (saturated bool) {
	saturated = s.add(o.hi)
	s.lo += o.lo
	return saturated
}

// rounded returns the same sum with hi as the whole of it, rounded once, and lo as what that takes off it.
func (s sum) rounded() sum {
	total := s.hi + s.lo
	if total-total != 0 {
		return sum{hi: math.Copysign(math.MaxFloat64, total)}
	}
	part := total - s.hi
	return sum{total, (s.hi - (total - part)) + (s.lo - part)}
}

// addCounter adds a sample to a counter's words. Each value stands for value divided by rate.
func (t *Table) addCounter(words *[2]uint64, s *metric.Sample) {
	total := counterOf(words)
	for _, v := range s.Values {
		if s.Rate != 1 {
			v /= s.Rate
		}
		if total.add(v) {
			t.gens[t.cur].saturated++
		}
	}
	*words = total.words()
	t.law.applied(len(s.Values))
}

func (s *sum) words() [2]uint64 { return [2]uint64{math.Float64bits(s.hi), math.Float64bits(s.lo)} }

func counterOf(words *[2]uint64) sum {
	return sum{math.Float64frombits(words[0]), math.Float64frombits(words[1])}
}
