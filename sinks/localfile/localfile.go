// Package localfile is the sink that appends points, events, service checks and spans to a file, a line each.
package localfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Kind returns the kind "localfile".
func Kind() sinks.Kind {
	return sinks.Define("localfile", DefaultConfig,
		func(c Config, s sinks.Settings) (sinks.MetricSink, error) { return newSink(c, s) },
		func(c Config, s sinks.Settings) (sinks.SpanSink, error) { return newSink(c, s) })
}

// sink is used by one goroutine at a time, as every sink is.
type sink struct {
	encoder encoder
	out     output
	buf     []byte
	torn    bool // what was written last ends within a line
}

// output takes whole lines. It returns how many bytes are there for good; with an error that is 0 wherever what was written could be
// taken back.
type output interface {
	write(ctx context.Context, lines []byte) (int, error)
	close() error
}

func newSink(c Config, s sinks.Settings) (*sink, error) {
	mode, err := fileMode(c.Mode)
	if err != nil {
		return nil, err
	}
	k := &sink{out: &file{path: c.Path, mode: mode, maxBytes: c.MaxBytes, maxFiles: c.MaxFiles}}
	if c.Path == "-" {
		k.out = stream{s.Stdout}
	}
	if delimiter, ok := c.delimiter(); ok {
		k.encoder = &tsv{delimiter: delimiter, hostname: s.Hostname}
	} else {
		k.encoder = newNDJSON(s.Hostname)
	}
	return k, nil
}

const startTimeout = 5 * time.Second

// Start opens the file, so that a path that cannot be written to ends the start rather than the first interval.
func (k *sink) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if _, err := k.out.write(ctx, nil); err != nil {
		return fmt.Errorf("cannot write to the file: %w", err)
	}
	return nil
}

// Send appends a line for every point, event and check of the chunk.
func (k *sink) Send(ctx context.Context, chunk *sinks.Batch) error {
	b := k.begin()
	for i := range chunk.Points {
		b = k.encoder.point(b, &chunk.Points[i], chunk)
	}
	for i := range chunk.Events {
		b = k.encoder.event(b, &chunk.Events[i])
	}
	for i := range chunk.Checks {
		b = k.encoder.check(b, &chunk.Checks[i])
	}
	return k.write(ctx, b)
}

// SendSpans appends a line for every span.
func (k *sink) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	b := k.begin()
	for _, span := range spans {
		b = k.encoder.span(b, span)
	}
	return k.write(ctx, b)
}

// Close closes the file.
func (k *sink) Close() error { return k.out.close() }

// begin returns the buffer for the next lines. What stands before them shall be a line, too.
func (k *sink) begin() []byte {
	if k.torn {
		return append(k.buf[:0], '\n')
	}
	return k.buf[:0]
}

const maxKept = 1 << 20 // a buffer that one huge chunk has grown is let go

func (k *sink) write(ctx context.Context, lines []byte) error {
	if cap(lines) <= maxKept {
		k.buf = lines
	}
	if len(lines) == 0 {
		return nil
	}
	n, err := k.out.write(ctx, lines)
	if n > 0 {
		k.torn = lines[n-1] != '\n'
	}
	if err == nil || n == 0 {
		return err
	}
	// What is there would be there twice after a retry.
	return &sinks.PartialError{Refused: bytes.Count(lines[n:], []byte{'\n'}), Err: err}
}

// stream writes to standard output. When nobody reads that, the sink hangs, alone, until somebody does or the daemon ends.
type stream struct{ w io.Writer }

func (s stream) write(_ context.Context, lines []byte) (int, error) { return s.w.Write(lines) }

func (stream) close() error { return nil }
