package prometheus

import (
	"cmp"
	"slices"

	"github.com/veneurd/veneur/protocol/metric"
)

// centroid is a value and how many samples it stands for.
type centroid struct{ mean, weight float64 }

func appendCentroids(dst []centroid, d metric.Digest) []centroid {
	d.EachCentroid(func(mean, weight float64) bool {
		dst = append(dst, centroid{mean, weight})
		return true
	})
	return dst
}

// maxPool is how many centroids a pool has before it is thinned: half a mebibyte of them, however many series become one.
const maxPool = 1 << 15

// thinned returns half as many centroids, each in place of two neighbours, in the memory of the pool.
func thinned(pool []centroid) []centroid {
	sortByMean(pool)
	n := 0
	for i := 0; i < len(pool); i += 2 {
		c := pool[i]
		if i+1 < len(pool) {
			next := pool[i+1]
			weight := c.weight + next.weight
			c = centroid{c.mean*(c.weight/weight) + next.mean*(next.weight/weight), weight}
		}
		pool[n] = c
		n++
	}
	return pool[:n]
}

func sortByMean(pool []centroid) {
	slices.SortFunc(pool, func(a, b centroid) int { return cmp.Compare(a.mean, b.mean) })
}

// quantiles returns the values at the given ranks of several digests as if they were one: the mean of the centroid in which the rank
// falls. It sorts pool.
func quantiles(pool []centroid, ranks []float64) []float64 {
	sortByMean(pool)
	total := 0.0
	for _, c := range pool {
		total += c.weight
	}
	out := make([]float64, len(ranks))
	for i, q := range ranks {
		below := 0.0
		for _, c := range pool {
			out[i] = c.mean
			if below += c.weight; below > q*total {
				break
			}
		}
	}
	return out
}
