package main

import (
	"math/rand/v2"
	"time"

	"github.com/veneurd/veneur/internal/spantree"
)

// treeTraces is how many traces a corpus of trees has: whole periods, so that once around exactly every twentieth has failed.
const treeTraces = 10 * spantree.Period

// treeCorpus makes traces, each with its spans in the order in which they end. They carry no samples.
func treeCorpus(limits limits) *corpus {
	b := builder{limits: limits}
	rng := rand.New(rand.NewPCG(5, 6)) // the same corpus every time
	traces := spantree.Traces{NewID: func() int64 { return rng.Int64() | 1<<62 }}
	end := time.Unix(1767225600, 123456789)
	var packet []byte
	for range treeTraces {
		for _, span := range traces.Next(end) {
			packet = appendPacket(packet[:0], span, limits.stream)
			b.add(packet, "", [numKinds]int{})
		}
	}
	return b.corpus()
}
