package pebblestore

import (
	"slices"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// index is which keys there are, so that buckets are listed and deleted without a look at the disk: pebble finds a key by merging all that was ever
// written under it.
type index map[store.Bucket]*keys

// keys are those of a bucket.
type keys struct {
	closed     bool
	partitions []uint16 // that hold something
	taken      []string // sinks that are done with it
}

func (x index) of(b store.Bucket) *keys {
	k := x[b]
	if k == nil {
		k = &keys{}
		x[b] = k
	}
	return k
}

func (k *keys) add(partition uint16) {
	if !slices.Contains(k.partitions, partition) {
		k.partitions = append(k.partitions, partition)
	}
}

func (k *keys) take(sink string) { k.taken = store.AddOnce(k.taken, sink) }

// apply notes changes that were made.
func (x index) apply(changes []store.Change) {
	for i := range changes {
		switch c := &changes[i]; c.Op {
		case store.Merge:
			x.of(c.Bucket).add(c.Partition)
		case store.Close:
			x.of(c.Bucket).closed = true
		case store.Take:
			x.of(c.Bucket).take(c.Sink)
		case store.Delete:
			delete(x, c.Bucket)
		}
	}
}

// partitions returns those of a bucket that hold something once changes before are made.
func (x index) partitions(b store.Bucket, before []store.Change) []uint16 {
	all := keys{}
	if k := x[b]; k != nil {
		all.partitions = k.partitions
	}
	for i := range before {
		if c := &before[i]; c.Op == store.Merge && c.Bucket == b {
			all.partitions = slices.Clip(all.partitions)
			all.add(c.Partition)
		}
	}
	return all.partitions
}

// taken returns the sinks that are done with a bucket once changes before are made.
func (x index) taken(b store.Bucket, before []store.Change) []string {
	var all []string
	if k := x[b]; k != nil {
		all = k.taken
	}
	for i := range before {
		if c := &before[i]; c.Op == store.Take && c.Bucket == b {
			all = store.AddOnce(all, c.Sink)
		}
	}
	return all
}

func (x index) states() []store.State {
	return store.Sorted(x, func(b store.Bucket, k *keys) store.State {
		return store.State{Bucket: b, Closed: k.closed, Taken: k.taken}
	})
}
