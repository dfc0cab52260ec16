package ingest

import (
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/invariants"
)

const (
	minBuffer = 4 << 10  // what a connection holds outside of the budget
	midBuffer = 64 << 10 // as far as a buffer grows to make fewer reads of many small messages
	maxBuffer = 1 << 20  // what a connection keeps after one huge message

	// messageTime is how long a message may take from its first byte to its last, if it is too large for the buffer that every
	// connection has. A smaller one may wait for its end as long as the connection may be idle: whoever writes a stream in pieces of
	// equal size ends them in the middle of a line.
	messageTime = 30 * time.Second

	// drainTime is how long, at a stop, what has been sent already is read, from when a reader knows of the stop: on a busy machine that may be
	// much later.
	drainTime = 100 * time.Millisecond
)

var (
	errMemory = errors.New("connections hold as much as they may")
	errSlow   = errors.New("a message takes too long")
)

// connection reads one stream to its end.
type connection struct {
	conn net.Conn
	in   *intake
	src  *source

	codec       codec
	idle        time.Duration // 0 means for ever
	messageTime time.Duration
	budget      *budget

	stopping *atomic.Bool  // of the listener
	deadline time.Time     // when the read deadline was last set
	wait     time.Duration // and to how long from then
	end      time.Time     // of reading, once it knows that it is to stop

	buf   []byte    // what was read and is not done with
	began time.Time // when the first byte of it came
}

// serve returns when the stream ends, fails, is silent for too long, breaks its framing, needs more memory or time than it may have, or is
// told to stop and has been read as far as it was sent; the error says which, and is io.EOF for a proper end.
func (c *connection) serve() error {
	c.buf = make([]byte, 0, min(minBuffer, c.codec.room()))
	defer func() { c.budget.give(c.held()) }()
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
			if err == nil {
				err = c.resize(n == len(free), received)
			}
		}
		if isTimeout(err) {
			switch stopping := c.stopping.Load(); {
			case stopping && c.drain():
				continue
			case !stopping && c.wait != c.idle:
				err = c.quiet()
			}
		}
		if err != nil {
			c.in.begin(c.src, received)
			c.codec.rest(c.in, c.buf, err)
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
	if done > 0 || c.began.IsZero() {
		c.began = received
	}
	c.buf = c.buf[:copy(c.buf, c.buf[done:])]
	if len(c.buf) == 0 {
		c.began = time.Time{}
	}
	return err
}

// held is how much of the budget the connection has.
func (c *connection) held() int { return max(0, cap(c.buf)-minBuffer) }

// large says that the buffer holds a message that is not whole and for which it had to grow.
func (c *connection) large() bool { return len(c.buf) >= minBuffer }

// resize makes room for the next read: more when the last one filled the buffer, less when a huge message is done with. The buffer is
// never larger than twice what has arrived, whatever lengths were announced.
func (c *connection) resize(filled bool, now time.Time) error {
	size, keep := cap(c.buf), maxBuffer
	if !c.budget.ample() {
		keep = midBuffer
	}
	switch {
	case c.large() && now.Sub(c.began) > c.messageTime:
		return errSlow
	case len(c.buf) == size:
		if !c.setCap(2 * size) {
			return errMemory
		}
	case filled && size < midBuffer && c.budget.ample():
		c.setCap(2 * size)
	case size > keep && len(c.buf) < midBuffer:
		c.setCap(midBuffer)
	}
	return nil
}

// setCap moves what the buffer holds to one of the given size, and reports false when the budget does not allow it.
func (c *connection) setCap(size int) bool {
	room := c.codec.room()
	if size = min(size, room); size > minBuffer && room-size < minBuffer {
		size = room // rather than once more for a few bytes
	}
	if size == cap(c.buf) {
		return true
	}
	if !c.budget.take(max(0, size-minBuffer)) {
		return false
	}
	held := c.held()
	c.buf = append(make([]byte, 0, size), c.buf...)
	c.budget.give(held)
	return true
}

// quiet is called when nothing has arrived for a while, though not for the idle time: a large message is given up, and memory that no
// message needs is let go.
func (c *connection) quiet() error {
	if c.large() {
		return errSlow
	}
	c.setCap(minBuffer)
	return nil
}

// setDeadline sees to it that the next read ends after the idle time, or after the time of a message while the connection holds more than
// its minimum. To set a deadline for each read would cost more than to let one stand an eighth of the time longer.
func (c *connection) setDeadline() {
	if c.stopping.Load() {
		return
	}
	wait := c.idle
	if cap(c.buf) > minBuffer && (wait == 0 || wait > c.messageTime) {
		wait = c.messageTime
	}
	now := time.Now()
	if wait == c.wait && (wait == 0 || now.Sub(c.deadline) < wait/8) {
		return
	}
	c.deadline, c.wait = now, wait
	until := time.Time{}
	if wait > 0 {
		until = now.Add(wait + wait/8)
	}
	_ = c.conn.SetReadDeadline(until)
	// The stop sets a deadline of its own, once; it must not be lost between the two lines above.
	if c.stopping.Load() {
		c.stop()
	}
}

// stop ends a read that waits, so that the connection learns of the stop. It may be called from any goroutine.
func (c *connection) stop() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) }

// drain is called when a read was given up at a stop, and says whether there is time for another.
func (c *connection) drain() bool {
	now := time.Now()
	if c.end.IsZero() {
		c.end = now.Add(drainTime)
	}
	_ = c.conn.SetReadDeadline(c.end)
	return now.Before(c.end)
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
