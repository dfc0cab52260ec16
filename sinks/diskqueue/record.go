package diskqueue

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// Record is what is kept and given back as a whole.
type Record struct {
	Items   int
	Born    time.Time // when its items came in
	Payload []byte
}

// headerSize is that of a record's header: length, items, time, CRC of the payload, CRC of the header.
const headerSize = 4 + 4 + 8 + 4 + 4

// maxPayload bounds what a header may announce. Chunks are a megabyte; a single item may be larger.
const maxPayload = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type header struct {
	length  uint32
	items   uint32
	born    int64
	payload uint32 // its CRC
}

// appendRecord appends a record as it stands in that segment.
func appendRecord(b []byte, segment uint64, r Record) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Payload)))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Items))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Born.UnixNano()))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(r.Payload, castagnoli))
	b = binary.LittleEndian.AppendUint32(b, headerSum(segment, b[start:]))
	return append(b, r.Payload...)
}

// parseHeader reads a header of that segment and says whether it is intact.
func parseHeader(b []byte, segment uint64) (h header, ok bool) {
	if len(b) < headerSize {
		return h, false
	}
	h = header{
		length:  binary.LittleEndian.Uint32(b),
		items:   binary.LittleEndian.Uint32(b[4:]),
		born:    int64(binary.LittleEndian.Uint64(b[8:])),
		payload: binary.LittleEndian.Uint32(b[16:]),
	}
	return h, h.length <= maxPayload && binary.LittleEndian.Uint32(b[20:]) == headerSum(segment, b[:20])
}

// headerSum is over the segment's number too: blocks of an old file that turn up in a new one are no records of it.
func headerSum(segment uint64, b []byte) uint32 {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], segment)
	return crc32.Update(crc32.Checksum(number[:], castagnoli), castagnoli, b)
}
