package delivery

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/diskqueue"
)

// disk keeps what waits for a sink in a directory. Everything that comes in is written there by the goroutine of run, in chunks, a record
// each; the worker reads it from there again, and a record goes when all of it is settled. While the disk takes nothing, the worker sends
// from memory.
type disk struct {
	*core
	decode  decoder
	queue   *diskqueue.Queue // set by open
	opened  atomic.Bool      // for those who ask from elsewhere
	closed  atomic.Bool
	encoder diskqueue.Encoder
	dropped map[dropReason]*telemetry.Metric
}

// decoder makes cargo of a record's payload.
type decoder func(payload []byte) (cargo, error)

func decodeBatch(sink sinks.MetricSink) decoder {
	return func(payload []byte) (cargo, error) {
		b, err := diskqueue.DecodeBatch(payload)
		return batch{b, sink, nil}, err
	}
}

func decodeSpans(sink sinks.SpanSink) decoder {
	return func(payload []byte) (cargo, error) {
		spans, err := diskqueue.DecodeSpans(payload)
		return &spanList{spans, sink}, err
	}
}

// dropReason says why items were lost from the disk.
type dropReason string

const (
	dropFull     dropReason = "full"      // max_bytes was reached; the oldest went
	dropTooLarge dropReason = "too_large" // one item that is larger than all of the queue
	dropAge      dropReason = "age"       // older than max_age
	dropDamaged  dropReason = "damaged"   // it was not read back as it was written
	dropRemoved  dropReason = "removed"   // somebody removed the directory, or what was in it
)

func newDisk(c *core, decode decoder, s Settings) *disk {
	d := &disk{core: c, decode: decode, dropped: map[dropReason]*telemetry.Metric{}}
	for _, r := range []dropReason{dropFull, dropTooLarge, dropAge, dropDamaged, dropRemoved} {
		d.dropped[r] = s.Telemetry.Counter(&descDiskDropped, s.Name, c.signal, string(r))
	}
	return d
}

// open opens the directory and takes over what an earlier process has left: it is offered again.
func (d *disk) open() error {
	q, err := diskqueue.Open(d.cfg.DiskQueue, d.signal)
	if err != nil {
		return err
	}
	d.queue = q
	d.opened.Store(true)
	s := q.State()
	d.core.queue.replay(s.Items)
	if s.Items > 0 {
		d.log.WithField("items", s.Items).Info("found on disk, to be sent first")
	}
	if s.Corrupt > 0 {
		d.log.WithField("damaged", s.Corrupt).WithField("bytes", s.CorruptBytes).Warn("parts of the disk queue were damaged and are left out")
	}
	return nil
}

func (d *disk) close() error {
	if d == nil || !d.opened.Load() || d.closed.Swap(true) {
		return nil
	}
	return d.queue.Close()
}

// state returns what is on disk; nothing before the start.
func (d *disk) state() diskqueue.State {
	if !d.opened.Load() {
		return diskqueue.State{}
	}
	return d.queue.State()
}

// How long the disk is left alone after a failed write: the first time, and at most.
const (
	firstDiskPause = time.Second
	maxDiskPause   = 30 * time.Second

	// lookEvery is how often, at least, it is looked whether the directory is still there. Each write looks first.
	lookEvery = 10 * time.Second
)

// run moves what comes in to the disk until stop is closed and nothing is left in memory, or the disk takes no more. Without a disk it
// returns at once.
func (d *disk) run(stop <-chan struct{}) {
	if d == nil {
		return
	}
	q := &d.core.queue
	defer q.signal() // the worker may wait for what will not come any more
	pause := time.Duration(0)
	for {
		draining := isClosed(stop)
		p, after := q.takeToMove(draining)
		switch {
		case p != nil && d.move(p):
			pause = 0
		case p != nil: // it is back in memory
			if draining {
				return
			}
			pause = min(max(2*pause, firstDiskPause), maxDiskPause)
			wait(pause, nil, stop, nil)
		case draining:
			return
		default:
			if due := d.queue.Sync(); due > 0 && (after == 0 || due < after) {
				after = due
			}
			if after == 0 || after > lookEvery {
				after = lookEvery
			}
			wait(after, q.toDisk, stop, nil)
			lost, _ := d.queue.Look() // whose error the next write says, and State
			d.lose(lost)
		}
	}
}

// move writes the chunks of p that are in memory, each as a record. It returns false when the disk took not all of them.
func (d *disk) move(p *parcel) bool {
	cuts := p.cuts
	if cuts == nil {
		cuts = []int{p.items}
	}
	from := 0
	for _, to := range cuts {
		if to > p.moved {
			if !d.store(p, from, to) {
				return false
			}
		}
		from = to
	}
	d.core.queue.doneMoving(p)
	return true
}

// store writes the items [from, to) of p.
func (d *disk) store(p *parcel, from, to int) bool {
	q := &d.core.queue
	c := p.cargo
	if p.cuts != nil {
		c = c.part(from, to)
	}
	lost, err := d.queue.Append(diskqueue.Record{Items: to - from, Born: p.born, Payload: c.encode(&d.encoder)})
	d.lose(lost)
	switch {
	case errors.Is(err, diskqueue.ErrTooLarge):
		d.dropped[dropTooLarge].Add(uint64(to - from))
		q.settle(p, to-from, overflow)
		q.moved(p, 0, to)
		return true
	case err != nil:
		if q.backFromMoving(p) {
			d.log.WithField("error", brief(err)).Error("the disk takes nothing; until it does, the queue is in memory only")
		}
		return false
	}
	if q.moved(p, to-from, to) {
		d.log.Info("the disk takes the queue again")
	}
	return true
}

// lose accounts for what went from the disk to make room, or with the directory.
func (d *disk) lose(lost diskqueue.Lost) {
	reason, o := dropFull, overflow
	if lost.Removed {
		reason, o = dropRemoved, expired
		d.log.WithField("lost", lost.Items).Error("the directory of the disk queue was removed or emptied; it is made anew")
	}
	d.dropped[reason].Add(uint64(lost.Items))
	d.core.queue.lose(lost.Items, o)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Stored says in one line what waits on disk, and whether anything does or anything is wrong with it.
func (c *core) Stored() (string, bool) {
	if c.disk == nil {
		return "", false
	}
	s := c.disk.state()
	text := fmt.Sprintf("%d items in %d records wait on disk, %d bytes", c.Ledger().Stored, s.Records, s.Bytes)
	if !s.Oldest.IsZero() {
		text += ", the oldest for " + time.Since(s.Oldest).Round(time.Second).String()
	}
	if s.Corrupt > 0 {
		text += fmt.Sprintf("; %d parts were damaged", s.Corrupt)
	}
	failing := c.queue.isDiskFull()
	if failing {
		text += "; the disk takes nothing: " + s.LastError
	}
	return text, s.Records > 0 || s.Corrupt > 0 || failing
}
