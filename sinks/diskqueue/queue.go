package diskqueue

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Queue is a queue of records in a directory. Append and Sync belong to one goroutine, Next and Done to one, which may be another; State
// may be called by any.
type Queue struct {
	cfg          Config
	signal       string
	segmentBytes int64
	held         held // of the goroutine of Append
	cursor       *cursor
	writer       writer
	reader       reader

	mu       sync.Mutex
	segments []*segment // oldest first; the last may be the one that is written to
	nextID   uint64
	state    State
	taken    taken // by Next, not done
}

// taken is the record that Next has returned.
type taken struct {
	segment *segment // nil when there is none
	end     int64
	items   int
}

// State is what a queue holds and what became of it.
type State struct {
	Records, Items int
	Bytes          int64     // of its files
	Oldest         time.Time // when the oldest record came in; zero when there is none
	Corrupt        int       // records left out and tails cut since the start
	CorruptBytes   int64
	WriteErrors    int
	LastError      string // of the last one
}

// Lost is what left the queue without having been taken.
type Lost struct {
	Items   int
	Records int
	// Removed says that it went with the directory, which has been made anew, or with what was in it.
	Removed bool
}

// ErrTooLarge says that a record is larger than the whole queue may be.
var ErrTooLarge = errors.New("larger than max_bytes")

// Open opens the queue of a signal, "points" or "spans", that c names, and reads what an earlier process has left there. It costs
// one reading of all of it. The error says what to do.
func Open(c Config, signal string) (*Queue, error) {
	h, err := openDirectory(c.Path, signal)
	if err != nil {
		return nil, err
	}
	q := &Queue{cfg: c, signal: signal, segmentBytes: int64(c.MaxBytes) / 16, held: h, nextID: 1}
	if err := q.load(); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

func (q *Queue) load() error {
	ids, err := segments(q.cfg.Path)
	if err != nil {
		return err
	}
	cursor, first, offset, err := openCursor(q.cfg.Path)
	if err != nil {
		return err
	}
	q.cursor = cursor
	for _, id := range ids {
		s := &segment{id: id, path: segmentPath(q.cfg.Path, id)}
		q.nextID = id + 1
		if id < first { // done with; the process ended before it was gone
			if err := os.Remove(s.path); err != nil {
				return err
			}
			continue
		}
		from := int64(0)
		if id == first {
			from = offset
		}
		if err := q.loadSegment(s, from); err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
	}
	q.nextID = max(q.nextID, first+1) // a number once used is not used again
	return nil
}

func (q *Queue) loadSegment(s *segment, from int64) error {
	d, oldest, err := s.scan(from)
	if err != nil {
		return err
	}
	q.state.Corrupt += d.records
	q.state.CorruptBytes += d.bytes
	if s.records == 0 {
		return os.Remove(s.path)
	}
	if q.state.Oldest.IsZero() || oldest.Before(q.state.Oldest) {
		q.state.Oldest = oldest
	}
	q.segments = append(q.segments, s)
	q.state.Records += s.records
	q.state.Items += s.items
	q.state.Bytes += s.size
	return nil
}

// State returns what there is now.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.state
}

// drop removes the oldest segment; the lock is held. What Next has returned is not lost: it is with the caller.
func (q *Queue) drop() Lost {
	s := q.segments[0]
	q.segments = q.segments[1:]
	lost := q.unlist(s)
	q.forget(s)
	return lost
}

// unlist takes what a segment holds out of the accounts; the lock is held.
func (q *Queue) unlist(s *segment) Lost {
	lost := Lost{Items: s.items, Records: s.records}
	if q.taken.segment == s {
		lost.Items -= q.taken.items
		lost.Records--
	}
	q.account(lost.Items, lost.Records)
	return lost
}

// account takes records out of the accounts; the lock is held.
func (q *Queue) account(items, records int) {
	q.state.Items -= items
	q.state.Records -= records
	if q.state.Records == 0 {
		q.state.Oldest = time.Time{}
	}
}

// forget removes the file of a segment that is out of the list; the lock is held.
func (q *Queue) forget(s *segment) {
	s.dropped = true
	q.state.Bytes -= s.size
	if err := os.Remove(s.path); !removed(err) {
		q.fail(err) // the next start finds it older than the cursor, or sends it again
	}
}

func (q *Queue) fail(err error) {
	q.state.WriteErrors++
	q.state.LastError = err.Error()
}

// Close syncs and closes the files and unlocks the directory. What is there stays there.
func (q *Queue) Close() error {
	err := errors.Join(q.writer.close(), q.reader.close())
	if q.cursor != nil {
		err = errors.Join(err, q.cursor.close())
	}
	return errors.Join(err, q.held.unlock())
}
