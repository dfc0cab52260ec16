package pebblestore

import (
	"encoding/binary"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Keys, numbers big-endian so that they sort: what it is, whether the bucket is fine, interval, start, and for data the partition, for a sink its name.
const (
	markKey = 'c' // a bucket is closed
	dataKey = 'd' // a partial aggregate of a bucket
	// takenKey is of a sink that is done with a bucket. It comes after the mark. A version before it neither reads nor deletes it.
	takenKey = 't'

	// Whole keys.
	sequenceKey = 's' // the number of the last commit
	lastKey     = 'l' // the mark, as if it were fine, of the closed bucket that ended last, which may be deleted

	bucketLen = 1 + 1 + 4 + 8
	dataLen   = bucketLen + 2
)

func bucketKey(kind byte, b store.Bucket) []byte {
	key := make([]byte, 0, dataLen)
	fine := byte(0)
	if b.Fine {
		fine = 1
	}
	key = append(key, kind, fine)
	key = binary.BigEndian.AppendUint32(key, uint32(b.Interval))
	return binary.BigEndian.AppendUint64(key, uint64(b.Start))
}

func partitionKey(b store.Bucket, partition uint16) []byte {
	return binary.BigEndian.AppendUint16(bucketKey(dataKey, b), partition)
}

func sinkKey(b store.Bucket, sink string) []byte { return append(bucketKey(takenKey, b), sink...) }

// readKey reads a key, of which what is after the bucket is left to the caller where that is the name of a sink. Its kind is 0 when it is none of ours.
func readKey(key []byte) (b store.Bucket, partition uint16, kind byte) {
	if len(key) == 1 && (key[0] == sequenceKey || key[0] == lastKey) {
		return b, 0, key[0]
	}
	if len(key) < bucketLen {
		return b, 0, 0
	}
	b.Fine = key[1] == 1
	b.Interval = int64(binary.BigEndian.Uint32(key[2:]))
	b.Start = int64(binary.BigEndian.Uint64(key[6:]))
	switch {
	case b.Interval == 0:
	case key[0] == markKey && len(key) == bucketLen:
		return b, 0, markKey
	case key[0] == takenKey:
		return b, 0, takenKey
	case key[0] == dataKey && len(key) == dataLen:
		return b, binary.BigEndian.Uint16(key[bucketLen:]), dataKey
	}
	return store.Bucket{}, 0, 0
}
