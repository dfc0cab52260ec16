// Package flush ends the intervals: it turns what the lanes have added up into points, and gives each metric sink its share.
//
// A [Flusher] runs in one goroutine. At every tick of its clock, which is aligned if wanted, which skips what it missed and never stands
// still or goes back, it flips the lanes, collects the interval that they finished, makes points of it and offers every [Target] a
// batch. Nothing of that waits for a sink.
//
// Targets without [Rules] share one array of points, of which each gets those that the routes give it. A target whose rules change tags
// gets series of its own: what becomes equal is merged as series, before points are made, so that an average or a percentile is
// that of all values. Points that still meet, since series of several kinds can give one name, are settled when points are made.
//
// What the flusher reads goes back to its owner before the flush ends; what it offers belongs to the sinks and does not change any more.
package flush
