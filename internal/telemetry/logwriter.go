package telemetry

import (
	"context"
	"io"
)

// LogWriter stands between a logger and an output that may block, such as a pipe that nobody reads: Write never waits, so that a log line
// cannot hold up who says it. Lines that find no room are dropped and counted. Write may be called by many goroutines at once.
type LogWriter struct {
	out     io.Writer
	lines   chan []byte
	dropped *Metric
}

const maxLogLines = 1024

var descDroppedLines = Desc{
	Name: "log.dropped_lines", Kind: Counter, Unit: "lines", Loss: true,
	Help: "Lines of the log that were dropped because standard error was not read in time.",
}

// NewLogWriter returns a writer whose lines wait until Run writes them to out.
func NewLogWriter(out io.Writer, r *Registry) *LogWriter {
	return &LogWriter{out: out, lines: make(chan []byte, maxLogLines), dropped: r.Counter(&descDroppedLines)}
}

// Write takes a copy of a line, or drops it.
func (w *LogWriter) Write(line []byte) (int, error) {
	select {
	case w.lines <- append([]byte(nil), line...):
	default:
		w.dropped.Inc()
	}
	return len(line), nil
}

// Run writes lines until ctx is done and no line waits any more. The output can hold it up for ever, which is why whoever ends a program must
// not wait for it without bound.
func (w *LogWriter) Run(ctx context.Context) error {
	for {
		select {
		case line := <-w.lines:
			_, _ = w.out.Write(line) // there is no better place to tell that it failed
		case <-ctx.Done():
			if len(w.lines) == 0 {
				return nil
			}
			_, _ = w.out.Write(<-w.lines)
		}
	}
}
