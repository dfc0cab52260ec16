package telemetry

import (
	"encoding/binary"
	"net"
	"sync"
	"time"
)

// statsdWriter is the connection as the client library sees it: it bounds the time of a report, counts, and frames payloads on a stream.
// The library calls Write from a goroutine of its own.
type statsdWriter struct {
	conn     net.Conn
	registry *Registry
	frame    []byte

	mu  sync.Mutex
	err error // the first of this report
}

// begin starts a report, which may take until the deadline.
func (w *statsdWriter) begin(deadline time.Time) error {
	w.mu.Lock()
	w.err = nil
	w.mu.Unlock()
	return w.conn.SetWriteDeadline(deadline)
}

// cut gives the report under way another deadline. It may be called from any goroutine.
func (w *statsdWriter) cut(deadline time.Time) {
	_ = w.conn.SetWriteDeadline(deadline) // an error says that the connection is closed, and the report over
}

// failure returns what went wrong first in this report.
func (w *statsdWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Write sends one payload. On a stream its length goes before it, four bytes, little-endian, as DogStatsD has it.
func (w *statsdWriter) Write(payload []byte) (int, error) {
	out := payload
	if w.conn.RemoteAddr().Network() == "unix" {
		w.frame = binary.LittleEndian.AppendUint32(w.frame[:0], uint32(len(payload)))
		w.frame = append(w.frame, payload...)
		out = w.frame
	}
	if _, err := w.conn.Write(out); err != nil {
		w.fail(reasonWrite, err)
		return 0, err
	}
	w.registry.Counter(&descPayloads).Inc()
	return len(payload), nil
}

// Close closes the connection.
func (w *statsdWriter) Close() error { return w.conn.Close() }

// fail counts an error and keeps it when it is the first of the report.
func (w *statsdWriter) fail(reason string, err error) {
	w.registry.Counter(&descErrors, reason).Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}
