package diskqueue

import (
	"errors"
	"hash/crc32"
	"os"
	"time"
)

// reader is the end of the queue that is taken from. It belongs to the goroutine of Next.
type reader struct {
	segment *segment
	file    *os.File
	buf     []byte
}

// Next returns the oldest record that is not done, the same one until Done is called. Its payload is valid until then. ok is false when
// there is none. lost is what turned out to be damaged on the way to it.
func (q *Queue) Next() (r Record, lost Lost, ok bool) {
	for {
		s, at, ok := q.head()
		if !ok {
			return Record{}, lost, false
		}
		h, payload, err := q.reader.read(s, at)
		switch {
		case err == nil && !q.take(s, at, h): // dropped meanwhile
		case err == nil:
			return Record{Items: int(h.items), Born: time.Unix(0, h.born), Payload: payload}, lost, true
		case errors.Is(err, errPayload):
			l := q.skip(s, at, h)
			lost.Items += l.Items
			lost.Records += l.Records
		default:
			l := q.abandon(s)
			lost.Items += l.Items
			lost.Records += l.Records
		}
	}
}

// head returns where the oldest record stands that is not done, having removed the segments in which there is none.
func (q *Queue) head() (s *segment, at int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.segments) > 0 {
		s := q.segments[0]
		s.skipBad()
		if s.records > 0 {
			return s, s.offset, true
		}
		if s == q.writer.segment {
			return nil, 0, false
		}
		q.segments = q.segments[1:]
		if q.reader.segment == s {
			_ = q.reader.close() // or its space stays taken, and where open files cannot be removed, so does it
		}
		q.forget(s)
	}
	return nil, 0, false
}

var (
	errPayload = errors.New("the payload is damaged") // so that where the next record begins is known
	errHeader  = errors.New("the header is damaged")
)

// read reads the record at a place that a header was written to.
func (r *reader) read(s *segment, at int64) (header, []byte, error) {
	h, err := r.header(s, at)
	if err != nil {
		return h, nil, err
	}
	if cap(r.buf) < int(h.length) || cap(r.buf) > maxKeptBuffer {
		r.buf = make([]byte, h.length)
	}
	r.buf = r.buf[:h.length]
	if _, err := r.file.ReadAt(r.buf, at+headerSize); err != nil {
		return h, nil, err
	}
	if crc32.Checksum(r.buf, castagnoli) != h.payload {
		return h, nil, errPayload
	}
	return h, r.buf, nil
}

func (r *reader) header(s *segment, at int64) (h header, err error) {
	if r.segment != s {
		_ = r.close()
		if r.file, err = os.Open(s.path); err != nil {
			return h, err
		}
		r.segment = s
	}
	var b [headerSize]byte
	if _, err := r.file.ReadAt(b[:], at); err != nil {
		return h, err
	}
	h, ok := parseHeader(b[:], s.id)
	if !ok {
		return h, errHeader
	}
	return h, nil
}

func (r *reader) close() error {
	r.segment = nil
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

func (q *Queue) take(s *segment, at int64, h header) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.dropped {
		return false
	}
	q.taken = taken{s, at + headerSize + int64(h.length), int(h.items)}
	q.state.Oldest = time.Unix(0, h.born)
	return true
}

// skip passes over a damaged record.
func (q *Queue) skip(s *segment, at int64, h header) Lost {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := headerSize + int64(h.length)
	q.state.Corrupt++
	q.state.CorruptBytes += size
	if s.dropped {
		return Lost{}
	}
	s.offset = at + size
	return q.leave(s, int(h.items), 1)
}

// abandon passes over all that is left of a segment that cannot be read any more. When it was dropped meanwhile there is nothing to it.
func (q *Queue) abandon(s *segment) Lost {
	q.mu.Lock()
	defer q.mu.Unlock()
	if s.dropped {
		return Lost{}
	}
	q.state.Corrupt++
	q.state.CorruptBytes += s.size - s.offset
	lost := Lost{Items: s.items, Records: s.records}
	s.offset = s.size
	return q.leave(s, lost.Items, lost.Records)
}

// leave takes records out of the accounts; the lock is held.
func (q *Queue) leave(s *segment, items, records int) Lost {
	s.items -= items
	s.records -= records
	q.account(items, records)
	return Lost{Items: items, Records: records}
}

// Damaged is Done for a record that Next returned and that could not be read after all.
func (q *Queue) Damaged() {
	q.mu.Lock()
	q.state.Corrupt++
	if t := q.taken; t.segment != nil {
		q.state.CorruptBytes += t.end - t.segment.offset
	}
	q.mu.Unlock()
	q.Done()
}

// Done says that the record of the last Next is taken, or given up, and is not needed any more.
func (q *Queue) Done() {
	q.mu.Lock()
	t := q.taken
	q.taken = taken{}
	if t.segment == nil {
		q.mu.Unlock()
		return
	}
	if t.segment.dropped {
		q.account(t.items, 1)
	} else {
		t.segment.offset = t.end
		q.leave(t.segment, t.items, 1)
	}
	q.mu.Unlock()
	if err := q.cursor.set(t.segment.id, t.end); err != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.fail(err)
	}
	q.head() // so that a segment that is done with goes at once
}
