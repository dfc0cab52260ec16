package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// timedPoint is a point with a time of its own, before its series is known as more than an entry.
type timedPoint struct {
	value float64
	time  int64
	entry uint32
}

// isTimed says whether samples of a kind can have a time of their own.
func isTimed(k metric.Kind) bool { return k == metric.Counter || k == metric.Gauge }

// addTimed passes a sample through as one point: the sum of a counter's values, or the last one of a gauge. The series stays known by it, but
// has no value in the interval.
func (t *Table) addTimed(e *entry, n uint32, s *metric.Sample) Outcome {
	if t.in.timed.Add(1) > int64(t.in.config.MaxTimedPoints) {
		t.in.timed.Add(-1)
		return RefusedTimedLimit
	}
	value := s.Values[len(s.Values)-1]
	if s.Kind == metric.Counter {
		var total sum
		for _, v := range s.Values {
			if total.add(v / s.Rate) {
				t.gens[t.cur].saturated++
			}
		}
		value = total.rounded().hi
	}
	t.touch(e)
	t.gens[t.cur].timed.Push(timedPoint{value, s.Time, n})
	t.law.passed(len(s.Values))
	return PassedThrough
}

// timedIsFull says that another point would be refused, so that its series need not be taken in for it.
func (t *Table) timedIsFull() bool { return t.in.timed.Load() >= int64(t.in.config.MaxTimedPoints) }
