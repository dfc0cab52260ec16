package diskqueue

import (
	"math"

	"github.com/veneurd/veneur/protocol/metric"
)

// digest is a metric.Digest as it was read back: the same numbers, and quantiles by the same rule, which package tdigest describes. A
// centroid that stands for equal samples owns its whole weight; a mean of different ones is a point on the way to its neighbours.
type digest struct {
	count, sum, min, max, reciprocal float64
	centroids                        []centroid
}

type centroid struct {
	mean, weight float64
	cluster      bool // a mean of different samples
}

// digest writes the exact numbers and the centroids; the weight of a cluster is negative.
func (e *Encoder) digest(g metric.Digest) {
	count := g.Count()
	for _, v := range [...]float64{count, g.Sum(), g.Min(), g.Max(), g.ReciprocalSum()} {
		e.float(v)
	}
	n := 0
	g.EachCentroid(func(float64, float64) bool { n++; return true })
	e.count(n)
	below := 0.0
	g.EachCentroid(func(mean, weight float64) bool {
		// What a centroid is made of shows in the quantiles within it.
		quarter, most := (below+weight/4)/count, (below+weight*3/4)/count
		below += weight
		e.float(mean)
		if n > 1 && (g.Quantile(quarter) != mean || g.Quantile(most) != mean) {
			weight = -weight
		}
		e.float(weight)
		return true
	})
}

func (d *decoder) digest() metric.Digest {
	return &digest{
		count: d.float(), sum: d.float(), min: d.float(), max: d.float(), reciprocal: d.float(),
		centroids: list(d, 16, func() centroid {
			c := centroid{mean: d.float(), weight: d.float()}
			c.cluster = c.weight < 0
			c.weight = math.Abs(c.weight)
			return c
		}),
	}
}

func (d *digest) Count() float64         { return d.count }
func (d *digest) Sum() float64           { return d.sum }
func (d *digest) Min() float64           { return d.min }
func (d *digest) Max() float64           { return d.max }
func (d *digest) ReciprocalSum() float64 { return d.reciprocal }

// Size returns the bytes of the struct and its centroids.
func (d *digest) Size() int { return 64 + 24*cap(d.centroids) }

// EachCentroid calls f for each centroid, ascending, until f returns false.
func (d *digest) EachCentroid(f func(mean, weight float64) bool) {
	for _, c := range d.centroids {
		if !f(c.mean, c.weight) {
			return
		}
	}
}

// slack is how far, relative to the whole weight, a rank may be off by rounding.
const slack = 1e-12

// Quantile returns the value at q of the weight: Min for q <= 0, Max for q >= 1, NaN without samples.
func (d *digest) Quantile(q float64) float64 {
	switch {
	case d.count == 0 || len(d.centroids) == 0 || math.IsNaN(q):
		return math.NaN()
	case q <= 0:
		return d.min
	case q >= 1:
		return d.max
	}
	rank := d.count*q - d.count*slack
	below, i := 0.0, 0
	for ; i < len(d.centroids)-1 && below+d.centroids[i].weight < rank; i++ {
		below += d.centroids[i].weight
	}
	c := d.centroids[i]
	if !c.cluster {
		return c.mean
	}
	middle := below + c.weight/2
	if rank < middle {
		from, x := d.edge(i-1, below, -1)
		return between(x, c.mean, (rank-from)/(middle-from))
	}
	to, x := d.edge(i+1, below+c.weight, 1)
	return between(c.mean, x, (rank-middle)/(to-middle))
}

// edge returns where, on one side of a cluster, its way to the neighbour ends, and the value there: the middle of another cluster, the near
// side of a point, or the least or greatest sample.
func (d *digest) edge(i int, border, direction float64) (rank, value float64) {
	switch {
	case i < 0:
		return border, d.min
	case i == len(d.centroids):
		return border, d.max
	case d.centroids[i].cluster:
		border += direction * d.centroids[i].weight / 2
	}
	return border, d.centroids[i].mean
}

// between returns the value at fraction f from x to y, without overflow.
func between(x, y, f float64) float64 {
	v := x + (y-x)*f
	if math.IsInf(y-x, 0) {
		v = 2 * (x/2 + (y/2-x/2)*f)
	}
	return max(min(x, y), min(v, max(x, y)))
}
