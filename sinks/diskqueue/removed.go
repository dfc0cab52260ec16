package diskqueue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Look looks whether the directory is still there, with what is in it. Where somebody has removed or emptied it, it is made anew, lost says what went
// with it, and the queue goes on with the next record; an error says why that is not possible, and the queue is as it was. It belongs to the goroutine
// of Append, which looks every time.
func (q *Queue) Look() (lost Lost, err error) {
	info, err := os.Stat(filepath.Join(q.cfg.Path, lockName))
	if err == nil && os.SameFile(info, q.held.lock) {
		return lost, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if lost, err = q.reopen(); err != nil {
		q.fail(err)
		return lost, err
	}
	q.fail(fmt.Errorf("%s was removed or emptied, and is made anew", q.cfg.Path))
	return lost, nil
}

// reopen takes hold of the directory as it is now; the lock is held.
func (q *Queue) reopen() (lost Lost, err error) {
	h, err := openDirectory(q.cfg.Path, q.signal)
	if err != nil {
		return lost, err
	}
	if err = q.foreign(); err == nil {
		err = q.cursor.move(q.cfg.Path)
	}
	if err != nil {
		return lost, errors.Join(err, h.unlock())
	}
	_ = q.held.unlock() // of a file that nobody finds any more
	q.held = h
	if q.writer.file != nil {
		q.closeFile()
	}
	q.segments = slices.DeleteFunc(q.segments, func(s *segment) bool {
		if s.there() {
			return false
		}
		l := q.unlist(s)
		lost.Items += l.Items
		lost.Records += l.Records
		s.dropped = true
		q.state.Bytes -= s.size
		return true
	})
	lost.Removed = true
	return lost, nil
}

// foreign returns an error when there are segments that are not this queue's: the next start would take them for done.
func (q *Queue) foreign() error {
	ids, err := segments(q.cfg.Path)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !slices.ContainsFunc(q.segments, func(s *segment) bool { return s.id == id && s.there() }) {
			return fmt.Errorf("%s is another directory than it was, and holds records: start the daemon again to have them sent", q.cfg.Path)
		}
	}
	return nil
}

// there says whether the segment's file is where it was, as far as its size tells.
func (s *segment) there() bool {
	info, err := os.Stat(s.path)
	return err == nil && info.Size() >= s.size
}
