package httpserve

import (
	"net/http"
	"time"
)

// Settings says where a Server listens, what it serves, and its bounds, all of which are to be set.
type Settings struct {
	Key     string // of the address in the configuration; errors begin with it
	Address string // host:port; "" is no port at all
	Handler http.Handler
	Log     func(line string) // takes the lines of net/http's own log and, at most once a minute, an error of accept, from many goroutines at once

	// MaxConnections are open at a time. When a further one comes, the one that has been longest without a request under way is closed.
	MaxConnections int
	// BusyGrace is for how long those with a request under way are kept all the same: then, when there are no others, the one whose request has taken
	// longest is closed for a newcomer, or clients that read an answer slowly would keep everybody else away. 0 keeps them.
	BusyGrace time.Duration
	// Refused is called for each connection that is closed because MaxConnections are open, be it one that was there or, when all are to be
	// kept, the newcomer. With nil newcomers wait while all are busy, most of them in the kernel's queue.
	Refused func()

	HeaderTimeout time.Duration // of a request
	ReadTimeout   time.Duration // of a request with its body; 0 is no bound
	WriteTimeout  time.Duration // of an answer
	IdleTimeout   time.Duration // between requests
}

const (
	// MaxHeaderBytes bounds the headers of a request.
	MaxHeaderBytes = 16 << 10
	// drainTimeout is for answers under way when Run is told to end.
	drainTimeout = 500 * time.Millisecond
)
