package diskqueue

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// segment is one file, as the queue knows it.
type segment struct {
	id      uint64
	path    string
	size    int64           // of what was written whole
	offset  int64           // of the oldest record that is not done
	records int             // not done
	items   int             // of those
	bad     map[int64]int64 // where damaged records begin and end
	dropped bool            // its file is gone
}

const (
	segmentMagic  = "VNRQSEG1"
	segmentHeader = int64(len(segmentMagic) + 8)
	segmentSuffix = ".seg"
)

func segmentPath(dir string, id uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016x", id)+segmentSuffix)
}

// segmentID reads the number in a file's name.
func segmentID(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 16, 64)
	return id, err == nil && id > 0
}

func appendSegmentHeader(b []byte, id uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(b, segmentMagic...), id)
}

// damage is what was found broken.
type damage struct {
	records int // left out, or where a tail was cut
	bytes   int64
}

func (d *damage) add(bytes int64) {
	d.records++
	d.bytes += bytes
}

// scan reads a segment from its beginning, notes what is intact from the offset on, and cuts the file where it is not: what follows
// a broken header cannot be found. An error is one of reading, not of what was read.
func (s *segment) scan(from int64) (d damage, oldest time.Time, err error) {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return d, oldest, err
	}
	defer f.Close() //nolint:errcheck // a cut that fails is made again at the next start
	info, err := f.Stat()
	if err != nil {
		return d, oldest, err
	}
	end := info.Size()
	r := bufio.NewReaderSize(f, 1<<18)
	if s.size, err = s.readStart(r, end); err != nil {
		return d, oldest, err
	}
	boundary := from <= segmentHeader
	for s.size > 0 {
		at := s.size
		if at == from {
			boundary = true
		}
		h, ok, err := s.readHeader(r, end-at)
		if err != nil {
			return d, oldest, err
		}
		if !ok {
			break
		}
		intact, err := checkPayload(r, h)
		if err != nil {
			return d, oldest, err
		}
		s.size = at + headerSize + int64(h.length)
		switch {
		case at < from:
		case !intact:
			d.add(headerSize + int64(h.length))
			s.markBad(at, s.size)
		default:
			s.records++
			s.items += int(h.items)
			if born := time.Unix(0, h.born); oldest.IsZero() || born.Before(oldest) {
				oldest = born
			}
		}
	}
	if s.size < end {
		d.add(end - s.size)
		_ = f.Truncate(s.size)
	}
	s.offset = min(max(from, segmentHeader), s.size)
	if !boundary && from < s.size {
		// The cursor points into a record: it is not to be believed, and all of the segment is sent again.
		return s.again()
	}
	return d, oldest, nil
}

func (s *segment) again() (damage, time.Time, error) {
	*s = segment{id: s.id, path: s.path}
	return s.scan(0)
}

func (s *segment) markBad(at, end int64) {
	if s.bad == nil {
		s.bad = map[int64]int64{}
	}
	s.bad[at] = end
}

// skipBad moves the offset past damaged records.
func (s *segment) skipBad() {
	for end, ok := s.bad[s.offset]; ok; end, ok = s.bad[s.offset] {
		s.offset = end
	}
}

// readStart returns where the first record begins, 0 in a file that is no segment of that number.
func (s *segment) readStart(r io.Reader, size int64) (int64, error) {
	if size < segmentHeader {
		return 0, nil
	}
	start := make([]byte, segmentHeader)
	if _, err := io.ReadFull(r, start); err != nil {
		return 0, err
	}
	if string(start) != string(appendSegmentHeader(nil, s.id)) {
		return 0, nil
	}
	return segmentHeader, nil
}

// readHeader reads the next header. It is not ok when it is broken or when less than its record is left.
func (s *segment) readHeader(r io.Reader, left int64) (header, bool, error) {
	if left < headerSize {
		return header{}, false, nil
	}
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return header{}, false, err
	}
	h, ok := parseHeader(b[:], s.id)
	return h, ok && int64(h.length) <= left-headerSize, nil
}

// checkPayload reads a payload and says whether it is intact.
func checkPayload(r *bufio.Reader, h header) (bool, error) {
	var sum uint32
	for left := int(h.length); left > 0; {
		piece, err := r.Peek(min(left, r.Size()))
		sum = crc32.Update(sum, castagnoli, piece)
		left -= len(piece)
		_, _ = r.Discard(len(piece)) // which was there
		switch {
		case len(piece) > 0:
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return sum == h.payload, nil
}
