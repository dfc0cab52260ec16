package store

import "github.com/veneurd/veneur/server/spanmetrics/partial"

// Op is what a Change does.
type Op uint8

const (
	// Merge adds a partial aggregate to a bucket.
	Merge Op = iota
	// Close marks a bucket as over.
	Close
	// Delete removes a bucket and its mark.
	Delete
)

// Change is a part of a commit.
type Change struct {
	Op        Op
	Bucket    Bucket
	Partition uint16 // which of the bucket's aggregates is merged into: each writer has one
	Partial   []byte // of Merge, as partial.Set.AppendTo writes it; lent for the call
}

// Store keeps buckets. It is used by one goroutine at a time.
type Store interface {
	// Commit makes changes, all or none of them. Nothing is kept of what it is given.
	Commit(changes []Change) error
	// Buckets lists the buckets there are, in the order of Bucket.Compare.
	Buckets() ([]State, error)
	// Last returns the fine bucket that was closed last, be it deleted or not; one of no length when there was none.
	Last() Bucket
	// Read merges what a bucket holds into a set.
	Read(b Bucket, into *partial.Set) error
	// Close lets go of what the store holds open. What was committed stays.
	Close() error
}

// LastClosed returns what Last is after changes.
func LastClosed(last Bucket, changes []Change) Bucket {
	for i := range changes {
		if c := &changes[i]; c.Op == Close && c.Bucket.Fine {
			last = c.Bucket
		}
	}
	return last
}
