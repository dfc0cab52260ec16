package store

import (
	"errors"
	"slices"

	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// Fallback is a store on disk that goes on without the disk. What the disk does not take is kept in memory, is read beside what is on disk,
// and is given to the disk at the next commit that it takes. As long as the process lives nothing is lost.
type Fallback struct {
	disk    Store
	waiting *layer
	unsure  *layer // what may be on the disk or not; nil when nothing is
	arrived func() (arrived, known bool)
	limits  partial.Limits
}

// layer is what is to be done to a disk.
type layer struct {
	*Memory
	deleted map[Bucket]bool // on disk still, and not to be seen
}

func newLayer(l partial.Limits) *layer {
	return &layer{Memory: NewMemory(l), deleted: map[Bucket]bool{}}
}

func (l *layer) empty() bool { return len(l.buckets)+len(l.deleted) == 0 }

// Commit makes changes.
func (l *layer) Commit(changes []Change) error {
	for i := range changes {
		if c := &changes[i]; c.Op == Delete {
			l.deleted[c.Bucket] = true
		}
		if err := l.Memory.Commit(changes[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

// changes returns what it takes to bring the disk up to date. The closed bucket that ended last is so there too, be it deleted or not.
func (l *layer) changes() []Change {
	var changes []Change
	for b := range l.deleted {
		changes = append(changes, Change{Op: Delete, Bucket: b})
	}
	for b, h := range l.buckets {
		if h.set != nil {
			changes = append(changes, Change{Op: Merge, Bucket: b, Partial: h.set.AppendTo(nil)})
		}
		if h.closed {
			changes = append(changes, Change{Op: Close, Bucket: b})
		}
		for _, sink := range h.taken {
			changes = append(changes, Change{Op: Take, Bucket: b, Sink: sink})
		}
	}
	if last := l.Last(); last.Interval > 0 {
		changes = append(changes, Change{Op: Close, Bucket: last})
		if l.buckets[last] == nil {
			changes = append(changes, Change{Op: Delete, Bucket: last})
		}
	}
	return changes
}

// NewFallback returns a store that writes to disk; sets in memory have the given limits.
func NewFallback(disk Store, l partial.Limits) *Fallback {
	return &Fallback{disk: disk, waiting: newLayer(l), limits: l}
}

// Waiting says whether something is in memory that is not known to be on the disk.
func (f *Fallback) Waiting() bool { return !f.waiting.empty() || f.unsure != nil }

// Commit makes changes, in memory if the disk does not take them. The error is that of the disk, and Waiting says that the changes were made
// all the same; or it is that of a partial which is none.
func (f *Fallback) Commit(changes []Change) error {
	all, err := changes, error(nil)
	if f.Waiting() {
		err = f.disk.Commit(nil)
		f.settle()
		if err == nil { // not before it takes something is all of that encoded
			all = append(f.waiting.changes(), changes...)
		}
	}
	if err == nil {
		err = f.disk.Commit(all)
	}
	if err == nil {
		f.waiting = newLayer(f.limits)
		return nil
	}
	if err := f.waiting.Commit(changes); err != nil {
		return err
	}
	if unsure := (*Unsure)(nil); errors.As(err, &unsure) {
		f.unsure, f.arrived = f.waiting, unsure.Arrived
		f.waiting = newLayer(f.limits)
	}
	return err
}

// settle finds out, if it can, what became of a commit that may have arrived.
func (f *Fallback) settle() {
	if f.unsure == nil {
		return
	}
	arrived, known := f.arrived()
	if !known {
		return
	}
	if !arrived {
		_ = f.unsure.Commit(f.waiting.changes()) // what a set wrote can be read
		f.waiting = f.unsure
	}
	f.unsure, f.arrived = nil, nil
}

// Buckets lists the buckets on disk and in memory. When the disk cannot be read it lists those in memory, with the error.
func (f *Fallback) Buckets() ([]State, error) {
	f.settle()
	onDisk, err := f.disk.Buckets()
	var all []State
	for _, l := range f.layers() {
		all = slices.DeleteFunc(all, func(s State) bool { return l.deleted[s.Bucket] })
		states, _ := l.Memory.Buckets()
		all = join(all, states)
	}
	onDisk = slices.DeleteFunc(onDisk, func(s State) bool { return f.deleted(s.Bucket) })
	all = join(all, onDisk)
	slices.SortFunc(all, func(a, b State) int { return a.Compare(b.Bucket) })
	return all, err
}

// join adds buckets to a list; one that is in both is closed and taken if it is in either.
func join(all, more []State) []State {
	for _, s := range more {
		if i := slices.IndexFunc(all, func(o State) bool { return o.Bucket == s.Bucket }); i >= 0 {
			all[i].Closed = all[i].Closed || s.Closed
			for _, sink := range s.Taken {
				all[i].Taken = AddOnce(all[i].Taken, sink)
			}
			continue
		}
		all = append(all, s)
	}
	return all
}

// layers returns what is in memory, older before newer.
func (f *Fallback) layers() []*layer {
	if f.unsure == nil {
		return []*layer{f.waiting}
	}
	return []*layer{f.unsure, f.waiting}
}

// deleted says whether what the disk holds of a bucket is not to be seen.
func (f *Fallback) deleted(b Bucket) bool {
	return f.waiting.deleted[b] || f.unsure != nil && f.unsure.deleted[b]
}

// Last returns the closed bucket that ended last, as far as the disk knows or memory does.
func (f *Fallback) Last() Bucket {
	f.settle()
	last := f.disk.Last()
	for _, l := range f.layers() {
		if closed := l.Last(); closed.Interval > 0 {
			last = laterOf(last, closed)
		}
	}
	return last
}

// Read merges what a bucket holds on disk and in memory into a set. When the disk cannot be read it is what is in memory, with the error.
func (f *Fallback) Read(b Bucket, into *partial.Set) error {
	f.settle()
	var err error
	if !f.deleted(b) {
		err = f.disk.Read(b, into)
		f.settle() // now the disk may have been opened to be read
	}
	for _, l := range f.layers() {
		if l == f.unsure && f.waiting.deleted[b] {
			continue
		}
		if err := l.Read(b, into); err != nil {
			return err
		}
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
