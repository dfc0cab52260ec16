package aggregate

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/sketch/hll"
)

type sketch = hll.Sketch

// addMember adds a set sample's member. Its rate says nothing about how many there are.
func (t *Table) addMember(words *[2]uint64, s *metric.Sample) {
	(*t.gens[t.cur].sketches.At(int(words[0]))).Insert(s.Text)
	words[1]++
	t.law.applied(1)
}

// beginSet gives an entry a sketch; of the kind that has room if the one of the interval before got many members.
func (t *Table) beginSet(words, before *[2]uint64) {
	s := t.sketches.get(&t.in.sketches, before[1] > manyMembers)
	words[0] = uint64(t.gens[t.cur].sketches.Push(s))
}

const (
	manyMembers = 128
	largeSketch = 2 << 10 // bytes
)
