// Package localfile is the sink that appends points, events, service checks and spans to a file, a line each.
package localfile

import (
	"bytes"
	"context"
	"fmt"

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
	file    file
	buf     []byte
}

func newSink(c Config, s sinks.Settings) (*sink, error) {
	mode, err := fileMode(c.Mode)
	if err != nil {
		return nil, err
	}
	k := &sink{file: file{path: c.Path, mode: mode, maxBytes: c.MaxBytes, maxFiles: c.MaxFiles}}
	if c.Format == formatTSV {
		k.encoder = &tsv{delimiter: []rune(c.Delimiter)[0], hostname: s.Hostname}
	} else {
		k.encoder = &ndjson{hostname: s.Hostname}
	}
	return k, nil
}

// Start opens the file, so that a path that cannot be written to ends the start rather than the first interval.
func (k *sink) Start(context.Context) error {
	if _, err := k.file.write(nil); err != nil {
		return fmt.Errorf("cannot write to the file: %w", err)
	}
	return nil
}

// Send appends a line for every point, event and check of the chunk.
func (k *sink) Send(_ context.Context, chunk *sinks.Batch) error {
	b := k.buf[:0]
	for i := range chunk.Points {
		b = k.encoder.point(b, &chunk.Points[i], chunk)
	}
	for i := range chunk.Events {
		b = k.encoder.event(b, &chunk.Events[i])
	}
	for i := range chunk.Checks {
		b = k.encoder.check(b, &chunk.Checks[i])
	}
	return k.write(b)
}

// SendSpans appends a line for every span.
func (k *sink) SendSpans(_ context.Context, spans []*ssf.SSFSpan) error {
	b := k.buf[:0]
	for _, span := range spans {
		b = k.encoder.span(b, span)
	}
	return k.write(b)
}

// Close closes the file.
func (k *sink) Close() error { return k.file.close() }

const maxKept = 1 << 20 // a buffer that one huge chunk has grown is let go

func (k *sink) write(lines []byte) error {
	if cap(lines) <= maxKept {
		k.buf = lines
	}
	n, err := k.file.write(lines)
	if err == nil || n == 0 {
		return err
	}
	// The file could not be cut back to where it was, as a pipe cannot. What stands in it would stand there twice after a retry.
	if lost := bytes.Count(lines[n:], []byte{'\n'}); lost > 0 {
		return &sinks.PartialError{Refused: lost, Err: err}
	}
	return nil
}
