// Package spanmetrics makes metrics of spans: requests, errors and durations by service, operation and dependency, over the intervals of the
// configuration (1m, 10m and 60m if it names none), as many series as limits allow, and right sums whatever is sent.
//
// Each lane has a [Recorder], which counts its spans in a set of its own. Every commit interval (a second by default) the [Stage] takes what the
// recorders have, and commits it to a store, into the bucket of the shortest interval that is open. When that is over it is closed, goes on into the
// buckets of the longer intervals, and is handed on to be emitted; what is delivered is deleted. So a span costs a look-up, and a restart goes on where
// the last commit was:
//
//	span -> Recorder -> commit -> bucket of 1m -> closed -> emitted, delivered -> deleted
//	                                          \-> buckets of 10m and 60m -> the same at their ends
//
// A bucket is that of the daemon's clock: what a span says about time is its duration. It is handed on once, whole; only where the process ends
// between that and its being delivered is the same bucket, with the same time, handed on again.
package spanmetrics
