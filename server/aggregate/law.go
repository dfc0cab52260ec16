package aggregate

import (
	"fmt"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/protocol/metric"
)

// law checks, in invariants builds, that samples = applied + overflowed + passed through: what Add answered on the one side, what reached
// an aggregate on the other.
type law struct {
	answered   [RefusedEventLimit + 1]int
	aggregated int
	timed      int
}

func (l *law) sample(s *metric.Sample, o Outcome) { l.answered[o] += s.Count() }

func (l *law) applied(n int) {
	if invariants.Enabled {
		l.aggregated += n
	}
}

func (l *law) passed(n int) {
	if invariants.Enabled {
		l.timed += n
	}
}

func (l *law) check() {
	if l.aggregated != l.answered[Applied]+l.answered[Overflowed] || l.timed != l.answered[PassedThrough] {
		panic(fmt.Sprintf("aggregate: %+v does not add up", *l))
	}
}
