package hll

import "math"

// Estimate returns the number of distinct members: exact up to 1024 inserted here, within one or two up to 3328, and
// with a standard error of 0.81 % beyond. It costs a pass over 16 KiB at most, and changes nothing.
func (s *Sketch) Estimate() uint64 {
	switch s.form {
	case exact:
		return uint64(s.exactCount())
	case sparse:
		const keys = 1 << keyBits
		return uint64(math.Round(keys * math.Log(keys/(keys-float64(s.n))))) // linear counting
	}
	var counts [maxRho + 1]int
	for _, w := range s.words {
		for range 8 {
			counts[min(w&0xff, maxRho)]++
			w >>= 8
		}
	}
	return uint64(math.Round(cardinality(&counts)))
}

// cardinality is the improved raw estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog
// sketches" (arXiv:1702.01284), algorithm 6: without bias from empty to saturated, and without tables. counts says how
// many registers have each value.
func cardinality(counts *[maxRho + 1]int) float64 {
	const m = registers
	z := m * tau(1-float64(counts[maxRho])/m)
	for k := maxRho - 1; k >= 1; k-- {
		z = (z + float64(counts[k])) / 2
	}
	z += m * sigma(float64(counts[0])/m)
	return m * m / (2 * math.Ln2 * z)
}

// sigma is x plus the sum over k of x^(2^k) * 2^(k-1), the part of the registers that are zero.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	sum, y := x, 1.0
	for {
		x *= x
		before := sum
		sum += x * y
		y += y
		if sum == before {
			return sum
		}
	}
}

// tau is (1 - x - the sum over k of (1-x^(2^-k))^2 * 2^-k) / 3, the part of the registers that are full.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	sum, y := 1-x, 1.0
	for {
		x = math.Sqrt(x)
		before := sum
		y /= 2
		sum -= (1 - x) * (1 - x) * y
		if sum == before {
			return sum / 3
		}
	}
}
