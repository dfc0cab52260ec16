package store

import (
	"fmt"
	"time"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// Op is what a Change does.
type Op uint8

const (
	// Merge adds a partial aggregate to a bucket.
	Merge Op = iota
	// Close marks a bucket as over.
	Close
	// Take notes that a sink is done with a bucket, which is closed.
	Take
	// Delete removes a bucket, its mark and who has taken it.
	Delete
)

// Change is a part of a commit.
type Change struct {
	Op        Op
	Bucket    Bucket
	Partition uint16 // which of the bucket's aggregates is merged into: each writer has one
	Partial   []byte // of Merge, as partial.Set.AppendTo writes it; lent for the call
	Sink      string // of Take, its name
}

// Store keeps buckets. It is used by one goroutine at a time.
type Store interface {
	// Commit makes changes, all or none of them. Nothing is kept of what it is given. An error says that none are made, unless it is an *Unsure.
	Commit(changes []Change) error
	// Buckets lists the buckets there are, in the order of Bucket.Compare.
	Buckets() ([]State, error)
	// Last returns the closed bucket that ended last, be it deleted or not; one of no length when there was none. Whether it is fine is not known.
	Last() Bucket
	// Read merges what a bucket holds into a set.
	Read(b Bucket, into *partial.Set) error
	// Close lets go of what the store holds open. What was committed stays.
	Close() error
}

// Unsure is the error of a commit of which is not known whether it is made: it may have arrived on a disk that cannot be read now. To make its changes
// again would be as wrong as to forget them.
type Unsure struct {
	Err error
	// Arrived says whether the changes are made, as soon as that is known, which it is at the latest when the store takes a commit again. It is called by
	// the goroutine that uses the store.
	Arrived func() (arrived, known bool)
}

// Error returns what failed.
func (u *Unsure) Error() string {
	return fmt.Sprintf("it is not known whether the commit arrived: %v", u.Err)
}

// Unwrap returns what failed.
func (u *Unsure) Unwrap() error { return u.Err }

// MaxBack is by how much the clock may go back without buckets being used again that are closed.
const MaxBack = time.Hour

// LastClosed returns what Last is after changes.
func LastClosed(last Bucket, changes []Change) Bucket {
	for i := range changes {
		if c := &changes[i]; c.Op == Close {
			last = laterOf(last, c.Bucket)
		}
	}
	return last
}

// laterOf returns what Last is after one more bucket is closed. One that ends before the last takes its place all the same where only a clock that was
// set back explains that: the bucket before was of a time that is not to come for long.
func laterOf(last, closed Bucket) Bucket {
	ahead := last.End() - closed.End()
	if last.Interval > 0 && ahead > 0 && last.Start < closed.End() && ahead <= int64(MaxBack/time.Second) {
		return last
	}
	return closed
}
