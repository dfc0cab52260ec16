package ingest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/invariants"
)

const (
	minBuffer = 4 << 10  // what a silent connection costs
	midBuffer = 64 << 10 // as far as a buffer grows to make fewer reads of many small messages
	maxBuffer = 1 << 20  // what a connection keeps after one huge message

	// drainTime is how long, at a stop, what has been sent already is read.
	drainTime = 100 * time.Millisecond
)

// connection reads one stream to its end.
type connection struct {
	conn net.Conn
	in   *intake
	src  *source

	codec codec
	idle  time.Duration

	stopping    *atomic.Bool // of the listener
	deadlineSet time.Time    // when the read deadline was last set
	buf         []byte       // what was read and is not done with
}

// serve returns when the stream ends, fails, is silent for too long, breaks its framing, or is told to stop and has been read as far
// as it was sent; the error says which, and is io.EOF for a proper end.
func (c *connection) serve() error {
	c.buf = make([]byte, 0, min(minBuffer, c.codec.room()))
	for {
		c.setDeadline()
		free := c.buf[len(c.buf):cap(c.buf)]
		n, err := c.conn.Read(free)
		received := time.Now()
		c.buf = c.buf[:len(c.buf)+n]
		if n > 0 {
			if err := c.take(received); err != nil {
				return err
			}
			c.resize(n == len(free))
		}
		if err != nil {
			c.in.begin(c.src, received)
			c.codec.rest(c.in, c.buf, errors.Is(err, io.EOF))
			c.in.end()
			return err
		}
	}
}

// take hands on what is whole and moves the rest to the front.
func (c *connection) take(received time.Time) error {
	c.in.begin(c.src, received)
	done, err := c.codec.take(c.in, c.buf)
	c.in.end()
	invariants.Mangle(c.buf[:done])
	c.buf = c.buf[:copy(c.buf, c.buf[done:])]
	return err
}

// resize makes room for the next read: more when the last one filled the buffer, less when a huge message is done with. The buffer is
// never larger than twice what has arrived, whatever lengths were announced.
func (c *connection) resize(filled bool) {
	size := cap(c.buf)
	switch {
	case len(c.buf) == size:
		size *= 2
	case filled && size < midBuffer:
		size *= 2
	case size > maxBuffer && len(c.buf) < midBuffer:
		size = midBuffer
	default:
		return
	}
	size = min(size, c.codec.room())
	if size == cap(c.buf) {
		return
	}
	c.buf = append(make([]byte, 0, size), c.buf...)
}

// setDeadline sees to it that the next read ends after the idle time. To set a deadline for each read would cost more than to let one
// stand an eighth of the time longer.
func (c *connection) setDeadline() {
	if c.stopping.Load() {
		return
	}
	now := time.Now()
	if now.Sub(c.deadlineSet) < c.idle/8 {
		return
	}
	c.deadlineSet = now
	_ = c.conn.SetReadDeadline(now.Add(c.idle + c.idle/8))
	// The stop sets a deadline of its own, once; it must not be lost between the two lines above.
	if c.stopping.Load() {
		c.stop()
	}
}

// stop gives the connection a last, short deadline. It may be called from any goroutine.
func (c *connection) stop() { _ = c.conn.SetReadDeadline(time.Now().Add(drainTime)) }

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
