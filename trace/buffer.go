package trace

import (
	"encoding/binary"

	"github.com/veneurd/veneur/ssf"
)

const (
	// swapSize is when a buffer goes to the sender: one write of this size costs little more than one of a few bytes.
	swapSize = 48 << 10
	// bufferSize leaves room behind swapSize for the span that crosses it.
	bufferSize = 64 << 10
	// maxKept is the largest buffer that is used again: one huge span must not stay in memory.
	maxKept = 128 << 10
	// frameHeader is one byte version, 0, and the length in four bytes, big endian; see package protocol.
	frameHeader = 5
)

// format is what packets look like behind each other.
type format struct {
	header int // bytes in front of each packet: frameHeader on streams, otherwise 0
	limit  int // bytes of the largest packet, header not counted
}

// buffer holds encoded packets. It belongs to one shard, then to the queue, then to the sender, which moves next and offset along as the
// packets leave.
type buffer struct {
	data []byte
	ends []int // where each packet ends

	next   int // the first packet that has not left
	offset int // bytes of data that have left; within packet next after a partial write
}

func newBuffer() *buffer {
	return &buffer{data: make([]byte, 0, bufferSize), ends: make([]int, 0, 256)}
}

// append encodes the span behind the others, or returns false and changes nothing when it is larger than the limit.
func (b *buffer) append(span *ssf.SSFSpan, f format) bool {
	data := b.data
	if f.header > 0 {
		data = append(data, 0, 0, 0, 0, 0)
	}
	start := len(data)
	data = ssf.AppendSpan(data, span)
	size := len(data) - start
	if size > f.limit {
		return false
	}
	if f.header > 0 {
		binary.BigEndian.PutUint32(data[start-4:], uint32(size))
	}
	b.data = data
	b.ends = append(b.ends, len(data))
	return true
}

// waiting is how many packets have not left.
func (b *buffer) waiting() int { return len(b.ends) - b.next }

// packet gives the packet i without its header.
func (b *buffer) packet(i int, f format) []byte {
	start := 0
	if i > 0 {
		start = b.ends[i-1]
	}
	return b.data[start+f.header : b.ends[i] : b.ends[i]]
}

// skip passes over the next packet.
func (b *buffer) skip() {
	b.offset = b.ends[b.next]
	b.next++
}

// restart goes back to the beginning of the packet that has left in part: on a new connection it must be sent whole.
func (b *buffer) restart() {
	b.offset = 0
	if b.next > 0 {
		b.offset = b.ends[b.next-1]
	}
}

func (b *buffer) reset() { b.data, b.ends, b.next, b.offset = b.data[:0], b.ends[:0], 0, 0 }
