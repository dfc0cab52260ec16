package httpserve

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

// idleGrace is how long a connection without a request is left alone: with many newcomers at once, theirs are on the way or not yet read.
const idleGrace = 20 * time.Millisecond

// room knows the open connections, and which of them have no request under way. All methods may be called from many goroutines at once.
type room struct {
	limit   int
	changed chan struct{} // holds a token when a connection was closed or became idle

	mu   sync.Mutex
	open int
	idle list.List // of *trackedConn, the one that is idle longest first
}

func newRoom(limit int) *room { return &room{limit: limit, changed: make(chan struct{}, 1)} }

// enter takes a place for c, idle as yet: a free one, or that of evicted, which the caller is to close. When there is none, wait is until
// one may be taken, or 0 when all connections are busy.
func (r *room) enter(c *trackedConn) (ok bool, evicted *trackedConn, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.open >= r.limit {
		longest := r.idle.Front()
		if longest == nil {
			return false, nil, 0
		}
		evicted = longest.Value.(*trackedConn)
		if wait = idleGrace - now.Sub(evicted.since); wait > 0 {
			return false, nil, wait
		}
		r.remove(evicted)
	}
	r.open++
	c.since, c.element = now, r.idle.PushBack(c)
	return true, evicted, 0
}

// remove gives the place of c away, once. The caller holds mu.
func (r *room) remove(c *trackedConn) {
	if c.gone {
		return
	}
	c.gone = true
	r.open--
	r.busy(c)
}

// busy makes c one that is kept. The caller holds mu.
func (r *room) busy(c *trackedConn) {
	if c.element != nil {
		r.idle.Remove(c.element)
		c.element = nil
	}
}

func (r *room) wake() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// trackedConn is a connection in a room.
type trackedConn struct {
	net.Conn
	room *room

	// Guarded by the room's mu.
	element *list.Element // of the idle ones; nil while a request is under way
	since   time.Time     // idle
	gone    bool          // closed or evicted
}

// note takes what net/http says. It says StateActive when it has read the headers of a request, so one that is sent in part is none.
func (c *trackedConn) note(state http.ConnState) {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	switch state {
	case http.StateActive, http.StateHijacked:
		c.room.busy(c)
	case http.StateIdle:
		if !c.gone && c.element == nil {
			c.since, c.element = time.Now(), c.room.idle.PushBack(c)
			c.room.wake()
		}
	}
}

// Close makes room for another connection.
func (c *trackedConn) Close() error {
	c.room.mu.Lock()
	c.room.remove(c)
	c.room.mu.Unlock()
	c.room.wake()
	return c.Conn.Close()
}
