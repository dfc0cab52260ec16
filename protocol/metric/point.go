package metric

// PointType is the type of a point for a backend.
type PointType uint8

const (
	// CounterPoint is an amount that accrued during the interval.
	CounterPoint PointType = iota
	// GaugePoint is a value at the end of the interval.
	GaugePoint
)

// String returns "counter" or "gauge".
func (t PointType) String() string {
	if t == CounterPoint {
		return "counter"
	}
	return "gauge"
}

// Point is one number of one interval. Value is finite.
type Point struct {
	Series *Series // gives the tags; its Name lacks the suffix of an aggregate
	Name   string  // the whole name: "x", "x.min", "x.99percentile"
	Value  float64
	Type   PointType
	Time   int64 // unix seconds set by the sender, or 0: the end of the batch's interval
}

// Digest summarises the values of one histogram series. A digest inside a batch does not change any more and may be read by many at
// once. All sums are weighted: a value sampled at rate 0.1 counts ten times.
type Digest interface {
	Count() float64
	Sum() float64
	Min() float64
	Max() float64
	ReciprocalSum() float64
	// Quantile returns the value at rank q of the samples, 0 <= q <= 1.
	Quantile(q float64) float64
	// EachCentroid calls f with every centroid in ascending order of mean until f returns false.
	EachCentroid(f func(mean, weight float64) bool)
	// Size returns the bytes of memory that the digest holds.
	Size() int
}

// DigestPoint is the digest of one histogram series over one interval, for backends that take more than single numbers.
type DigestPoint struct {
	Series *Series
	Digest Digest
}
