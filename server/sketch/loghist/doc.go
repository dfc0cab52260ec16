// Package loghist counts durations in buckets that grow with the value, so that what was counted in parts adds up to what would have
// been counted at once: a merge adds whole numbers, in any order, and loses nothing.
//
// Values are nanoseconds from 0 to [Max]. Every power of two is cut into [SubBuckets] buckets of equal width, as HdrHistogram does it, so
// that the middle of a bucket is less than 0.8 % away from whatever is in it. Weights are in millionths ([One]): a span that stands for
// 2.5 of them weighs 2,500,000, and two of those are 5 exactly.
//
// A [Sketch] of values that all fall in one bucket has no array; each further bucket takes twelve bytes. It has one owner at a time, and
// while it is not changed any number of goroutines may read it. The package does no I/O and keeps no state of its own.
package loghist
