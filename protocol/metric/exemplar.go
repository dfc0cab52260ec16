package metric

// Exemplar is one of the events that a counter's points count: a trace that whoever wonders about the points may look at.
type Exemplar struct {
	Series  *Series // of the point
	TraceID int64
	Value   float64 // how long it took, in seconds
	Time    int64   // unix seconds, or 0 where it is not known
}
