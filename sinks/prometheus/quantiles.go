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

// quantiles returns the values at the given ranks of several digests as if they were one: the mean of the centroid in which the rank
// falls. It sorts pool.
func quantiles(pool []centroid, ranks []float64) []float64 {
	slices.SortFunc(pool, func(a, b centroid) int { return cmp.Compare(a.mean, b.mean) })
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
