// Package store keeps the partial aggregates of span metrics until their time is over and somebody took what they add up to.
//
// A [Store] takes [Change]s, which count all together or not at all: partials that are merged into a [Bucket], buckets that are closed, that
// sinks have taken, and that are deleted. A closed bucket takes nothing any more, and is there, whole, until it is deleted. [Memory] is a
// store that lasts as long as the process; [Fallback] puts one in front of a store on disk for as long as that does not take anything.
package store

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Bucket is a stretch of time that is emitted as a whole.
type Bucket struct {
	Interval int64 // seconds
	Start    int64 // unix seconds, a multiple of the interval
	// Fine says that spans were counted into it, and that at its end what it holds goes on into the buckets of longer intervals. One that is not holds
	// what has gone on into all of them.
	Fine bool
}

// At returns the bucket of an interval, in seconds, that a time, in unix seconds, is in.
func At(interval, unix int64, fine bool) Bucket {
	start := unix / interval * interval
	if unix < start { // before 1970
		start -= interval
	}
	return Bucket{Interval: interval, Start: start, Fine: fine}
}

// End returns when the bucket ends, in unix seconds.
func (b Bucket) End() int64 { return b.Start + b.Interval }

// Covers says whether all of the time of another bucket is in this one.
func (b Bucket) Covers(o Bucket) bool { return b.Start <= o.Start && o.End() <= b.End() }

// Duration returns the length of the bucket.
func (b Bucket) Duration() time.Duration { return time.Duration(b.Interval) * time.Second }

// Compare orders buckets as they are closed: those that spans were counted into before those that they go on into, short ones before long
// ones, by time.
func (b Bucket) Compare(o Bucket) int {
	if b.Fine != o.Fine {
		if b.Fine {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.Interval, o.Interval), cmp.Compare(b.Start, o.Start))
}

// State is a bucket that is in a store.
type State struct {
	Bucket
	Closed bool
	Taken  []string // names of the sinks that are done with it, each once, in no order that means anything
}

// Sorted lists what is kept of each bucket, of which stateOf makes its state, in the order of Compare.
func Sorted[T any](buckets map[Bucket]T, stateOf func(Bucket, T) State) []State {
	states := make([]State, 0, len(buckets))
	for _, b := range slices.SortedFunc(maps.Keys(buckets), Bucket.Compare) {
		states = append(states, stateOf(b, buckets[b]))
	}
	return states
}

// AddOnce returns a list of names with another one, unless it is there already. The array is a new one, so that the old list can be lent.
func AddOnce(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(slices.Clip(names), name)
}
