package prometheus

import (
	"math"
	"slices"

	dto "github.com/prometheus/client_model/go"

	"github.com/veneurd/veneur/protocol/metric"
)

// histogram is a native histogram with float counts, which a sample rate of 0.3 makes necessary. It never changes: plus returns
// another. Bucket i of schema s holds the values above 2^((i-1)/2^s) up to 2^(i/2^s), and those of the same magnitude below zero.
type histogram struct {
	schema             int32
	count, sum, zero   float64
	positive, negative []bucket // ascending
}

type bucket struct {
	index int32
	count float64
}

const (
	firstSchema = 3 // each bucket ends 9 % above the one before
	lastSchema  = -4
	maxBuckets  = 160 // of both signs; more make the histogram coarser

	zeroThreshold = 0x1p-128
)

// plus returns the histogram with a digest added, each centroid in one bucket. The histogram may be nil, which is an empty one.
func (h *histogram) plus(d metric.Digest) *histogram {
	if h == nil {
		h = &histogram{schema: firstSchema}
	}
	sum := &histogram{
		schema: h.schema,
		count:  saturatingAdd(h.count, d.Count()),
		sum:    saturatingAdd(h.sum, d.Sum()),
		zero:   h.zero,
	}
	var positive, negative []bucket
	d.EachCentroid(func(mean, weight float64) bool {
		switch {
		case math.Abs(mean) <= zeroThreshold:
			sum.zero = saturatingAdd(sum.zero, weight)
		case mean > 0:
			positive = append(positive, bucket{bucketIndex(mean, h.schema), weight})
		default:
			negative = append(negative, bucket{bucketIndex(-mean, h.schema), weight})
		}
		return true
	})
	slices.Reverse(negative)
	sum.positive, sum.negative = union(h.positive, positive), union(h.negative, negative)
	for len(sum.positive)+len(sum.negative) > maxBuckets && sum.schema > lastSchema {
		sum.schema--
		sum.positive, sum.negative = halved(sum.positive), halved(sum.negative)
	}
	return sum
}

// bucketIndex returns the bucket of a value above 0. It is exact where the bucket ends at a power of two.
func bucketIndex(v float64, schema int32) int32 {
	fraction, exponent := math.Frexp(v) // 0.5 <= fraction < 1
	if schema <= 0 {
		if fraction == 0.5 {
			exponent--
		}
		return int32((exponent + 1<<-schema - 1) >> -schema)
	}
	return int32(math.Ceil(math.Ldexp(math.Log2(fraction), int(schema)))) + int32(exponent)<<schema
}

// union returns the buckets of both in order, those of one index added up. In both they stand in order; in b an index may stand again.
func union(a, b []bucket) []bucket {
	out := make([]bucket, 0, len(a)+min(len(b), maxBuckets))
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && b[0].index < a[0].index {
			from = &b
		}
		out = appendBucket(out, (*from)[0])
		*from = (*from)[1:]
	}
	return out
}

// halved returns the buckets of the next lower schema, in place: one of two.
func halved(buckets []bucket) []bucket {
	out := buckets[:0]
	for _, b := range buckets {
		b.index = (b.index + 1) >> 1
		out = appendBucket(out, b)
	}
	return out
}

func appendBucket(dst []bucket, b bucket) []bucket {
	if n := len(dst); n > 0 && dst[n-1].index == b.index {
		dst[n-1].count = saturatingAdd(dst[n-1].count, b.count)
		return dst
	}
	return append(dst, b)
}

// fill writes the histogram into its message. What it points to may be shared, since nobody changes it.
func (h *histogram) fill(m *dto.Histogram) {
	threshold := float64(zeroThreshold)
	m.SampleCountFloat, m.SampleSum = &h.count, &h.sum
	m.Schema, m.ZeroThreshold, m.ZeroCountFloat = &h.schema, &threshold, &h.zero
	m.PositiveSpan, m.PositiveCount = spans(h.positive)
	m.NegativeSpan, m.NegativeCount = spans(h.negative)
}

// spans returns runs of neighbouring buckets, and the counts of all. The first offset is an index, the others count from the end of the
// run before.
func spans(buckets []bucket) (runs []*dto.BucketSpan, counts []float64) {
	next := int32(0)
	for _, b := range buckets {
		if len(runs) == 0 || b.index != next {
			offset := b.index - next
			runs = append(runs, &dto.BucketSpan{Offset: &offset, Length: new(uint32)})
		}
		*runs[len(runs)-1].Length++
		counts = append(counts, b.count)
		next = b.index + 1
	}
	return runs, counts
}
