package pebblestore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// Pebble ends its reading of the last log where a record cannot be read, and takes what comes after, in the same block of 32 KiB, for what a crash left
// behind. So the log is looked at before pebble is: a commit is written when the one before it is on the disk, and where a later one can be read, or the
// mark of a log that was closed, what is missing before it was damaged. At the end of a log that was not closed nobody can tell damage from a crash.

// logged is what the last log of a store says.
type logged struct {
	sequence uint64 // of the last commit that can be read
	damaged  bool   // the log was closed, and what is at its end cannot be read
}

// lost returns how many commits are missing, as far as can be told, in a store whose last commit is given.
func (l logged) lost(sequence uint64) uint64 {
	lost := uint64(0)
	if l.sequence > sequence {
		lost = l.sequence - sequence
	}
	if l.damaged {
		lost++
	}
	return lost
}

// readLastLog reads the last log in a directory. What cannot be read because of the system is as if it were not there: pebble will say so.
func readLastLog(fs vfs.FS, path string) (logged, error) {
	names, err := fs.List(path)
	if err != nil {
		return logged{}, err
	}
	last, number := "", wal.NumWAL(0)
	for _, name := range names {
		if n, _, ok := wal.ParseLogFilename(name); ok && (last == "" || n > number) {
			last, number = name, n
		}
	}
	if last == "" {
		return logged{}, nil
	}
	f, err := fs.Open(fs.PathJoin(path, last))
	if err != nil {
		return logged{}, err
	}
	data, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return logged{}, err
	}
	r := logReader{data: data, number: uint32(number)}
	return r.read(), nil
}

// Of pebble's logs: they are blocks of chunks, of which one or more make a record, which is a batch. A chunk is its checksum (4 bytes), the length of
// its payload (2), its kind (1), the number of the log (4), in kinds that pebble writes or not how much was synchronized before (8), and the payload;
// numbers are little-endian. The mark of a log that was closed is the header of a chunk of the log to come, with nothing else in it.
const (
	logBlock    = 32 << 10
	chunkHeader = 11
	syncedPart  = 8

	wholeRecord = 5 // kinds of chunks, by their part in the record
	firstPart   = 6
	middlePart  = 7
	lastPart    = 8
	withSynced  = 4 // is added to the kind of one that says what was synchronized
)

// logReader reads a log, over what cannot be read.
type logReader struct {
	data   []byte
	number uint32
	record []byte // in the making; nil while there is none
	found  logged
}

func (r *logReader) read() logged {
	damaged := false // since the last record
	for at := 0; at+chunkHeader <= len(r.data); {
		if kind, payload, end := r.chunk(at); end > 0 {
			at = end
			if r.add(kind, payload) {
				damaged = false
			}
			continue
		}
		if r.closedAt(at) {
			r.found.damaged = damaged
			break
		}
		left := logBlock - at%logBlock
		if !damaged && left < chunkHeader+syncedPart { // what is too little for a chunk is left empty
			at += left
			continue
		}
		damaged, r.record = true, nil
		at++
	}
	return r.found
}

// chunk returns what begins at a place, and where that ends, which is 0 if it is no whole chunk of this log.
func (r *logReader) chunk(at int) (kind byte, payload []byte, end int) {
	b := r.data[at:]
	kind, header := b[6], chunkHeader
	if kind > lastPart {
		kind, header = kind-withSynced, chunkHeader+syncedPart
	}
	if kind < wholeRecord || kind > lastPart || binary.LittleEndian.Uint32(b[7:]) != r.number {
		return 0, nil, 0
	}
	end = header + int(binary.LittleEndian.Uint16(b[4:]))
	if end > len(b) || binary.LittleEndian.Uint32(b) != chunkSum(b[6:end]) {
		return 0, nil, 0
	}
	return kind, b[header:end], at + end
}

// chunkSum is the checksum of a chunk.
func chunkSum(b []byte) uint32 {
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// closedAt says whether the mark of a closed log is at a place.
func (r *logReader) closedAt(at int) bool {
	b := r.data[at : at+chunkHeader]
	return binary.LittleEndian.Uint32(b) == 0 && binary.LittleEndian.Uint16(b[4:]) == 0 && b[6] == wholeRecord && binary.LittleEndian.Uint32(b[7:]) == r.number+1
}

// add adds a chunk to its record, and says whether that is a whole one now.
func (r *logReader) add(kind byte, payload []byte) bool {
	switch {
	case kind == wholeRecord || kind == firstPart:
		r.record = append([]byte{}, payload...)
	case r.record == nil:
		return false
	default:
		r.record = append(r.record, payload...)
	}
	if kind == firstPart || kind == middlePart {
		return false
	}
	r.found.sequence = max(r.found.sequence, sequenceOf(r.record))
	r.record = nil
	return true
}

// sequenceOf returns the number of the commit that a batch is, 0 if it is none.
func sequenceOf(batch []byte) uint64 {
	if _, ok := batchrepr.ReadHeader(batch); !ok {
		return 0
	}
	for reader := batchrepr.Read(batch); ; {
		kind, key, value, ok, err := reader.Next()
		if err != nil || !ok {
			return 0
		}
		if kind == pebble.InternalKeyKindSet && len(key) == 1 && key[0] == sequenceKey && len(value) == 8 {
			return binary.BigEndian.Uint64(value)
		}
	}
}
