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
	limit     int
	busyGrace time.Duration // see Settings
	changed   chan struct{} // holds a token when a connection was closed or became idle

	mu   sync.Mutex
	open int
	// Of *trackedConn, the one first that is that longest.
	idle, busy list.List
}

func newRoom(limit int, busyGrace time.Duration) *room {
	return &room{limit: limit, busyGrace: busyGrace, changed: make(chan struct{}, 1)}
}

// enter takes a place for c, idle as yet: a free one, or that of evicted, which the caller is to close. When there is none, wait is until
// one may be taken, or 0 when all connections are busy.
func (r *room) enter(c *trackedConn) (ok bool, evicted *trackedConn, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.open >= r.limit {
		if evicted, wait = r.longest(now); evicted == nil {
			return false, nil, wait
		}
		r.remove(evicted)
	}
	r.open++
	c.enter(&r.idle, now)
	return true, evicted, 0
}

// longest returns the connection that is to make room: that which has been longest without a request, or with one, when all have one. When nothing
// is to make room yet, wait is as for enter. The caller holds mu.
func (r *room) longest(now time.Time) (c *trackedConn, wait time.Duration) {
	if first := r.idle.Front(); first != nil {
		c = first.Value.(*trackedConn)
		if wait = idleGrace - now.Sub(c.since); wait > 0 {
			return nil, wait
		}
		return c, 0
	}
	if first := r.busy.Front(); first != nil && r.busyGrace > 0 {
		c = first.Value.(*trackedConn)
		if now.Sub(c.since) >= r.busyGrace {
			return c, 0
		}
	}
	return nil, 0
}

// remove gives the place of c away, once. The caller holds mu.
func (r *room) remove(c *trackedConn) {
	if c.gone {
		return
	}
	c.gone = true
	r.open--
	c.leave()
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
	list    *list.List    // idle or busy; nil when it is kept
	element *list.Element // of that
	since   time.Time     // it is there
	gone    bool          // closed or evicted
}

// enter moves c to the end of a list. The caller holds mu.
func (c *trackedConn) enter(l *list.List, now time.Time) {
	c.leave()
	c.list, c.element, c.since = l, l.PushBack(c), now
}

// leave takes c off the list that it is on. The caller holds mu.
func (c *trackedConn) leave() {
	if c.list != nil {
		c.list.Remove(c.element)
	}
	c.list, c.element = nil, nil
}

// note takes what net/http says. It says StateActive when it has read the headers of a request, so one that is sent in part is none.
func (c *trackedConn) note(state http.ConnState) {
	c.room.mu.Lock()
	defer c.room.mu.Unlock()
	if c.gone {
		return
	}
	switch state {
	case http.StateActive:
		c.enter(&c.room.busy, time.Now())
	case http.StateHijacked:
		c.leave()
	case http.StateIdle:
		if c.list != &c.room.idle {
			c.enter(&c.room.idle, time.Now())
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
