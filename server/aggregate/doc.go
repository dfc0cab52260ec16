// Package aggregate turns samples into what one interval says about every series.
//
// An [Interner] knows each series of the daemon by a number and guards how many there may be. It makes [Table]s, one for each lane; a
// table is its lane's alone, adds up what the lane receives, and is used with the lane's lock held. A [Collector] belongs to the flusher:
// it reads the generations that the tables have finished and merges them into one [Interval].
//
// # A sample's way
//
// [Table.Add] looks for the sample's key: kind, name and tags, byte for byte as they came. A key seen before costs a hash, one slot, one
// entry of 64 bytes and the comparison; no lock is taken and nothing is allocated. [Table.AddBatch] does the same for many samples, and waits
// for what it needs of all of them at once. A new key is read once: tags are sorted and made unique,
// the magic ones obeyed, tags_exclude and extend_tags applied, the limits asked; the series it stands for gets a number or has one. Every
// further key of a series in one table, such as another order of its tags, is an alias of the first: its samples go into the same entry.
//
// # Generations
//
// An entry holds its values twice. [Table.Flip] makes the one half the table's and leaves the other to the collector, which only reads it;
// whether a half belongs to the present interval is told by a number beside it, so nobody has to clear anything. What a generation
// holds besides (digests, sets, points with a time, events) stands in lists of its own. Flip, Collect, Release and Expire are called by
// one goroutine; a table may be added to while the other three run.
//
// # Memory
//
// Entries, keys and numbers hold no pointers, so the garbage collector does not look at idle series. All of it grows a page at a time: no step
// copies the whole. [Collector.Expire] removes what was idle for long, and when most of the room has become empty, as after a flood of
// series, it starts afresh beside the old tables and moves the few that live, a few at a time.
package aggregate
