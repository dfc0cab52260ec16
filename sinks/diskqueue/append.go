package diskqueue

import (
	"errors"
	"os"
	"time"
)

// writer is the end of the queue that is appended to. It belongs to the goroutine of Append.
type writer struct {
	segment *segment // nil before the first record and after a failure
	file    *os.File
	buf     []byte
	dirty   bool // written since the last sync
	synced  time.Time
}

// maxKeptBuffer is the largest buffer that is kept: one huge record must not stay for ever.
const maxKeptBuffer = 8 << 20

// Append writes a record at the end. When that fails nothing of the record is there, and the caller has it still; the next Append
// begins a new file. lost is what had to go for max_bytes, even if it fails.
func (q *Queue) Append(r Record) (lost Lost, err error) {
	w := &q.writer
	size := headerSize + int64(len(r.Payload))
	if size+segmentHeader > int64(q.cfg.MaxBytes) || len(r.Payload) > maxPayload {
		return lost, ErrTooLarge
	}
	if removed, err := q.Look(); err != nil || removed.Removed {
		// Nothing of what there is after that has to go for the bound, which it kept before.
		if err == nil {
			err = q.append(r)
		}
		return removed, err
	}
	if w.segment != nil && w.segment.size+size > q.segmentBytes && w.segment.size > segmentHeader {
		q.seal()
	}
	lost = q.makeRoom(size + segmentHeader)
	return lost, q.append(r)
}

// append writes a record, for which there is room.
func (q *Queue) append(r Record) error {
	if err := q.write(r); err != nil {
		q.broken(err)
		return err
	}
	if q.cfg.FsyncInterval == 0 {
		q.Sync()
	}
	return nil
}

// makeRoom drops the oldest segments until there is room for so many bytes.
func (q *Queue) makeRoom(size int64) (lost Lost) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.segments) > 0 && q.state.Bytes+size > int64(q.cfg.MaxBytes) {
		if q.segments[0] == q.writer.segment {
			q.closeFile()
		}
		l := q.drop()
		lost.Items += l.Items
		lost.Records += l.Records
	}
	return lost
}

func (q *Queue) write(r Record) error {
	w := &q.writer
	if w.segment == nil {
		if err := q.begin(); err != nil {
			return err
		}
	}
	w.buf = appendRecord(w.buf[:0], w.segment.id, r)
	if _, err := w.file.Write(w.buf); err != nil {
		return err
	}
	w.dirty = true
	q.mu.Lock()
	defer q.mu.Unlock()
	w.segment.size += int64(len(w.buf))
	w.segment.records++
	w.segment.items += r.Items
	q.state.Bytes += int64(len(w.buf))
	q.state.Records++
	q.state.Items += r.Items
	if q.state.Records == 1 {
		q.state.Oldest = r.Born
	}
	if cap(w.buf) > maxKeptBuffer {
		w.buf = nil
	}
	return nil
}

// begin makes a new segment.
func (q *Queue) begin() error {
	q.mu.Lock()
	id := q.nextID
	q.nextID++
	q.mu.Unlock()
	s := &segment{id: id, path: segmentPath(q.cfg.Path, id), size: segmentHeader, offset: segmentHeader}
	f, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	if _, err := f.Write(appendSegmentHeader(nil, id)); err != nil {
		return errors.Join(err, f.Close(), os.Remove(s.path))
	}
	_ = syncDirectory(q.cfg.Path) // a file system that cannot has no worse than the loss of power
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writer.segment, q.writer.file = s, f
	q.segments = append(q.segments, s)
	q.state.Bytes += segmentHeader
	return nil
}

// broken ends a segment in which a write failed: what of the record is there is cut off, so that a reader finds whole ones only.
func (q *Queue) broken(err error) {
	w := &q.writer
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail(err)
	if w.segment == nil {
		return
	}
	_ = w.file.Truncate(w.segment.size) // else the next start does it
	q.closeFile()
}

// Sync makes what was written survive a loss of power, if fsync_interval has passed since the last time. It returns when to call it
// again, 0 when there is nothing to sync.
func (q *Queue) Sync() (after time.Duration) {
	w := &q.writer
	if !w.dirty {
		return 0
	}
	if left := q.cfg.FsyncInterval - time.Since(w.synced); left > 0 {
		return left
	}
	q.sync()
	return 0
}

func (q *Queue) sync() {
	w := &q.writer
	w.dirty = false
	w.synced = time.Now()
	if err := w.file.Sync(); err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.fail(err)
	}
}

// seal ends the segment that is written to.
func (q *Queue) seal() {
	if q.writer.dirty {
		q.sync()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closeFile()
}

// closeFile lets go of the segment that is written to; the lock is held.
func (q *Queue) closeFile() {
	w := &q.writer
	if err := w.file.Close(); err != nil {
		q.fail(err)
	}
	w.segment, w.file, w.dirty = nil, nil, false
}

func (w *writer) close() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.segment, w.file = nil, nil
	return err
}
