package aggregate

import (
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/sketch/tdigest"
)

type digest = tdigest.Digest

// addHistogram adds a sample's values, as they are, with the weight of one divided by rate.
func (t *Table) addHistogram(words *[2]uint64, s *metric.Sample) {
	d := *t.gens[t.cur].digests.At(int(words[0]))
	weight := 1 / s.Rate
	for _, v := range s.Values {
		d.Add(v, weight)
	}
	words[1] += uint64(len(s.Values))
	t.law.applied(len(s.Values))
}

// beginHistogram gives an entry a digest; of the kind that has room if the one of the interval before had many values.
func (t *Table) beginHistogram(words, before *[2]uint64) {
	d := t.digests.get(&t.in.digests, before[1] > manyValues)
	words[0] = uint64(t.gens[t.cur].digests.Push(d))
}

const (
	// manyValues is the number from which on a digest is better taken from those that have grown.
	manyValues = 128
	// largeDigest is the size in bytes of a digest that has grown.
	largeDigest = 2 << 10
)
