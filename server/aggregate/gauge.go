package aggregate

import (
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// gaugeRelative, in the second word of a gauge, says that it was changed but not set in its interval: the value is the sum of the changes.
const gaugeRelative = 1

// addGauge sets a gauge to the last value of a sample, or changes it by all of them. Of two receive calls the later one wins, whichever
// gets the lane's lock first; within one call, the later line. Changes are added in any case.
func (t *Table) addGauge(words *[2]uint64, s *metric.Sample, stamp int64) {
	t.law.applied(len(s.Values))
	at, relative := int64(words[1]>>1), words[1]&gaugeRelative
	if !s.Delta {
		if relative != 0 || stamp >= at {
			words[0] = math.Float64bits(s.Values[len(s.Values)-1])
			words[1] = uint64(stamp) << 1
		}
		return
	}
	value := math.Float64frombits(words[0])
	for _, v := range s.Values {
		value = t.change(value, v)
	}
	words[0] = math.Float64bits(value)
	words[1] = uint64(max(at, stamp))<<1 | relative
}

func (t *Table) change(value, by float64) float64 {
	if value += by; value-value != 0 {
		t.gens[t.cur].saturated++
		return math.Copysign(math.MaxFloat64, value)
	}
	return value
}

// gauge is what one table, or several, know of a gauge in one interval.
type gauge struct {
	value    float64
	stamp    int64 // of the line that set it, or, when relative, last changed it
	relative bool
}

func gaugeOf(words *[2]uint64) gauge {
	return gauge{math.Float64frombits(words[0]), int64(words[1] >> 1), words[1]&gaugeRelative != 0}
}

// merge adds what a further table knows. The latest set value stands, of equal stamps that of the later table. Changes count when they came in
// a receive call at or after that; a table that changed the gauge both before and after is taken by its last. A socket or
// connection feeds one table, so that this matters only to gauges with several senders.
func (g *gauge) merge(o gauge) {
	switch {
	case g.relative && o.relative:
		g.value = saturatingAdd(g.value, o.value)
		g.stamp = max(g.stamp, o.stamp)
	case g.relative:
		if g.stamp > o.stamp {
			o.value = saturatingAdd(o.value, g.value)
		}
		*g = o
	case o.relative:
		if o.stamp >= g.stamp {
			g.value = saturatingAdd(g.value, o.value)
		}
	case o.stamp >= g.stamp:
		*g = o
	}
}

func saturatingAdd(a, b float64) float64 {
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, a+b))
}
