package pebblestore

import (
	"encoding/binary"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Keys, numbers big-endian so that they sort: what it is, whether the bucket is fine, interval, start, and for data the partition.
const (
	markKey = 'c' // a bucket is closed
	dataKey = 'd' // a partial aggregate of a bucket

	sequenceKey = 's' // a whole key: the number of the last commit

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

// bucketOf reads a key. It says no to what is none of ours.
func bucketOf(key []byte) (b store.Bucket, kind byte, ok bool) {
	if len(key) < bucketLen {
		return b, 0, false
	}
	b.Fine = key[1] == 1
	b.Interval = int64(binary.BigEndian.Uint32(key[2:]))
	b.Start = int64(binary.BigEndian.Uint64(key[6:]))
	ok = key[0] == markKey && len(key) == bucketLen || key[0] == dataKey && len(key) == dataLen
	return b, key[0], ok && b.Interval > 0
}

// after returns the least key that is after all that begin with prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
