package store

import (
	"slices"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// Fallback is a store on disk that goes on without the disk. What the disk does not take is kept in memory, is read beside what is on disk,
// and is given to the disk at the next commit that it takes. As long as the process lives nothing is lost.
type Fallback struct {
	disk    Store
	waiting *Memory
	deleted map[Bucket]bool // on disk still, and not to be seen
	limits  partial.Limits
}

// NewFallback returns a store that writes to disk; sets in memory have the given limits.
func NewFallback(disk Store, l partial.Limits) *Fallback {
	return &Fallback{disk: disk, waiting: NewMemory(l), deleted: map[Bucket]bool{}, limits: l}
}

// Waiting says whether something is in memory only.
func (f *Fallback) Waiting() bool { return len(f.waiting.buckets)+len(f.deleted) > 0 }

// Commit makes changes, in memory if the disk does not take them. The error is that of the disk, and Waiting says that the changes were made
// all the same; or it is that of a partial which is none.
func (f *Fallback) Commit(changes []Change) error {
	all, err := changes, error(nil)
	if f.Waiting() {
		if err = f.disk.Commit(nil); err == nil { // not before it takes something is all of that encoded
			all = append(f.changes(), changes...)
		}
	}
	if err == nil {
		err = f.disk.Commit(all)
	}
	if err == nil {
		f.waiting, f.deleted = NewMemory(f.limits), map[Bucket]bool{}
		return nil
	}
	for i := range changes {
		switch c := &changes[i]; c.Op {
		case Delete:
			f.deleted[c.Bucket] = true
			fallthrough
		default:
			if err := f.waiting.Commit(changes[i : i+1]); err != nil {
				return err
			}
		}
	}
	return err
}

// changes returns what it takes to bring the disk up to date.
func (f *Fallback) changes() []Change {
	var changes []Change
	for b := range f.deleted {
		changes = append(changes, Change{Op: Delete, Bucket: b})
	}
	for b, h := range f.waiting.buckets {
		if h.set != nil {
			changes = append(changes, Change{Op: Merge, Bucket: b, Partial: h.set.AppendTo(nil)})
		}
		if h.closed {
			changes = append(changes, Change{Op: Close, Bucket: b})
		}
	}
	return changes
}

// Buckets lists the buckets on disk and in memory. When the disk cannot be read it lists those in memory, with the error.
func (f *Fallback) Buckets() ([]State, error) {
	onDisk, err := f.disk.Buckets()
	states, _ := f.waiting.Buckets()
	for _, s := range onDisk {
		if f.deleted[s.Bucket] {
			continue
		}
		if i := slices.IndexFunc(states, func(m State) bool { return m.Bucket == s.Bucket }); i >= 0 {
			states[i].Closed = states[i].Closed || s.Closed
			continue
		}
		states = append(states, s)
	}
	slices.SortFunc(states, func(a, b State) int { return a.Compare(b.Bucket) })
	return states, err
}

// Last returns the fine bucket that was closed last, as far as the disk knows or memory does.
func (f *Fallback) Last() Bucket {
	if last := f.waiting.Last(); last.Interval > 0 {
		return last
	}
	return f.disk.Last()
}

// Read merges what a bucket holds on disk and in memory into a set. When the disk cannot be read it is what is in memory, with the error.
func (f *Fallback) Read(b Bucket, into *partial.Set) error {
	var err error
	if !f.deleted[b] {
		err = f.disk.Read(b, into)
	}
	if err := f.waiting.Read(b, into); err != nil {
		return err
	}
	return err
}

// Close closes the store on disk. What waits is lost, if it cannot be written now.
func (f *Fallback) Close() error {
	if f.Waiting() {
		_ = f.Commit(nil) // a failure has been reported by the commits before
	}
	return f.disk.Close()
}
